//! `fedround export`: a run's model as a file that PyTorch loads.

use fedround_models::{Layout, Leaf, NamedValues, to_safetensors, to_torch_file};

use super::TrainedRun;
use super::args::ExportArgs;
use super::export_format::ExportFormat;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::{json, write_new};
use crate::terminal::{grouped, print, tell};

pub(crate) fn export(catalog: &Catalog, args: &ExportArgs) -> Result<(), CliError> {
    let format = ExportFormat::of(&args.to, args.format)?;
    let run = TrainedRun::open(&args.run, None)?;
    let (mut leaves, auxiliaries) = run.network(catalog)?;
    let part = |leaf: &Leaf| leaf.name.split('.').next().unwrap_or_default().to_owned();
    for name in &args.part {
        if !leaves.iter().any(|leaf| part(leaf) == *name) {
            let mut known: Vec<String> = leaves.iter().map(part).collect();
            known.dedup();
            return Err(CliError::Part {
                part: name.clone(),
                known: known.join(", "),
            });
        }
    }
    leaves.retain(|leaf| match args.part.is_empty() {
        true => !auxiliaries.contains_key(&part(leaf)),
        false => args.part.contains(&part(leaf)),
    });
    let layout = Layout::PyTorch;
    let values = run.values(&leaves, args.client)?;
    let tensors = leaves.iter().zip(&values).map(|(leaf, values)| {
        let name = layout.name(&leaf.name, leaf);
        (name, layout.shape(leaf), layout.from_ours(leaf, values))
    });
    let tensors: Vec<_> = tensors.collect();
    let named = tensors.iter().map(|(name, shape, values)| NamedValues {
        name,
        shape,
        values,
    });
    let named: Vec<_> = named.collect();
    let failed = CliError::io("write", &args.to);
    let bytes = match format {
        ExportFormat::Pytorch => to_torch_file(&named).map_err(std::io::Error::other),
        ExportFormat::Safetensors => to_safetensors(&named, layout).map_err(std::io::Error::other),
    };
    write_new(&args.to, &bytes.map_err(failed)?)?;
    let numbers: usize = values.iter().map(Vec::len).sum();
    if args.json {
        let names: Vec<&String> = tensors.iter().map(|(name, ..)| name).collect();
        return print(&json(&serde_json::json!({
            "file": args.to.display().to_string(),
            "tensors": names,
            "numbers": numbers,
        }))?);
    }
    let (n, numbers) = (values.len(), grouped(numbers as u64));
    tell!(
        "{n} tensors of {numbers} numbers are in {}",
        args.to.display()
    );
    Ok(())
}
