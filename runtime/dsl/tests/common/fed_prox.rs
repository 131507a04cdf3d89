use fedround::prelude::*;

use super::FedAvg;

/// FedProx. Li et al. 2020, Algorithm 2, <https://arxiv.org/abs/1812.06127>.
#[derive(Debug, Clone)]
pub struct FedProx<A = FedAvg> {
    /// The algorithm the proximal term is added to.
    pub base: A,
    /// `μ`: proximal weight, ≥ 0; at 0 the IR equals `base`'s.
    pub mu: f32,
}

// ---- #[derive(Hyper)] ----

const FIELDS: &[::fedround::__private::Field] = &[::fedround::__private::Field {
    name: "mu",
    doc: "`μ`: proximal weight, ≥ 0; at 0 the IR equals `base`'s.",
    kind: <f32 as ::fedround::__private::HyperField>::KIND,
    default: ::fedround::__private::DefaultValue::Float(0.1),
    range: ::fedround::__private::Some(::fedround::__private::Range {
        min: ::fedround::__private::Some(0.0),
        max: ::fedround::__private::None,
        min_inclusive: true,
        max_inclusive: false,
    }),
    choices: &[],
}];

impl<A: ::core::default::Default> ::core::default::Default for FedProx<A> {
    fn default() -> Self {
        Self {
            base: ::core::default::Default::default(),
            mu: 0.1,
        }
    }
}

impl<A: ::fedround::__private::Hyper> ::fedround::__private::Hyper for FedProx<A> {
    fn name(&self) -> &'static str {
        "fedprox"
    }
    fn fields(&self) -> &'static [::fedround::__private::Field] {
        FIELDS
    }
    fn get(&self, field: &str) -> ::fedround::__private::Option<::fedround::__private::HyperValue> {
        match field {
            "mu" => ::fedround::__private::Some(::fedround::__private::read_field(&self.mu)),
            _ => ::fedround::__private::None,
        }
    }
    fn set_own(
        &mut self,
        field: &str,
        value: ::fedround::__private::HyperValue,
    ) -> ::fedround::__private::Result<(), ::fedround::__private::HyperError> {
        match field {
            "mu" => ::fedround::__private::write_field(&FIELDS[0], &mut self.mu, value),
            _ => ::fedround::__private::Err(::fedround::__private::unknown_field(
                "fedprox", field, FIELDS,
            )),
        }
    }
    fn base(&self) -> ::fedround::__private::Option<&dyn ::fedround::__private::Hyper> {
        ::fedround::__private::Some(&self.base)
    }
    fn base_mut(&mut self) -> ::fedround::__private::Option<&mut dyn ::fedround::__private::Hyper> {
        ::fedround::__private::Some(&mut self.base)
    }
}

impl ::fedround::__private::Registered for FedProx<::fedround::__private::BoxedAlgorithm> {
    fn entry() -> ::fedround::__private::Entry {
        ::fedround::__private::Entry {
            name: "fedprox",
            doc: "FedProx. Li et al. 2020, Algorithm 2, <https://arxiv.org/abs/1812.06127>.",
            fields: FIELDS,
            takes_base: true,
            default_base: ::fedround::__private::Some("fedavg"),
            build: |base| match base {
                ::fedround::__private::Some(base) => {
                    ::fedround::__private::Box::new(FedProx { base, mu: 0.1 })
                }
                // Without a base: the type parameter's default.
                ::fedround::__private::None => {
                    ::fedround::__private::Box::new(<FedProx as ::core::default::Default>::default())
                }
            },
        }
    }
}

// ---- #[federated(base = base)] ----

impl<A: Algorithm> Algorithm for FedProx<A> {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        ::fedround::__private::base::regularizer(k, w)
            + 0.5 * ::fedround::__private::hyper("mu", &self.mu) * (w - k.global_params()).sq_norm()
    }

    fn define(&self, m: &mut ::fedround::__private::Definer) {
        self.base.define(m);
        m.layer(self);
        m.regularizer(|k, w| self.regularizer(k, w));
    }
}
