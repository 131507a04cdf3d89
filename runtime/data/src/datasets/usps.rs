//! USPS (Le Cun et al., 1990) as text: each line is a digit and 256 grey values in `[-1, 1]`.

use std::path::Path;

use super::DIGITS;
use crate::formats::files::{MOST_TEXT, read};
use crate::notes::start;
use crate::source::Request;
use crate::{Column, DataError, Dataset, DatasetInfo, Examples};

pub(super) const USPS: DatasetInfo = DatasetInfo {
    name: "usps",
    doc: "digits of ZIP codes on envelopes (Le Cun et al., 1990)",
    classes: 10,
    class_names: DIGITS,
    shape: &[1, SIDE, SIDE],
    files: &["usps/zip.train", "usps/zip.test"],
    how: "Get zip.train.gz and zip.test.gz from https://hastie.su.domains/ElemStatLearn/data.html \
          into DIR/usps",
    read: load,
    ..DatasetInfo::BASE
};

const SIDE: usize = 16;
const PIXELS: usize = SIDE * SIDE;
/// The numbers of examples of the published files. Nothing else would reveal a text file that was cut
/// at the end of a line.
const PUBLISHED: [usize; 2] = [7291, 2007];

fn load(request: &Request<'_>) -> Result<Dataset, DataError> {
    let [train, test] = request.existing()?;
    let (train_set, test_set) = rayon::join(|| examples(&train), || examples(&test));
    let (train_set, test_set) = (train_set?, test_set?);
    let sets = [(train, &train_set), (test, &test_set)];
    for ((path, set), expected) in sets.into_iter().zip(PUBLISHED) {
        if set.len() != expected {
            request.notes.add(format!(
                "{} holds {} examples, the published file {expected}",
                path.display(),
                set.len()
            ));
        }
    }
    Ok(request.dataset(train_set, test_set))
}

fn examples(path: &Path) -> Result<Examples, DataError> {
    let bytes = read(path, MOST_TEXT)?;
    let lines = bytes.iter().filter(|&&b| b == b'\n').count();
    // Each value takes at least two bytes, however many line ends there are.
    let mut pixels = Vec::with_capacity((lines * PIXELS).min(bytes.len() / 2));
    let mut labels = Vec::with_capacity(lines);
    let bad = |line: usize, expected: &str, found: String| DataError::Line {
        path: path.to_path_buf(),
        line: line + 1,
        expected: expected.to_owned(),
        found,
    };
    for (at, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(bad(at, "a line end", "the end of the file".to_owned()));
        };
        let text = std::str::from_utf8(line).map_err(|e| bad(at, "text", e.to_string()))?;
        let mut fields = text.split_ascii_whitespace();
        let digit = fields.next().unwrap_or_default();
        let label = digit.parse::<f32>().ok().filter(|v| DIGIT.contains(v));
        let label = label.filter(|v| v.fract() == 0.0);
        let label =
            label.ok_or_else(|| bad(at, "a digit, 0 to 9", format!("`{}`", start(digit))))?;
        labels.push(label as u16);
        for field in fields {
            let value = field.parse::<f32>().ok().filter(|v| GREY.contains(v));
            let value = value
                .ok_or_else(|| bad(at, "a value in -1 to 1", format!("`{}`", start(field))))?;
            pixels.push(value);
        }
        if pixels.len() != labels.len() * PIXELS {
            let found = (pixels.len() + PIXELS) as isize - (labels.len() * PIXELS) as isize;
            return Err(bad(at, "a digit and 256 values", format!("{found} values")));
        }
    }
    DataError::empty_if(labels.is_empty(), path)?;
    let x = Column::floats("x", [1, SIDE, SIDE], pixels)?.with_black(*GREY.start());
    Ok(Examples::of_columns(vec![x], labels)?)
}

const DIGIT: std::ops::RangeInclusive<f32> = 0.0..=9.0;
const GREY: std::ops::RangeInclusive<f32> = -1.0..=1.0;
