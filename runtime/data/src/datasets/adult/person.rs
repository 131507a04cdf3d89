//! The lines of `adult.data` and `adult.test`.

use std::path::{Path, PathBuf};

use crate::formats::files::find;
use crate::formats::record::{Record, Records};
use crate::{DataError, RecordError};

/// A person whose race is White or Black.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// The values of [`NUMBERS`].
    pub numbers: [f32; 5],
    /// For each of [`CATEGORIES`], the index of its value.
    pub categories: [u8; 6],
    /// Whether the race is White.
    pub white: bool,
    /// Whether the sex is Male.
    pub male: bool,
    /// Whether the person earns more than 50,000 dollars.
    pub rich: bool,
}

/// The names of the numbers.
pub const NUMBERS: [&str; 5] = [
    "age",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
];
const NUMBER_FIELDS: [usize; 5] = [0, 4, 10, 11, 12];
const CATEGORY_FIELDS: [usize; 6] = [1, 3, 5, 6, 7, 13];
const RACE: usize = 8;
const SEX: usize = 9;
const LABEL: usize = 14;
const FIELDS: usize = 15;

const RACES: &[&str] = &[
    "Amer-Indian-Eskimo",
    "Asian-Pac-Islander",
    "Black",
    "Other",
    "White",
];
const SEXES: &[&str] = &["Female", "Male"];
/// The name of a missing value, `?`.
const UNKNOWN: &str = "Unknown";

/// The names of the categories and their values in alphabetical order. `Unknown` is a value where files have
/// `?`.
pub const CATEGORIES: [(&str, &[&str]); 6] = [
    (
        "workclass",
        &[
            "Federal-gov",
            "Local-gov",
            "Never-worked",
            "Private",
            "Self-emp-inc",
            "Self-emp-not-inc",
            "State-gov",
            UNKNOWN,
            "Without-pay",
        ],
    ),
    (
        "education",
        &[
            "10th",
            "11th",
            "12th",
            "1st-4th",
            "5th-6th",
            "7th-8th",
            "9th",
            "Assoc-acdm",
            "Assoc-voc",
            "Bachelors",
            "Doctorate",
            "HS-grad",
            "Masters",
            "Preschool",
            "Prof-school",
            "Some-college",
        ],
    ),
    (
        "marital-status",
        &[
            "Divorced",
            "Married-AF-spouse",
            "Married-civ-spouse",
            "Married-spouse-absent",
            "Never-married",
            "Separated",
            "Widowed",
        ],
    ),
    (
        "occupation",
        &[
            "Adm-clerical",
            "Armed-Forces",
            "Craft-repair",
            "Exec-managerial",
            "Farming-fishing",
            "Handlers-cleaners",
            "Machine-op-inspct",
            "Other-service",
            "Priv-house-serv",
            "Prof-specialty",
            "Protective-serv",
            "Sales",
            "Tech-support",
            "Transport-moving",
            UNKNOWN,
        ],
    ),
    (
        "relationship",
        &[
            "Husband",
            "Not-in-family",
            "Other-relative",
            "Own-child",
            "Unmarried",
            "Wife",
        ],
    ),
    ("native-country", COUNTRIES),
];

const COUNTRIES: &[&str] = &[
    "Cambodia",
    "Canada",
    "China",
    "Columbia",
    "Cuba",
    "Dominican-Republic",
    "Ecuador",
    "El-Salvador",
    "England",
    "France",
    "Germany",
    "Greece",
    "Guatemala",
    "Haiti",
    "Holand-Netherlands",
    "Honduras",
    "Hong",
    "Hungary",
    "India",
    "Iran",
    "Ireland",
    "Italy",
    "Jamaica",
    "Japan",
    "Laos",
    "Mexico",
    "Nicaragua",
    "Outlying-US(Guam-USVI-etc)",
    "Peru",
    "Philippines",
    "Poland",
    "Portugal",
    "Puerto-Rico",
    "Scotland",
    "South",
    "Taiwan",
    "Thailand",
    "Trinadad&Tobago",
    "United-States",
    UNKNOWN,
    "Vietnam",
    "Yugoslavia",
];

/// Reads the people of one file whose race is White or Black. The line `|1x3 Cross validator`, empty lines
/// and the dot after a label are ignored.
///
/// # Errors
/// The file is missing, or a line is not a person ([`RecordError`]).
pub fn people(path: &Path) -> Result<Vec<Person>, DataError> {
    let records = Records::open(&find(path).unwrap_or_else(|| PathBuf::from(path)))?;
    let mut people = Vec::new();
    for record in records.rows::<FIELDS>(Some(b'|')) {
        people.extend(person(&record?)?);
    }
    Ok(people)
}

/// The person of a line, or `None` for a race that is left out. All fields are checked in either case.
fn person(record: &Record<'_>) -> Result<Option<Person>, RecordError> {
    let mut numbers = [0.0; 5];
    for ((number, field), name) in numbers.iter_mut().zip(NUMBER_FIELDS).zip(NUMBERS) {
        let text = record.text(field);
        let wrong = |_| record.wrong(field, name, "a whole number".to_owned());
        *number = text.parse::<u32>().map_err(wrong)? as f32;
    }
    let mut categories = [0; 6];
    for ((category, field), (name, values)) in
        categories.iter_mut().zip(CATEGORY_FIELDS).zip(CATEGORIES)
    {
        *category = value(record, field, name, values)?;
    }
    let race = RACES[usize::from(value(record, RACE, "race", RACES)?)];
    let male = value(record, SEX, "sex", SEXES)? == 1;
    let rich = match record.text(LABEL).trim_end_matches('.') {
        "<=50K" => false,
        ">50K" => true,
        _ => return Err(record.wrong(LABEL, "label", "<=50K or >50K".to_owned())),
    };
    let white = race == "White";
    Ok((white || race == "Black").then_some(Person {
        numbers,
        categories,
        white,
        male,
        rich,
    }))
}

/// The index of a field's value in `values`.
fn value(
    record: &Record<'_>,
    field: usize,
    name: &'static str,
    values: &[&str],
) -> Result<u8, RecordError> {
    let text = match record.text(field) {
        "?" => UNKNOWN,
        text => text,
    };
    let index = values.iter().position(|v| *v == text);
    index
        .and_then(|i| u8::try_from(i).ok())
        .ok_or_else(|| record.wrong(field, name, format!("one of {}", values.join(", "))))
}
