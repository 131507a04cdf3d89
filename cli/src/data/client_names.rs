//! The names of clients, where the data has some.

use fedround_data::{Dataset, Partition};

use crate::settings::Settings;
use crate::settings::read_args::ReadArgs;
use crate::terminal::tell;

/// The name of each client, by its number, where each is one that the data names. Nothing otherwise: then a client
/// has examples of several names.
pub(crate) fn client_names(
    data: &Dataset,
    partition: &Partition,
    examples: &[Vec<usize>],
) -> Vec<String> {
    let name = |own: &Vec<usize>| {
        let group = *data.groups.as_ref()?.get(*own.first()?)?;
        data.group_names.get(group as usize).cloned()
    };
    let names: Option<Vec<String>> = match partition {
        Partition::Natural => examples.iter().map(name).collect(),
        _ => None,
    };
    names.unwrap_or_default()
}

/// What to say of a column that names clients, where the clients are others.
pub(crate) fn note(reading: &ReadArgs, data: &Dataset, partition: &Partition) -> Option<String> {
    let column = reading.client_column.as_ref()?;
    let clients = data.clients().filter(|_| !partition.by_groups())?;
    Some(format!(
        "`{column}` names {clients} clients, but {partition} deals the rows to others; --partition natural makes a client of each"
    ))
}

/// Says what there is to know of the data of a run.
pub(crate) fn tell_notes(settings: &Settings, data: &Dataset) {
    let unnamed = note(&settings.reading, data, &settings.run.partition);
    let notes = data.notes.iter().chain(&unnamed);
    notes.for_each(|note| tell!("note: {note}"));
}
