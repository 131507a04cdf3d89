//! `fedround predict`: the classes of images, arrays or rows of numbers, by the model of a finished run.

use std::path::Path;

use fedround::experiment::{ExperimentError, Run};
use fedround_data::{
    Column, DataError, DataLocation, DatasetInfo, Examples, Fit, ImageFiles, InputEncoding,
    InputValues, Scale,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::TrainedRun;
use super::args::PredictArgs;
use super::predict_error::PredictError;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::json;
use crate::settings::Settings;
use crate::terminal::{print, tell};

/// One example.
#[derive(Debug, Serialize)]
struct Prediction {
    file: String,
    /// The row of a CSV file, or the place of the example in an array, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    class: String,
    probability: f64,
    /// By the class's name.
    probabilities: Map<String, Value>,
}

pub(crate) fn predict(catalog: &Catalog, args: &PredictArgs) -> Result<(), CliError> {
    let trained = TrainedRun::open(&args.run, args.data_dir.clone())?;
    let mut encoding = trained.encoding()?;
    if let InputValues::Table(table) = &mut encoding.values
        && trained.settings.reading.fills_gaps()
    {
        *table = table.clone().filling_numbers();
    }
    let run = catalog.model_run(&trained.settings, &encoding);
    let of_texts = matches!(&run, Err(error) if needs_texts(error));
    let mut run = match encoding.values {
        _ if of_texts => {
            let model = trained.settings.model.clone();
            return Err(PredictError::Texts { model }.into());
        }
        InputValues::Several => return Err(several(&trained.settings).into()),
        _ => run?,
    };
    trained.set_model(&mut run, args.client)?;
    let model = Trained {
        run,
        encoding,
        data: trained.settings.data.name(),
    };
    let (mut predictions, mut bad) = (vec![], vec![]);
    for file in &args.files {
        match of_file(&model, file) {
            Ok(found) => predictions.extend(found),
            Err(error) => {
                let is_of_model = matches!(error, CliError::Experiment { .. });
                bad.push(error);
                if is_of_model {
                    // The same would happen to every other file.
                    break;
                }
            }
        }
    }
    if !predictions.is_empty() {
        print(&json(&predictions)?)?;
    }
    let Some(last) = bad.pop() else {
        return Ok(());
    };
    bad.iter().for_each(|error| tell!("error: {error}"));
    Err(last)
}

/// The error of examples that are more than an image or a row of numbers.
fn several(settings: &Settings) -> PredictError {
    let data = settings.data.name();
    let info = match &settings.data {
        DataLocation::Bundled(name) => DatasetInfo::find(name).ok(),
        _ => None,
    };
    let protected = info.map(|info| info.protected).unwrap_or_default();
    match protected.is_empty() {
        true => PredictError::Words { data },
        false => PredictError::Protected {
            data,
            attributes: protected.join(", "),
        },
    }
}

/// Whether a model cannot be made without data, because it reads texts.
fn needs_texts(error: &CliError) -> bool {
    match error {
        CliError::Experiment { source, .. } => matches!(**source, ExperimentError::NoText { .. }),
        _ => false,
    }
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
    let kind = FileKind::of(file);
    let is_table = matches!(model.encoding.values, InputValues::Table(_));
    PredictError::check(file, is_table)?;
    let column = column(model, file, kind)?;
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
            row: (kind != FileKind::Image || is_table).then_some(row + 1),
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

/// A kind of file, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Array,
    Csv,
    Image,
}

impl FileKind {
    fn of(file: &Path) -> Self {
        let ends = |with: &str| {
            file.extension()
                .is_some_and(|it| it.eq_ignore_ascii_case(with))
        };
        match () {
            () if ends("npy") => Self::Array,
            () if ends("csv") => Self::Csv,
            () => Self::Image,
        }
    }
}

/// A file's examples as inputs of the model.
fn column(model: &Trained, file: &Path, kind: FileKind) -> Result<Column, CliError> {
    let encoding = &model.encoding;
    let shape = encoding.shape.clone();
    Ok(match (&encoding.values, kind) {
        (InputValues::Several, _) => {
            let data = model.data.clone();
            return Err(PredictError::Words { data }.into());
        }
        (InputValues::Table(table), _) => table.encode(file)?,
        (_, FileKind::Array) => encoding.read_array(file)?,
        (InputValues::Numbers(scale), FileKind::Csv) => {
            let numbers = rows(encoding, file)?.into_iter().enumerate();
            let features = encoding.features().max(1);
            let scaled = numbers.map(|(i, x_i)| scale.scaled(x_i, i % features));
            Column::floats("x", shape, scaled.collect())?
        }
        (InputValues::Bytes { mean, std }, kind) => {
            let scale = Scale::normalised(mean, std);
            match (kind, &shape[..]) {
                (FileKind::Csv, _) => Column::bytes("x", shape, bytes(encoding, file)?, scale)?,
                (_, &[channels, height, width]) => {
                    let shape = [channels, height, width];
                    let files = ImageFiles::new(vec![file.to_owned()], shape, Fit::Stretch)?;
                    let image = files.decode_all().map_err(|e| undecodable(e, encoding))?;
                    Column::bytes("x", shape, image, scale)?
                }
                (_, _) => return Err(not_images(model, file)),
            }
        }
        (InputValues::Numbers(_), FileKind::Image) => return Err(not_images(model, file)),
    })
}

fn not_images(model: &Trained, file: &Path) -> CliError {
    let error = PredictError::NotImages {
        file: file.to_owned(),
        data: model.data.clone(),
        numbers: model.encoding.features(),
    };
    error.into()
}

/// The error of a file that is no image. It may be none of a folder.
fn undecodable(error: DataError, encoding: &InputEncoding) -> CliError {
    match error {
        DataError::Image {
            path,
            bytes,
            message,
        } => PredictError::Undecodable {
            file: path,
            bytes,
            message,
            numbers: encoding.features(),
        }
        .into(),
        error => error.into(),
    }
}

/// The error of a row of a file, which count from 0.
fn bad(file: &Path, row: usize, message: String) -> CliError {
    CliError::Row {
        file: file.to_owned(),
        row: row + 1,
        message,
    }
}

/// The numbers of a CSV file, row after row.
fn rows(encoding: &InputEncoding, file: &Path) -> Result<Vec<f64>, CliError> {
    let expected = encoding.features();
    let broken = |error: csv::Error| CliError::io("read", file)(error.into());
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_path(file)
        .map_err(broken)?;
    let mut numbers = vec![];
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(broken)?;
        let found = record.len();
        if found != expected {
            let message = format!("expected {expected} numbers, found {found}");
            return Err(bad(file, i, message));
        }
        for field in &record {
            let number = field.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            let wrong = || bad(file, i, format!("expected a number, found `{field}`"));
            numbers.push(number.ok_or_else(wrong)?);
        }
    }
    Ok(numbers)
}

/// The same of bytes.
fn bytes(encoding: &InputEncoding, file: &Path) -> Result<Vec<u8>, CliError> {
    let byte = |(i, x_i): (usize, f64)| match x_i.fract() == 0.0 && (0.0..=255.0).contains(&x_i) {
        true => Ok(x_i as u8),
        false => {
            let message = format!("expected bytes from 0 to 255, found {x_i}");
            Err(bad(file, i / encoding.features(), message))
        }
    };
    rows(encoding, file)?
        .into_iter()
        .enumerate()
        .map(byte)
        .collect()
}
