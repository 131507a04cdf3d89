//! `fedround data preview`: a contact sheet.

use fedround_data::{Dataset, Examples, Scale};

use super::args::PreviewArgs;
use super::error::DataCommandError;
use crate::contact_sheet::{self, Pixels};
use crate::error::CliError;

/// The classes that get a row.
const ROWS: usize = 20;
/// Runs the subcommand.
pub(super) fn preview(args: &PreviewArgs) -> Result<String, CliError> {
    if args.columns == 0 {
        return Err(DataCommandError::Zero { name: "--columns" }.into());
    }
    let data = args.dataset.load()?;
    let rows = first_of_each(&data, args.columns)?;
    let pictures: Vec<Vec<Pixels>> = rows.iter().map(|(_, row)| row.clone()).collect();
    let shape = data.train.image_shape().map_err(DataCommandError::from)?;
    contact_sheet::save(&args.out, &pictures, shape)?;
    let names = rows
        .iter()
        .enumerate()
        .map(|(row, (class, _))| format!("  row {}  {}\n", row + 1, data.class_names[*class]));
    let names: String = names.collect();
    Ok(format!("{} holds\n{names}", args.out.display()))
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
