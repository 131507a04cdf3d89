//! A plug-in without a default base: every type of field, fedround under another path, the trait
//! not imported, hooks called on the base and on itself.
#![deny(warnings)]

mod vendored {
    pub use fedround as rounds;
}

use vendored::rounds::{Batch, ClientCx, Params, Registered, Registry, Scalar, prelude};

const RATE: f64 = 0.25;

/// A plug-in.
///
/// With a second paragraph.
#[derive(prelude::Hyper, Debug, Clone)]
#[hyper(crate = vendored::rounds)]
pub struct PlugIn<A> {
    /// A number that is not a literal.
    #[hyper(default = RATE, range = ..=RATE)]
    pub rate: f64,
    /// A negative one.
    #[hyper(default = -0.5, range = -1.0..1.0)]
    pub shift: f32,
    /// What it stands on.
    pub inner: A,
    /// A switch.
    #[hyper(default = true)]
    pub damped: bool,
    /// A word.
    #[hyper(default = "sq_norm")]
    pub norm: String,
}

#[prelude::federated(base = inner, crate = vendored::rounds)]
impl<A: vendored::rounds::Algorithm> vendored::rounds::Algorithm for PlugIn<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let loss = self.inner.loss(k, w, b);
        if self.damped && self.rate > 0.0 {
            self.rate * loss
        } else {
            loss + self.shift
        }
    }

    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        match self.norm.as_str() {
            "sq_norm" => self.inner.regularizer(k, w) + w.sq_norm(),
            _ => self.inner.regularizer(k, w),
        }
    }
}

#[test]
fn compiles() {
    type Boxed = PlugIn<vendored::rounds::BoxedAlgorithm>;
    let entry = Boxed::entry();
    assert_eq!(entry.doc, "A plug-in.\nWith a second paragraph.");
    assert_eq!((entry.name, entry.default_base), ("plugin", None));
    let fields: Vec<&str> = entry.fields.iter().map(|field| field.name).collect();
    assert_eq!(fields, ["rate", "shift", "damped", "norm"]);

    // A registry asks for the base; without one there is an algorithm without hooks inside.
    assert!(
        Registry::new()
            .with_type::<Boxed>()
            .parse("plugin")
            .is_err()
    );
    let mut twice = (entry.build)(Some((entry.build)(None)));
    let set = |alg: &mut _, name, value| vendored::rounds::set(alg, name, value);
    use vendored::rounds::__private::HyperValue;
    assert!(set(&mut twice, "norm", HyperValue::Text("none".into())).is_ok());
    assert!(set(&mut twice, "damped", HyperValue::Float(1.0)).is_err());
    assert!(set(&mut twice, "shift", HyperValue::Float(1.0)).is_err());
    assert!(vendored::rounds::stage(&*twice).is_ok());
}
