//! `fed.initial_params`: initial parameters of further models, such as one for each cluster.

use fedround_passes::lowering::Frontend;
use fedround_random::{Purpose, StreamKey};

use crate::context::RoundContext;
use crate::error::RunError;
use crate::init_parameters::initial_values;
use crate::simulation::upload;
use crate::value::RuntimeValue;

/// Initial parameters from the random stream of this number. Stream 0 gives the initial parameters of the run.
pub(super) fn initial_params(
    cx: RoundContext<'_>,
    stream: usize,
) -> Result<RuntimeValue, RunError> {
    let seed = match stream {
        0 => cx.seed,
        other => StreamKey::new(cx.seed, Purpose::InitialModel)
            .with(other)
            .stream()
            .word(),
    };
    let model = cx.program.model();
    let values = initial_values(&model.model().leaves(), seed)?;
    Ok(RuntimeValue::Params(upload(
        model.parameters(),
        values,
        cx.program.device(),
    )))
}
