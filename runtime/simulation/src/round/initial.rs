//! Initial parameters of further models.

use fedround_passes::lowering::Frontend;
use fedround_random::{Purpose, StreamKey};

use crate::context::RoundContext;
use crate::error::RunError;
use crate::init_parameters;
use crate::simulation::upload;
use crate::value::RtVal;

/// Initial parameters, drawn from a stream of this number; those of 0 are the run's own.
pub(super) fn initial_params(cx: RoundContext<'_>, stream: usize) -> Result<RtVal, RunError> {
    let seed = match stream {
        0 => cx.seed,
        other => StreamKey::new(cx.seed, Purpose::InitialModel)
            .with(other)
            .stream()
            .word(),
    };
    let model = cx.program.model();
    let values = init_parameters::parameters(&model.model().leaves(), seed)?;
    Ok(RtVal::Params(upload(
        model.parameters(),
        values,
        cx.program.device(),
    )))
}
