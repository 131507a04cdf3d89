//! Runs whose rounds train one of several clients, because their algorithm draws a small share of them.

use fedround_exec::Program;
use fedround_ir::fed::{FedOp, Op, OpKind};

use super::Job;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::settings::dead_hypers::full_name;
use crate::settings::hypers;

/// What to say before a run whose rounds train one of several clients. Nothing is said of a share that was chosen.
pub(crate) fn one_of_several(catalog: &Catalog, job: &Job) -> Result<Option<String>, CliError> {
    let (settings, program) = (job.settings(), job.program());
    let clients = settings.run.clients;
    // A client that joins late changes the cohorts.
    if clients < 2 || settings.run.late_client.is_some() || program.cohort_size(clients) != Some(1)
    {
        return Ok(None);
    }
    let Some((name, share)) = drawn_share(program) else {
        return Ok(None);
    };
    let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
    let sets = |short: &str| {
        let field = hypers::lookup(&*algorithm, short);
        field.is_some_and(|field| full_name(&field) == name)
    };
    let mut given = settings.hypers.iter();
    if given.any(|setting| sets(&setting.name)) {
        return Ok(None);
    }
    let short = name.rsplit('.').next().filter(|short| sets(short));
    let name = short.unwrap_or(&name);
    Ok(Some(format!(
        "each round trains 1 of {clients} clients ({name} = {share}); --set {name}=1 trains all"
    )))
}

/// The hyper-parameter that is the share of all clients that a round draws, if it draws once.
fn drawn_share(program: &Program) -> Option<(String, f64)> {
    let module = program.linked();
    let draws = |op: &&Op| matches!(op.kind, OpKind::Fed(FedOp::Sample));
    let mut draws = module.all_ops().filter(draws);
    let (Some(draw), None) = (draws.next(), draws.next()) else {
        return None;
    };
    let [share] = draw.operands.as_slice() else {
        return None;
    };
    let mut ops = module.all_ops();
    match ops.find(|op| op.results.contains(share))?.kind {
        OpKind::Fed(FedOp::Hyper(index)) => {
            let hyper = module.hypers.get(index)?;
            Some((hyper.name.clone(), hyper.value.number()?))
        }
        _ => None,
    }
}
