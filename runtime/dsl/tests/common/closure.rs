use fedround::__private::{Definer, Field, HyperValue};
use fedround::HyperError;
use fedround::prelude::*;

/// An algorithm whose hooks are what a test says.
pub struct Closure<F>(pub F);

impl<F: 'static> Hyper for Closure<F> {
    fn name(&self) -> &'static str {
        "test"
    }
    fn fields(&self) -> &'static [Field] {
        &[]
    }
    fn get(&self, _: &str) -> Option<HyperValue> {
        None
    }
    fn set_own(&mut self, name: &str, _: HyperValue) -> Result<(), HyperError> {
        Err(fedround::__private::unknown_field("test", name, &[]))
    }
}

impl<F: Fn(&mut Definer) + 'static> Algorithm for Closure<F> {
    fn define(&self, m: &mut Definer) {
        m.layer(self);
        (self.0)(m);
    }
}
