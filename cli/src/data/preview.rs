//! `fedround data preview`: a contact sheet.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fedround_data::{Dataset, Examples, Scale};
use serde::Serialize;

use super::args::PreviewArgs;
use super::error::DataCommandError;
use crate::drawing::contact_sheet::{self, Pixels};
use crate::error::{CliError, at_least_one};
use crate::files::json;

/// How many numbers of an example are printed.
const SHOWN: usize = 12;
/// The classes that get a row.
const ROWS: usize = 20;

/// What is printed.
#[derive(Serialize)]
struct Preview {
    /// The file that holds the images; a class has a row.
    sheet: Option<PathBuf>,
    /// Names of a table's inputs.
    inputs: Vec<String>,
    rows: Vec<Row>,
    /// Further classes of which there are training examples.
    left_out: usize,
}

/// Examples of a class.
#[derive(Serialize)]
struct Row {
    class: String,
    /// Their inputs as text; none of images.
    examples: Vec<String>,
}

pub(super) fn preview(args: &PreviewArgs) -> Result<String, CliError> {
    at_least_one("--columns", args.columns)?;
    let data = args.dataset.load()?;
    let mut preview = match data.train.image_shape() {
        Ok(shape) => sheet(args, &data, shape)?,
        Err(_) if args.out.is_some() => {
            let data = data.name.clone();
            return Err(DataCommandError::NoImages { data }.into());
        }
        Err(_) => first_rows(&data, args.columns)?,
    };
    let classes: BTreeSet<u16> = data.train.labels().iter().copied().collect();
    preview.left_out = classes.len().saturating_sub(preview.rows.len());
    match args.json {
        true => json(&preview),
        false => Ok(text(&preview)),
    }
}

/// Draws the first images of each class.
fn sheet(args: &PreviewArgs, data: &Dataset, shape: [usize; 3]) -> Result<Preview, CliError> {
    let Some(out) = &args.out else {
        return Err(DataCommandError::NoSheet.into());
    };
    let (classes, pictures): (Vec<usize>, Vec<Vec<Pixels>>) =
        first_of_each(data, args.columns)?.into_iter().unzip();
    contact_sheet::save(out, &pictures, shape)?;
    let row = |class: usize| Row {
        class: data.class_names[class].clone(),
        examples: vec![],
    };
    Ok(Preview {
        sheet: Some(out.clone()),
        inputs: vec![],
        rows: classes.into_iter().map(row).collect(),
        left_out: 0,
    })
}

/// The first `n` training examples of each class.
fn first_rows(data: &Dataset, n: usize) -> Result<Preview, DataCommandError> {
    let mut rows: Vec<(usize, Vec<String>)> = vec![];
    for (example, &label) in data.train.labels().iter().enumerate() {
        let class = usize::from(label);
        if rows.len() < ROWS && rows.iter().all(|(known, _)| *known != class) {
            rows.push((class, vec![]));
        }
        let row = rows.iter_mut().find(|(known, _)| *known == class);
        if let Some((_, row)) = row.filter(|(_, row)| row.len() < n) {
            row.push(contents(data, example)?);
        }
    }
    let row = |(class, examples): (usize, _)| Row {
        class: data.class_names[class].clone(),
        examples,
    };
    Ok(Preview {
        sheet: None,
        inputs: data.table.as_ref().map_or(vec![], |table| table.names()),
        rows: rows.into_iter().map(row).collect(),
        left_out: 0,
    })
}

/// The same for people.
fn text(preview: &Preview) -> String {
    let more = match preview.left_out {
        0 => String::new(),
        1 => "and 1 more class\n".to_owned(),
        n => format!("and {n} more classes\n"),
    };
    if let Some(sheet) = &preview.sheet {
        let rows = preview.rows.iter().enumerate();
        let rows = rows.map(|(i, row)| format!("  row {}  {}\n", i + 1, row.class));
        let rows: String = rows.collect();
        return format!("{} holds\n{rows}{more}", sheet.display());
    }
    let mut text = match preview.inputs.is_empty() {
        true => String::new(),
        false => preview.inputs.join(", ") + "\n",
    };
    for row in &preview.rows {
        for example in &row.examples {
            text += &format!("{}: {example}\n", row.class);
        }
    }
    text + &more
}

/// The inputs of an example: the characters of a text, or else numbers.
fn contents(data: &Dataset, example: usize) -> Result<String, DataCommandError> {
    let examples = &data.train;
    if let Some(tokens) = examples.column("tokens") {
        let mut ids = vec![0; tokens.features()];
        tokens.gather_ids_into(&[example], &mut ids)?;
        let name = |id: &i32| {
            usize::try_from(*id)
                .ok()
                .and_then(|id| data.class_names.get(id))
        };
        return Ok(ids.iter().filter_map(name).map(String::as_str).collect());
    }
    let mut numbers = vec![0.0; examples.features()];
    examples.x().gather_into(&[example], &mut numbers)?;
    let shown: Vec<_> = numbers
        .iter()
        .take(SHOWN)
        .map(|x| format!("{x:.4}"))
        .collect();
    let more = if numbers.len() > SHOWN { ", ..." } else { "" };
    Ok(format!("{}{more}", shown.join(", ")))
}

/// The first classes that occur, with up to `n` training images of each; examples
/// that share an image, as captions do, follow each other.
fn first_of_each(data: &Dataset, n: usize) -> Result<Vec<(usize, Vec<Pixels>)>, DataCommandError> {
    let mut of = vec![Vec::new(); data.classes];
    for (example, &label) in data.train.labels().iter().enumerate() {
        if let Some(examples) = of.get_mut(usize::from(label)) {
            examples.push(example);
        }
    }
    let there = of
        .into_iter()
        .enumerate()
        .filter(|(_, all)| !all.is_empty());
    let row = |(class, examples): (usize, Vec<usize>)| {
        let mut pictures: Vec<Pixels> = Vec::new();
        for example in examples {
            let pixels = unit(&data.train, example)?;
            if pictures.last() != Some(&pixels) {
                pictures.push(pixels);
            }
            if pictures.len() == n {
                break;
            }
        }
        Ok((class, pictures))
    };
    there.take(ROWS).map(row).collect()
}

/// An example's image; numbers that do not come from bytes are spread over `[0, 1]`.
fn unit(examples: &Examples, index: usize) -> Result<Pixels, DataCommandError> {
    let x = examples.x();
    let mut pixels = vec![0.0; x.features()];
    if x.scale().is_some() {
        let x = x.clone().with_scale(Scale::Unit)?;
        x.gather_into(&[index], &mut pixels)?;
        return Ok(pixels);
    }
    x.gather_into(&[index], &mut pixels)?;
    Ok(contact_sheet::spread(&pixels))
}
