//! The names of Flower's own strategies and apps in messages that train and evaluate.

use fedround_flower::{Arrays, Config, ConfigValue, MetricValue, Metrics, Payload};

use super::error::MessageError;
use super::local_sgd::LocalSgd;

/// The types of messages.
pub(super) const TRAIN: &str = "train";
pub(super) const EVALUATE: &str = "evaluate";

const ARRAYS: &str = "arrays";
const CONFIG: &str = "config";
const METRICS: &str = "metrics";

const ROUND: &str = "server-round";
const EPOCHS: &str = "local-epochs";
const BATCH: &str = "batch-size";
const LR: &str = "lr";
const MU: &str = "proximal-mu";

pub(super) const EXAMPLES: &str = "num-examples";
pub(super) const TRAIN_LOSS: &str = "train-loss";
pub(super) const EVAL_LOSS: &str = "eval-loss";
pub(super) const EVAL_ACCURACY: &str = "eval-acc";

/// A request to train.
pub(super) fn request(arrays: Arrays, round: usize, work: &LocalSgd) -> Payload {
    let count = |n: usize| ConfigValue::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let mut config = Config::from_iter([
        (ROUND.to_owned(), count(round)),
        (EPOCHS.to_owned(), count(work.epochs)),
        (BATCH.to_owned(), count(work.batch)),
        (LR.to_owned(), ConfigValue::Float(work.lr)),
    ]);
    let mu = work.proximal_mu.map(ConfigValue::Float);
    config.extend(mu.map(|mu| (MU.to_owned(), mu)));
    Payload::new().with(ARRAYS, arrays).with(CONFIG, config)
}

/// The arrays of a request or a reply.
pub(super) fn arrays(content: &Payload) -> Result<&Arrays, MessageError> {
    content.arrays(ARRAYS).ok_or(MessageError::Record {
        record: ARRAYS,
        expected: "the model's arrays",
    })
}

/// A reply with metrics, and with arrays if it is one to a request to train.
pub(super) fn reply<const N: usize>(
    arrays: Option<Arrays>,
    examples: u64,
    more: [(&str, f64); N],
) -> Payload {
    let examples = MetricValue::Int(i64::try_from(examples).unwrap_or(i64::MAX));
    let mut metrics = Metrics::from_iter([(EXAMPLES.to_owned(), examples)]);
    let more = more.into_iter();
    metrics.extend(more.map(|(name, value)| (name.to_owned(), MetricValue::Float(value))));
    let mut payload = Payload::new();
    if let Some(arrays) = arrays {
        payload = payload.with(ARRAYS, arrays);
    }
    payload.with(METRICS, metrics)
}

/// How many examples a reply says, at least one.
pub(super) fn examples(content: &Payload) -> Result<u64, MessageError> {
    let metrics = content.metrics(METRICS);
    let found = match metrics.and_then(|all| all.get(EXAMPLES)) {
        Some(MetricValue::Int(n)) => u64::try_from(*n).ok(),
        Some(MetricValue::Uint(n)) => Some(*n),
        _ => None,
    };
    found.filter(|n| *n > 0).ok_or(MessageError::Record {
        record: METRICS,
        expected: "a positive integer `num-examples`",
    })
}

/// A number among the metrics of a reply.
pub(super) fn metric(content: &Payload, name: &'static str) -> Result<f64, MessageError> {
    match content.metrics(METRICS).and_then(|all| all.get(name)) {
        Some(MetricValue::Float(x)) => Ok(*x),
        _ => Err(MessageError::Metric { name }),
    }
}

/// The round of a request, if it says one.
pub(super) fn round(content: &Payload) -> Option<usize> {
    whole::<usize>(content.config(CONFIG)?.get(ROUND)?).filter(|n| *n > 0)
}

/// The whole number of a setting, if it is one that is not below 0.
pub(super) fn whole<N: TryFrom<i64> + TryFrom<u64>>(value: &ConfigValue) -> Option<N> {
    match value {
        ConfigValue::Int(n) => N::try_from(*n).ok(),
        ConfigValue::Uint(n) => N::try_from(*n).ok(),
        _ => None,
    }
}

/// How a request wants clients to train: as `base`, where it says nothing else. Settings of other names
/// are passed over, as Flower's apps do.
pub(super) fn work(content: &Payload, base: LocalSgd) -> Result<LocalSgd, MessageError> {
    let setting = |name: &'static str| content.config(CONFIG).and_then(|all| all.get(name));
    let count = |name: &'static str, base: usize| match setting(name) {
        None => Ok(base),
        Some(value) => whole(value).ok_or(MessageError::Setting {
            name,
            expected: "a whole number",
        }),
    };
    let real = |name: &'static str| match setting(name) {
        None => Ok(None),
        Some(ConfigValue::Float(x)) => Ok(Some(*x)),
        Some(ConfigValue::Int(n)) => Ok(Some(*n as f64)),
        Some(_) => Err(MessageError::Setting {
            name,
            expected: "a number",
        }),
    };
    let proximal_mu = match (base.proximal_mu, real(MU)?) {
        // Strategies may send a weight of zero to say that there is no such term.
        (None, Some(0.0)) => None,
        (base, found) => found.or(base),
    };
    Ok(LocalSgd {
        epochs: count(EPOCHS, base.epochs)?,
        batch: count(BATCH, base.batch)?,
        lr: real(LR)?.unwrap_or(base.lr),
        proximal_mu,
    })
}
