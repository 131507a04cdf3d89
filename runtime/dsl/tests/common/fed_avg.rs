use fedround::prelude::*;

/// FedAvg. McMahan et al. 2017, Algorithm 1, <https://arxiv.org/abs/1602.05629>.
#[derive(Debug, Clone)]
pub struct FedAvg {
    /// `C`: fraction of clients sampled per round.
    pub fraction: f32,
    /// `E`: local epochs.
    pub epochs: usize,
    /// `B`: local batch size.
    pub batch: usize,
    /// `η`: local step size.
    pub lr: f32,
}

// ---- #[derive(Hyper)] ----

const FIELDS: &[::fedround::__private::Field] = &[
    ::fedround::__private::Field {
        name: "fraction",
        doc: "`C`: fraction of clients sampled per round.",
        kind: <f32 as ::fedround::__private::HyperField>::KIND,
        default: ::fedround::__private::DefaultValue::Float(0.1),
        range: ::fedround::__private::Some(::fedround::__private::Range {
            min: ::fedround::__private::Some(0.0),
            max: ::fedround::__private::Some(1.0),
            min_inclusive: true,
            max_inclusive: true,
        }),
        choices: &[],
    },
    ::fedround::__private::Field {
        name: "epochs",
        doc: "`E`: local epochs.",
        kind: <usize as ::fedround::__private::HyperField>::KIND,
        default: ::fedround::__private::DefaultValue::Int(5),
        range: ::fedround::__private::None,
        choices: &[],
    },
    ::fedround::__private::Field {
        name: "batch",
        doc: "`B`: local batch size.",
        kind: <usize as ::fedround::__private::HyperField>::KIND,
        default: ::fedround::__private::DefaultValue::Int(10),
        range: ::fedround::__private::Some(::fedround::__private::Range {
            min: ::fedround::__private::Some(1.0),
            max: ::fedround::__private::None,
            min_inclusive: true,
            max_inclusive: false,
        }),
        choices: &[],
    },
    ::fedround::__private::Field {
        name: "lr",
        doc: "`η`: local step size.",
        kind: <f32 as ::fedround::__private::HyperField>::KIND,
        default: ::fedround::__private::DefaultValue::Float(0.1),
        range: ::fedround::__private::Some(::fedround::__private::Range {
            min: ::fedround::__private::Some(0.0),
            max: ::fedround::__private::None,
            min_inclusive: true,
            max_inclusive: false,
        }),
        choices: &[],
    },
];

impl ::core::default::Default for FedAvg {
    fn default() -> Self {
        Self {
            fraction: 0.1,
            epochs: 5,
            batch: 10,
            lr: 0.1,
        }
    }
}

impl ::fedround::__private::Hyper for FedAvg {
    fn name(&self) -> &'static str {
        "fedavg"
    }
    fn fields(&self) -> &'static [::fedround::__private::Field] {
        FIELDS
    }
    fn get(&self, field: &str) -> ::fedround::__private::Option<::fedround::__private::HyperValue> {
        match field {
            "fraction" => {
                ::fedround::__private::Some(::fedround::__private::read_field(&self.fraction))
            }
            "epochs" => {
                ::fedround::__private::Some(::fedround::__private::read_field(&self.epochs))
            }
            "batch" => ::fedround::__private::Some(::fedround::__private::read_field(&self.batch)),
            "lr" => ::fedround::__private::Some(::fedround::__private::read_field(&self.lr)),
            _ => ::fedround::__private::None,
        }
    }
    fn set_own(
        &mut self,
        field: &str,
        value: ::fedround::__private::HyperValue,
    ) -> ::fedround::__private::Result<(), ::fedround::__private::HyperError> {
        match field {
            "fraction" => ::fedround::__private::write_field(&FIELDS[0], &mut self.fraction, value),
            "epochs" => ::fedround::__private::write_field(&FIELDS[1], &mut self.epochs, value),
            "batch" => ::fedround::__private::write_field(&FIELDS[2], &mut self.batch, value),
            "lr" => ::fedround::__private::write_field(&FIELDS[3], &mut self.lr, value),
            _ => ::fedround::__private::Err(::fedround::__private::unknown_field(
                "fedavg", field, FIELDS,
            )),
        }
    }
}

impl ::fedround::__private::Registered for FedAvg {
    fn entry() -> ::fedround::__private::Entry {
        ::fedround::__private::Entry {
            name: "fedavg",
            doc: "FedAvg. McMahan et al. 2017, Algorithm 1, <https://arxiv.org/abs/1602.05629>.",
            fields: FIELDS,
            takes_base: false,
            default_base: ::fedround::__private::None,
            build: |_| {
                ::fedround::__private::Box::new(<Self as ::core::default::Default>::default())
            },
        }
    }
}

// ---- #[federated] ----

impl Algorithm for FedAvg {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(::fedround::__private::hyper("fraction", &self.fraction));
        let w_k = w
            .broadcast(&s_t)
            .map(|k, w| ::fedround::__private::call::client_update(k, w));
        ::fedround::__private::call::aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        (w,) = ::fedround::__private::for_each(
            k.batches(
                ::fedround::__private::hyper("epochs", &self.epochs),
                ::fedround::__private::hyper("batch", &self.batch),
            ),
            (w,),
            |b, (w,)| {
                let mut w = w;
                w -= ::fedround::__private::hyper("lr", &self.lr)
                    * ::fedround::__private::call::gradient(k, &w, &b);
                (w,)
            },
        );
        w
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.weighted_mean(|k| k.num_examples())
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| {
            ::fedround::__private::call::loss(k, w, b)
                + ::fedround::__private::call::regularizer(k, w)
        })
    }

    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        cross_entropy(k.forward(w, &b.x), &b.y)
    }

    fn regularizer(&self, _: &ClientCx, _: &Params) -> Scalar {
        0.0.into()
    }

    fn define(&self, m: &mut ::fedround::__private::Definer) {
        m.layer(self);
        m.round(|server, w| self.round(server, w));
        m.client_update(|k, w| self.client_update(k, w));
        m.aggregate(|server, w_k| self.aggregate(server, w_k));
        m.gradient(|k, w, b| self.gradient(k, w, b));
        m.loss(|k, w, b| self.loss(k, w, b));
        m.regularizer(|k, w| self.regularizer(k, w));
    }
}
