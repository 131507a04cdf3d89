//! Modules for the passes' tests.

pub(crate) use specs::{Closure, FedAvg, FedProx, control_variates};

use fedround_ir::Loc;
use fedround_ir::fed::{Builder, Hook, Module, Value, print};

#[path = "../../dsl/tests/common/mod.rs"]
#[allow(missing_docs)]
mod specs;

pub(crate) type Fill<'f> = &'f dyn Fn(&mut Builder, &[Value]) -> Vec<Value>;

/// A spec, linked.
pub(crate) fn linked(alg: &dyn fedround::Algorithm) -> Module {
    crate::fed::link(fedround::stage(alg).unwrap())
        .unwrap()
        .module
}

pub(crate) fn loc() -> Loc {
    Loc::caller()
}

/// A module of layers, innermost first, each with its hooks.
pub(crate) fn layers(layers: &[(&str, &[(Hook, Fill)])]) -> Module {
    let mut b = Builder::new();
    for (name, hooks) in layers {
        b.layer(name);
        for (hook, fill) in *hooks {
            let args = b.begin(*hook);
            let yields = fill(&mut b, &args);
            b.end(*hook, yields, loc());
        }
    }
    b.finish().unwrap()
}

/// A module of one function.
pub(crate) fn func(hook: Hook, fill: impl Fn(&mut Builder, &[Value]) -> Vec<Value>) -> Module {
    layers(&[("test", &[(hook, &fill)])])
}

/// The printed body of a module's only function.
pub(crate) fn body(module: &Module) -> String {
    let text = print(module);
    let lines: Vec<&str> = text.lines().collect();
    let inner: Vec<&str> = lines[3..lines.len() - 2]
        .iter()
        .map(|line| &line[4..])
        .collect();
    inner.join("\n")
}

/// DP-FedAvg (McMahan et al. 2018) with a personal head: each update clipped, their mean noised.
pub(crate) fn dp_own_head(m: &mut fedround::Definer) {
    use fedround::__private::{for_each, hyper};
    use fedround::prelude::*;
    m.round(|server, w| {
        server.claim(Dp::Central);
        let s = server.sample(hyper("fraction", &0.5_f32));
        let (clip, z) = (hyper("clip", &2.0_f32), hyper("z", &0.1_f32));
        let delta_k = w.broadcast(&s).map(|k, w| {
            let own = k.personal(&["head"], &w);
            let (y,) = for_each(k.batches(1, 10), (own,), |b, (y,)| {
                let g = grad(&y, |y| cross_entropy(k.forward(y, &b.x), &b.y));
                (y - 0.1 * g,)
            });
            k.set_personal(&["head"], &y);
            (y.replace_parts(&["head"], &w) - w).clip(&clip)
        });
        w + delta_k.mean().noise(z * clip)
    });
}
