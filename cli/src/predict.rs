//! `fedround predict`: the classes of images or rows of numbers, by the model of a finished run.

use std::path::Path;

use fedround::experiment::Run;
use fedround_data::{Column, Examples, Fit, ImageFiles, InputEncoding, InputValues};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::json;
use crate::model_args::PredictArgs;
use crate::run::SettingArgs;
use crate::terminal::print;
use crate::trained_run::TrainedRun;

/// One example.
#[derive(Debug, Serialize)]
struct Prediction {
    file: String,
    /// Of a CSV file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    class: String,
    probability: f64,
    /// By the class's name.
    probabilities: Map<String, Value>,
}

/// Runs the subcommand.
pub(crate) fn predict(catalog: &Catalog, args: &PredictArgs) -> Result<(), CliError> {
    let flags = SettingArgs {
        data_dir: args.data_dir.clone(),
        ..SettingArgs::default()
    };
    let trained = TrainedRun::open(&args.run, &flags)?;
    let encoding = trained.encoding()?;
    if encoding.values == InputValues::Several {
        let data = trained.settings.data.name();
        return Err(CliError::PredictsImages { data });
    }
    let mut run = catalog.model_run(&trained.settings, &encoding)?;
    let leaves = run.program().model().model().leaves();
    let values = trained.values(&leaves, args.client)?;
    // They fit: files with other shapes are errors.
    let _ = run.set_parameters(values);
    let model = Trained {
        run,
        encoding,
        data: trained.settings.data.name(),
    };
    let mut predictions = vec![];
    for file in &args.files {
        predictions.extend(of_file(&model, file)?);
    }
    print(&json(&predictions)?)
}

/// A trained model and what its inputs are.
struct Trained {
    run: Run,
    encoding: InputEncoding,
    /// What it was trained on.
    data: String,
}

/// The predictions of a file.
fn of_file(model: &Trained, file: &Path) -> Result<Vec<Prediction>, CliError> {
    let has_rows = file
        .extension()
        .is_some_and(|ext| ext.eq_ignore_ascii_case("csv"));
    let (column, has_rows) = match &model.encoding.values {
        InputValues::Table(table) => (table.encode(file)?, true),
        _ if has_rows => (rows(&model.encoding, file)?, true),
        _ => (image(model, file)?, false),
    };
    let labels = vec![0; column.len()];
    let examples = Examples::of_columns(vec![column], labels)?;
    let probabilities = model.run.predict(&examples)?;
    let names = &model.encoding.classes;
    let prediction = |(row, probabilities): (usize, Vec<f64>)| {
        let largest = |best: usize, i: usize| match probabilities[i] > probabilities[best] {
            true => i,
            false => best,
        };
        let best = (0..probabilities.len()).fold(0, largest);
        let all = names.iter().zip(&probabilities);
        Prediction {
            file: file.display().to_string(),
            row: has_rows.then_some(row + 1),
            class: names.get(best).cloned().unwrap_or_default(),
            probability: probabilities[best],
            probabilities: all.map(|(n, p)| (n.clone(), Value::from(*p))).collect(),
        }
    };
    Ok(probabilities
        .into_iter()
        .enumerate()
        .map(prediction)
        .collect())
}

/// An image as the data has its own: of its shape and with its scale.
fn image(model: &Trained, file: &Path) -> Result<Column, CliError> {
    let encoding = &model.encoding;
    let (Some(scale), &[channels, height, width]) = (encoding.scale(), &encoding.shape[..]) else {
        return Err(CliError::NotImages {
            file: file.to_owned(),
            data: model.data.clone(),
            numbers: encoding.features(),
        });
    };
    let shape = [channels, height, width];
    let files = ImageFiles::new(vec![file.to_owned()], shape, Fit::Stretch)?;
    Ok(Column::images("x", files, scale)?)
}

/// The rows of a CSV file.
fn rows(encoding: &InputEncoding, file: &Path) -> Result<Column, CliError> {
    let features = encoding.features();
    let bad = |row: usize, message: String| CliError::Row {
        file: file.to_owned(),
        row,
        message,
    };
    let broken = |error: csv::Error| CliError::io("read", file)(error.into());
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_path(file)
        .map_err(broken)?;
    let mut numbers: Vec<f64> = vec![];
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(broken)?;
        if record.len() != features {
            let found = record.len();
            return Err(bad(
                i + 1,
                format!("expected {features} numbers, found {found}"),
            ));
        }
        for field in &record {
            let number = field.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            numbers.push(
                number.ok_or_else(|| bad(i + 1, format!("expected a number, found `{field}`")))?,
            );
        }
    }
    let (shape, numbers) = (encoding.shape.clone(), numbers.into_iter().enumerate());
    let scale = match (&encoding.values, encoding.scale()) {
        (_, Some(scale)) => scale,
        (InputValues::Numbers(scale), None) => {
            let scaled = numbers.map(|(i, x_i)| scale.scaled(x_i, i % features.max(1)));
            return Ok(Column::floats("x", shape, scaled.collect())?);
        }
        (_, None) => return Ok(Column::floats("x", shape, vec![])?),
    };
    let byte = |(i, x_i): (usize, f64)| match x_i.fract() == 0.0 && (0.0..=255.0).contains(&x_i) {
        true => Ok(x_i as u8),
        false => Err(bad(
            i / features + 1,
            format!("expected bytes from 0 to 255, found {x_i}"),
        )),
    };
    let bytes = numbers.map(byte).collect::<Result<Vec<u8>, _>>()?;
    Ok(Column::bytes("x", shape, bytes, scale)?)
}
