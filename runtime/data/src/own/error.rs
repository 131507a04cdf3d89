//! Errors in a user's own data.

use std::path::PathBuf;

use fedround_names::did_you_mean;

use super::OwnFileError;
use super::kinds::KINDS;
use crate::notes::{count, listed};

/// What is wrong with a user's own data, or with how it is to be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnDataError {
    /// The word before the colon is no kind of data.
    #[error("unknown kind of data `{kind}`{}; write the name of a dataset, {}", did_you_mean(*nearest), kinds())]
    Kind {
        /// The word.
        kind: String,
        /// The kind whose name is closest, if one is close.
        nearest: Option<&'static str>,
    },
    /// The part after the colon is missing, or has too few or too many files.
    #[error("bad data `{text}`: expected {syntax}")]
    Place {
        /// The whole text.
        text: String,
        /// What was expected.
        syntax: &'static str,
    },
    /// The data does not have an option.
    #[error("the option `{option}` does not fit `{data}`: {why}")]
    Option {
        /// The option.
        option: &'static str,
        /// The data.
        data: String,
        /// What data has the option.
        why: &'static str,
    },
    /// An option has another value.
    #[error("{option}: expected {expected}, found `{found}`")]
    Word {
        /// The option.
        option: &'static str,
        /// Its values.
        expected: &'static str,
        /// The text.
        found: String,
    },
    /// The share of test examples is out of range.
    #[error("test_share: expected a share above 0 and below 1, found {share}")]
    TestShare {
        /// The share.
        share: f64,
    },
    /// Images of no pixels, or of more than memory holds.
    #[error(
        "resize: expected a height and width of at least 1 and at most {limit} pixels, found {found}"
    )]
    Resize {
        /// The largest height and width.
        limit: usize,
        /// The height and width.
        found: usize,
    },
    /// Numbers without channels have several scales.
    #[error("normalize: expected one mean and one standard deviation, found {found}")]
    OneScale {
        /// The number of means.
        found: usize,
    },
    /// A file or folder does not exist.
    #[error("{} does not exist", path.display())]
    NotThere {
        /// The file or folder.
        path: PathBuf,
    },
    /// A path leads to a folder where a file is expected, or to a file where a folder is.
    #[error("{}: expected {expected}, found {}", path.display(), if path.is_dir() { "a folder" } else { "a file" })]
    NotOfKind {
        /// The path.
        path: PathBuf,
        /// `a file` or `a folder`.
        expected: &'static str,
    },
    /// A folder does not hold images by class.
    #[error(
        "{}: expected a folder for each class with its images (JPEG or PNG), as in {}/CLASS/IMAGE.jpg, or one more level, \
         CLIENT/CLASS/IMAGE.jpg; found {found}", dir.display(), dir.display()
    )]
    Layout {
        /// The folder.
        dir: PathBuf,
        /// What was found.
        found: String,
    },
    /// A file is damaged, or a line of it is wrong.
    #[error(transparent)]
    File(#[from] OwnFileError),
    /// A file or folder is named without what kind of data it is.
    #[error("`{name}` is not the name of a dataset, but of {what} here; write `{}`", suggestion.join("` or `"))]
    NoKind {
        /// The name.
        name: String,
        /// `a folder` or `a file`.
        what: &'static str,
        /// How to read it.
        suggestion: Vec<String>,
    },
    /// A class of the test examples has no training examples.
    #[error(
        "{}: class `{class}` is only in the test examples{}; give it training examples, or remove it",
        path.display(), did_you_mean(nearest.as_deref())
    )]
    OnlyInTest {
        /// The file or folder of test examples.
        path: PathBuf,
        /// The class.
        class: String,
        /// The training class whose name is closest, if one is close.
        nearest: Option<String>,
    },
    /// There are too few or too many classes.
    #[error("{what}: expected 2 to 65,535 classes, found {found}")]
    Classes {
        /// Where the classes are named.
        what: String,
        /// How many there are.
        found: usize,
    },
    /// None of the images can be decoded.
    #[error("{}: none of the {images} images can be decoded, such as {example}", dir.display())]
    AllBroken {
        /// The folder.
        dir: PathBuf,
        /// The number of images.
        images: usize,
        /// The error of the first one.
        example: String,
    },
    /// A table is read without saying what to predict.
    #[error(
        "{}: a table needs a target, the column that holds the class; the columns are {}",
        path.display(), listed(columns)
    )]
    NoTarget {
        /// The table.
        path: PathBuf,
        /// Its columns.
        columns: Vec<String>,
    },
    /// No column has this name.
    #[error(
        "{}: no column is called `{name}`{}; the columns are {}",
        path.display(), did_you_mean(nearest.as_deref()), listed(columns)
    )]
    NoColumn {
        /// The table.
        path: PathBuf,
        /// The name.
        name: String,
        /// The column whose name is closest, if one is close.
        nearest: Option<String>,
        /// All columns.
        columns: Vec<String>,
    },
    /// The first line of a table does not name its columns.
    #[error("{}:1: expected the names of the columns, found {found}", path.display())]
    NoHeader {
        /// The table.
        path: PathBuf,
        /// What is there.
        found: String,
    },
    /// The test table has other columns than the training table.
    #[error(
        "{}:1: expected the columns of the training table, {}; found {}",
        path.display(), listed(expected), listed(found)
    )]
    OtherColumns {
        /// The test table.
        path: PathBuf,
        /// The columns of the training table.
        expected: Vec<String>,
        /// The columns of the test table.
        found: Vec<String>,
    },
    /// Values are missing, and nothing says what to do.
    #[error(
        "{}:{line}: column `{column}` has no value. {} values ({}): leave such rows out, or fill the gaps",
        path.display(), count(*rows, "row lacks", "rows lack"), columns.join(", ")
    )]
    Missing {
        /// The table.
        path: PathBuf,
        /// The first line with a missing value.
        line: u64,
        /// The column that it is missing in.
        column: String,
        /// The number of rows with missing values.
        rows: usize,
        /// Each column with missing values and their number.
        columns: Vec<String>,
    },
    /// A column of inputs has no values at all.
    #[error("{}: column `{column}` has no value in any row; leave the column out", path.display())]
    EmptyColumn {
        /// The table.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// The column of the target or of the clients has no values at all.
    #[error(
        "{}: column `{column}`, which names the {}, has no value in any row",
        path.display(), if *what == "class" { "classes" } else { "clients" }
    )]
    EmptyNames {
        /// The table.
        path: PathBuf,
        /// The column.
        column: String,
        /// `class` or `client`.
        what: &'static str,
    },
    /// A class or client is missing, which cannot be filled.
    #[error("{}:{line}: column `{column}` has no value, and a {what} cannot be filled; leave such rows out", path.display())]
    MissingName {
        /// The table.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// `class` or `client`.
        what: &'static str,
    },
    /// A column has too many distinct texts to be encoded.
    #[error(
        "{}: column `{column}` has more than {limit} distinct texts, such as `{example}` in line {line}; {}",
        path.display(),
        numbers.as_ref().map_or("leave it out".to_owned(), |why| format!("{why}: correct it, or leave the column out"))
    )]
    TooManyTexts {
        /// The table.
        path: PathBuf,
        /// The column.
        column: String,
        /// The largest number of texts.
        limit: usize,
        /// The text that was one too many.
        example: String,
        /// Its line.
        line: u64,
        /// What is wrong, if the column is probably meant as numbers.
        numbers: Option<String>,
    },
    /// The target is a quantity, not a class.
    #[error(
        "{}: column `{column}` holds numbers, such as `{example}`, and models here predict classes; \
         choose another target, or replace the numbers by ranges",
        path.display()
    )]
    Quantity {
        /// The table.
        path: PathBuf,
        /// The column.
        column: String,
        /// One of the numbers.
        example: String,
    },
    /// A value was not seen when the table was encoded.
    #[error("{}:{line}: column `{column}`: expected {expected}, found `{found}`{}", path.display(), did_you_mean(nearest.as_deref()))]
    Value {
        /// The table.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// The valid values.
        expected: Box<str>,
        /// The value.
        found: Box<str>,
        /// The valid value that is closest, if one is close.
        nearest: Option<Box<str>>,
    },
    /// The column of the classes is named for something else, too.
    #[error(
        "{}: column `{column}` is the target, and the option `{option}` names it, too",
        path.display()
    )]
    TargetTwice {
        /// The table.
        path: PathBuf,
        /// The column.
        column: String,
        /// The other option, `client_column` or `ignore`.
        option: &'static str,
    },
    /// A table has no column that is an input.
    #[error("{}: no column is left as an input", path.display())]
    NoInputs {
        /// The table.
        path: PathBuf,
    },
    /// This build does not read Parquet.
    #[error(
        "{}: this build does not read Parquet; convert the file to CSV, or build fedround with the feature `parquet`",
        path.display()
    )]
    NoParquet {
        /// The file.
        path: PathBuf,
    },
    /// A folder has no files of LEAF.
    #[error("{}: expected JSON files of LEAF, or the folders `train` and `test` with them, found none", dir.display())]
    NoLeafFiles {
        /// The folder.
        dir: PathBuf,
    },
    /// The target of a text is not its next character.
    #[error("{}: expected the next character as the target of each text, found `{found}`", dir.display())]
    NextCharacter {
        /// The folder.
        dir: PathBuf,
        /// A target.
        found: String,
    },
}

impl OwnDataError {
    pub(super) fn word(option: &'static str, found: &str, expected: &'static str) -> Self {
        Self::Word {
            option,
            expected,
            found: found.to_owned(),
        }
    }
}

fn kinds() -> String {
    KINDS.map(|(_, syntax)| syntax).join(", ")
}
