//! `fedround data preview`: a contact sheet.

use std::fmt::Write;

use fedround_data::{Dataset, Examples, Scale};

use super::args::PreviewArgs;
use super::error::DataCommandError;
use crate::contact_sheet::{self, Pixels};
use crate::error::CliError;

/// So many numbers of an example are printed.
const SHOWN: usize = 12;
/// The classes that get a row.
const ROWS: usize = 20;
/// Runs the subcommand.
pub(super) fn preview(args: &PreviewArgs) -> Result<String, CliError> {
    if args.columns == 0 {
        return Err(DataCommandError::Zero { name: "--columns" }.into());
    }
    let data = args.dataset.load()?;
    let Ok(shape) = data.train.image_shape() else {
        return Ok(first_rows(&data, args.columns)?);
    };
    let Some(out) = &args.out else {
        return Err(DataCommandError::NoSheet.into());
    };
    let rows = first_of_each(&data, args.columns)?;
    let pictures: Vec<Vec<Pixels>> = rows.iter().map(|(_, row)| row.clone()).collect();
    contact_sheet::save(out, &pictures, shape)?;
    let names = rows
        .iter()
        .enumerate()
        .map(|(row, (class, _))| format!("  row {}  {}\n", row + 1, data.class_names[*class]));
    let names: String = names.collect();
    Ok(format!("{} holds\n{names}", out.display()))
}

/// The first `n` training examples of each class as lines of text.
fn first_rows(data: &Dataset, n: usize) -> Result<String, DataCommandError> {
    let (mut text, mut shown) = (String::new(), vec![0; data.classes]);
    if let Some(table) = &data.table {
        text = format!("{}\n", table.names().join(", "));
    }
    for (example, &label) in data.train.labels().iter().enumerate() {
        let class = usize::from(label);
        let classes = shown.iter().filter(|&&n| n > 0).count();
        if shown[class] == n || (shown[class] == 0 && classes == ROWS) {
            continue;
        }
        shown[class] += 1;
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "{}: {}",
            data.class_names[class],
            contents(data, example)?
        );
    }
    Ok(text)
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
