//! The subcommand `fedround data info`: the shape, the classes and the columns of a dataset.

use std::fs;
use std::path::Path;

use fedround_data::text::Vocabulary;
use fedround_data::{Column, Dataset, DatasetInfo, Examples};
use serde::Serialize;

use super::args::InfoArgs;
use super::availability::matching;
use super::error::DataCommandError;
use super::fetch::{Checksum, source_of};
use crate::error::CliError;
use crate::files::json;
use crate::terminal::table::{columns, wrapped};
use crate::terminal::{bytes, grouped};

/// How many entries of a list are printed.
const SHOWN: usize = 20;

/// What a dataset holds.
#[derive(Serialize)]
struct Info {
    name: String,
    /// What a bundled dataset is.
    doc: Option<&'static str>,
    training: Split,
    test: Split,
    classes: Vec<Class>,
    /// Names of domains, writers or clients, where the data has some.
    groups: Vec<String>,
    /// How many there are, and the most frequent, of texts.
    words: Option<Words>,
    /// Names of a table's inputs.
    inputs: Vec<String>,
    files: Vec<File>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Split {
    examples: usize,
    columns: Vec<ColumnInfo>,
}

#[derive(Serialize)]
struct ColumnInfo {
    name: String,
    /// The shape of one example.
    shape: Vec<usize>,
    element: String,
}

#[derive(Serialize)]
struct Class {
    name: String,
    training: usize,
    test: usize,
}

#[derive(Serialize)]
struct Words {
    count: usize,
    frequent: Vec<String>,
}

#[derive(Serialize)]
struct File {
    name: String,
    /// `null` of a folder.
    bytes: Option<u64>,
    /// Whether it has the published checksum, where one is known.
    as_published: Option<bool>,
}

pub(super) fn info(args: &InfoArgs) -> Result<String, CliError> {
    let named = &args.dataset;
    let data = named.load()?;
    let bundled = DatasetInfo::find(&named.name).ok();
    let files = bundled.map(|info| files(info, &named.folder.data_dir));
    let info = Info {
        name: bundled.map_or(&*named.name, |info| info.name).to_owned(),
        doc: bundled.map(|info| info.doc),
        training: split(&data.train),
        test: split(&data.test),
        classes: classes(&data),
        groups: data.group_names.clone(),
        words: data.language.as_ref().map(|l| words(&l.vocabulary)),
        inputs: data.table.as_ref().map_or(vec![], |table| table.names()),
        files: files.transpose()?.unwrap_or_default(),
        notes: data.notes.clone(),
    };
    match args.json {
        true => json(&info),
        false => Ok(text(&info)),
    }
}

fn split(examples: &Examples) -> Split {
    let column = |c: &Column| ColumnInfo {
        name: c.name().to_owned(),
        shape: c.shape().to_vec(),
        element: c.element().to_string(),
    };
    Split {
        examples: examples.len(),
        columns: examples.columns().iter().map(column).collect(),
    }
}

/// The examples of each class.
fn classes(data: &Dataset) -> Vec<Class> {
    let count = |examples: &Examples| {
        let mut counts = vec![0; data.classes];
        for &label in examples.labels() {
            if let Some(count) = counts.get_mut(usize::from(label)) {
                *count += 1;
            }
        }
        counts
    };
    let counts = count(&data.train).into_iter().zip(count(&data.test));
    let classes = data.class_names.iter().zip(counts);
    let class = |(name, (training, test)): (&String, _)| Class {
        name: name.clone(),
        training,
        test,
    };
    classes.map(class).collect()
}

fn words(vocabulary: &Vocabulary) -> Words {
    let all = (0..vocabulary.len() as i32).map(|id| vocabulary.word(id));
    let frequent = all.skip_while(|word| word.starts_with('<')).take(SHOWN);
    Words {
        count: vocabulary.len(),
        frequent: frequent.map(str::to_owned).collect(),
    }
}

/// The size of each file, and whether it is the published one.
fn files(info: &DatasetInfo, dir: &Path) -> Result<Vec<File>, DataCommandError> {
    let paths = info.files.iter().flat_map(|place| matching(dir, place));
    let file = |path: std::path::PathBuf| {
        let unreadable = |source| fedround_data::DataError::Read {
            path: path.clone(),
            source,
        };
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        let source = source_of(dir, &path).filter(|_| !metadata.is_dir());
        let as_published = source.map(|source| {
            let found = Checksum::of_file(source.sum, &path).map_err(unreadable)?;
            Ok::<_, DataCommandError>(found == source.sum.text())
        });
        let name = path.strip_prefix(dir).unwrap_or(&path);
        Ok(File {
            name: name.display().to_string(),
            bytes: (!metadata.is_dir()).then_some(metadata.len()),
            as_published: as_published.transpose()?,
        })
    };
    paths.map(file).collect()
}

/// The same for people.
fn text(info: &Info) -> String {
    let mut text = match info.doc {
        Some(doc) => format!("{}: {doc}\n\n", info.name),
        None => format!("{}\n\n", info.name),
    };
    let splits = [("training", &info.training), ("test", &info.test)];
    text += &columns(splits.into_iter().map(split_row));
    text += &format!("\nClasses: {}\n", info.classes.len());
    let classes = info.classes.iter().take(SHOWN);
    text += &columns(classes.map(|class| {
        let [training, test] = [class.training, class.test].map(|n| grouped(n as u64));
        let counts = [format!("{training} training"), format!("{test} test")];
        let [training, test] = counts;
        [class.name.clone(), training, test]
    }));
    if info.classes.len() > SHOWN {
        text += &format!("  and {} more\n", info.classes.len() - SHOWN);
    }
    if !info.groups.is_empty() {
        let names = info.groups[..info.groups.len().min(SHOWN)].join(", ");
        text += &format!(
            "\nGroups: {}, such as {names}; --partition natural makes a client of each\n",
            info.groups.len()
        );
    }
    if let Some(words) = &info.words {
        let (count, frequent) = (grouped(words.count as u64), words.frequent.join(", "));
        text += &format!("\nWords: {count}, most often {frequent}\n");
    }
    if !info.inputs.is_empty() {
        let names = info.inputs[..info.inputs.len().min(SHOWN)].join(", ");
        let more = match info.inputs.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text += &format!("\nInputs: {}, {names}{more}\n", info.inputs.len());
    }
    if !info.files.is_empty() {
        text += "\nFiles\n";
        text += &columns(info.files.iter().map(file_row));
    }
    for note in &info.notes {
        text += &format!("\nnote: {note}\n");
    }
    wrapped(&text)
}

fn split_row((name, split): (&str, &Split)) -> [String; 3] {
    let column = |c: &ColumnInfo| {
        let shape: Vec<_> = c.shape.iter().map(usize::to_string).collect();
        format!("{} [{}] {}", c.name, shape.join("x"), c.element)
    };
    let columns: Vec<_> = split.columns.iter().map(column).collect();
    let count = grouped(split.examples as u64);
    [name.to_owned(), count, columns.join(", ")]
}

fn file_row(file: &File) -> [String; 3] {
    let check = match file.as_published {
        Some(true) => "as published",
        Some(false) => "checksum differs from the published file",
        None => "",
    };
    [
        file.name.clone(),
        file.bytes.map_or("folder".to_owned(), bytes),
        check.to_owned(),
    ]
}
