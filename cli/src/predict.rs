//! `fedround predict`: the classes of images or rows of numbers, by the model of a finished run.

use std::path::Path;

use fedround::experiment::Run;
use fedround_data::{Column, Dataset, Examples, Fit, ImageFiles};
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
    let data = trained.settings.load()?;
    if data.test.columns().len() > 1 {
        let data = data.name.clone();
        return Err(CliError::PredictsImages { data });
    }
    let experiment = catalog.experiment(&trained.settings, data)?;
    let mut run = experiment.prepare(trained.settings.rounds)?;
    let leaves = run.program().model().model().leaves();
    let values = trained.values(&leaves, args.client)?;
    // They fit: files with other shapes are errors.
    let _ = run.set_parameters(values);
    let mut predictions = vec![];
    for file in &args.files {
        predictions.extend(of_file(&run, file)?);
    }
    print(&json(&predictions)?)
}

/// The predictions of a file.
fn of_file(run: &Run, file: &Path) -> Result<Vec<Prediction>, CliError> {
    let is_csv = file
        .extension()
        .is_some_and(|ext| ext.eq_ignore_ascii_case("csv"));
    let column = match (is_csv, &run.data().table) {
        (true, Some(table)) => table.encode(file)?,
        (true, None) => rows(run.data(), file)?,
        (false, _) => image(run.data(), file)?,
    };
    let labels = vec![0; column.len()];
    let probabilities = run.predict(&Examples::of_columns(vec![column], labels)?)?;
    let names = &run.data().class_names;
    let prediction = |(row, probabilities): (usize, Vec<f64>)| {
        let largest = |best: usize, i: usize| match probabilities[i] > probabilities[best] {
            true => i,
            false => best,
        };
        let best = (0..probabilities.len()).fold(0, largest);
        let all = names.iter().zip(&probabilities);
        Prediction {
            file: file.display().to_string(),
            row: is_csv.then_some(row + 1),
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
fn image(data: &Dataset, file: &Path) -> Result<Column, CliError> {
    let x = data.test.x();
    let Some(scale) = x.scale() else {
        return Err(CliError::NotImages {
            file: file.to_owned(),
            data: data.name.clone(),
            numbers: x.features(),
        });
    };
    let files = ImageFiles::new(
        vec![file.to_owned()],
        data.test.image_shape()?,
        Fit::Stretch,
    )?;
    Ok(Column::images("x", files, scale.clone())?)
}

/// The rows of a CSV file.
fn rows(data: &Dataset, file: &Path) -> Result<Column, CliError> {
    let x = data.test.x();
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
    let mut numbers: Vec<f32> = vec![];
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(broken)?;
        if record.len() != x.features() {
            let (expected, found) = (x.features(), record.len());
            return Err(bad(
                i + 1,
                format!("expected {expected} numbers, found {found}"),
            ));
        }
        for field in &record {
            let number = field.trim().parse::<f32>().ok().filter(|x| x.is_finite());
            numbers.push(
                number.ok_or_else(|| bad(i + 1, format!("expected a number, found `{field}`")))?,
            );
        }
    }
    let Some(scale) = x.scale() else {
        return Ok(Column::floats("x", x.shape().to_vec(), numbers)?);
    };
    let byte = |(i, x_i): (usize, f32)| match x_i.fract() == 0.0 && (0.0..=255.0).contains(&x_i) {
        true => Ok(x_i as u8),
        false => Err(bad(
            i / x.features() + 1,
            format!("expected bytes from 0 to 255, found {x_i}"),
        )),
    };
    let bytes = numbers.into_iter().enumerate().map(byte);
    let bytes = bytes.collect::<Result<Vec<u8>, _>>()?;
    Ok(Column::bytes(
        "x",
        x.shape().to_vec(),
        bytes,
        scale.clone(),
    )?)
}
