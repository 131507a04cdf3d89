//! `fedround data info`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use fedround_data::text::Vocabulary;
use fedround_data::{Dataset, DatasetInfo, Examples};

use super::args::Named;
use super::availability::matching;
use super::error::DataCommandError;
use super::fetch::{Checksum, source_of};
use crate::error::CliError;
use crate::output::{bytes, grouped};
use crate::table::columns;

/// The classes that are counted one by one.
const CLASSES: usize = 20;

/// Runs the subcommand.
pub(super) fn info(named: &Named) -> Result<String, CliError> {
    let data = named.load()?;
    let info = DatasetInfo::find(&named.name).ok();
    let mut text = match info {
        Some(info) => format!("{}: {}\n\n", info.name, info.doc),
        None => format!("{}\n\n", named.name),
    };
    text += &columns(
        [("training", &data.train), ("test", &data.test)]
            .map(examples)
            .into_iter(),
    );
    text += &format!("\nClasses: {}\n", data.classes);
    text += &classes(&data);
    if !data.group_names.is_empty() {
        let names = data.group_names.iter().take(CLASSES).map(String::as_str);
        let names: Vec<_> = names.collect();
        let (groups, names) = (data.group_names.len(), names.join(", "));
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\nGroups: {groups}, such as {names}");
    }
    if let Some(language) = &data.language {
        text += &words(&language.vocabulary);
    }
    if let Some(table) = &data.table {
        text += &inputs(&table.names());
    }
    if let Some(info) = info.filter(|info| !info.files.is_empty()) {
        text += "\nFiles\n";
        text += &files(info, &named.folder.data_dir)?;
    }
    for note in &data.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    Ok(text)
}

/// The inputs of a table.
fn inputs(names: &[String]) -> String {
    let shown = names.iter().take(CLASSES).map(String::as_str);
    let more = match names.len().saturating_sub(CLASSES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = shown.collect::<Vec<_>>().join(", ");
    format!("\nInputs: {}, {shown}{more}\n", names.len())
}

/// How many words there are, and the most frequent ones.
fn words(vocabulary: &Vocabulary) -> String {
    let words = vocabulary.len();
    let frequent = (0..words as i32).map(|id| vocabulary.word(id));
    let special = |word: &&str| word.starts_with('<');
    let frequent: Vec<_> = frequent.skip_while(special).take(CLASSES).collect();
    let (words, frequent) = (grouped(words as u64), frequent.join(", "));
    format!("\nWords: {words}, most often {frequent}\n")
}

fn examples((split, examples): (&str, &Examples)) -> [String; 3] {
    let column = |c: &fedround_data::Column| {
        let shape: Vec<_> = c.shape().iter().map(usize::to_string).collect();
        format!("{} [{}] {}", c.name(), shape.join("x"), c.element())
    };
    let columns: Vec<_> = examples.columns().iter().map(column).collect();
    let count = grouped(examples.len() as u64);
    [split.to_owned(), count, columns.join(", ")]
}

/// The examples of the first classes.
fn classes(data: &Dataset) -> String {
    let count = |examples: &Examples| {
        let mut counts = vec![0u64; data.classes];
        for &label in examples.labels() {
            if let Some(count) = counts.get_mut(usize::from(label)) {
                *count += 1;
            }
        }
        counts
    };
    let (train, test) = (count(&data.train), count(&data.test));
    let rows = data.class_names.iter().zip(train).zip(test).take(CLASSES);
    let mut text = columns(rows.map(|((name, train), test)| {
        let (train, test) = (grouped(train), grouped(test));
        [
            name.clone(),
            format!("{train} training"),
            format!("{test} test"),
        ]
    }));
    if data.classes > CLASSES {
        let _ = writeln!(text, "  and {} more", data.classes - CLASSES);
    }
    text
}

/// The size of each file, and whether it is the published one.
fn files(info: &DatasetInfo, dir: &Path) -> Result<String, DataCommandError> {
    let mut rows = Vec::new();
    for path in info.files.iter().flat_map(|place| matching(dir, place)) {
        let unreadable = |source| fedround_data::DataError::Read {
            path: path.clone(),
            source,
        };
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        let name = path
            .strip_prefix(dir)
            .unwrap_or(&path)
            .display()
            .to_string();
        let (size, check) = match (metadata.is_dir(), source_of(dir, &path)) {
            (true, _) => ("folder".to_owned(), ""),
            (false, None) => (bytes(metadata.len()), ""),
            (false, Some(source)) => {
                let found = Checksum::of_file(source.sum, &path).map_err(unreadable)?;
                let check = if found == source.sum.text() {
                    "as published"
                } else {
                    "packed or written otherwise than published"
                };
                (bytes(metadata.len()), check)
            }
        };
        rows.push([name, size, check.to_owned()]);
    }
    Ok(columns(rows.into_iter()))
}
