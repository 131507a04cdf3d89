//! Advice on errors in a user's own data. The library names its options; the command has a switch for each.

use fedround_data::{DataError, OwnDataError};

use crate::terminal::command_line::quoted;

/// What to do about pictures that cannot be decoded.
pub(crate) const BROKEN: &str = "--broken skip leaves such files out of a folder of your own";
/// What names the clients of a user's own data.
pub(crate) const NATURAL: &str = "a table names them with --client-column COLUMN, a folder of images by one more level of folders, and an archive of arrays by `clients`";

/// The switch that leaves out an input without values.
pub(crate) fn of_empty_column(error: &DataError) -> Option<String> {
    match error {
        DataError::Own(OwnDataError::EmptyColumn { column, .. }) => {
            Some(format!("--ignore-column {} leaves it out", quoted(column)))
        }
        _ => None,
    }
}

/// The switch that helps, if there is one.
pub(crate) fn of_own_data(error: &OwnDataError) -> Option<&'static str> {
    Some(match error {
        OwnDataError::Option { option, .. } => match *option {
            "target" => "leave --target-column out",
            "client_column" => "leave --client-column out",
            "ignore" => "leave --ignore-column out",
            "missing" => "leave --missing out",
            "resize" => "--augment resize:N changes the size of other images",
            "broken" => "leave --broken out",
            "test_share" => "leave --test-share out",
            "normalize" => "leave --normalize out",
            _ => return None,
        },
        OwnDataError::NotThere { .. } => {
            "check the path after --data; if the data of a run has moved, `fedround eval RUN --data` names its new place, and so does `data` in the run's config.toml, for `fedround resume`, which needs a folder of images, or a link to it, at the old place"
        }
        OwnDataError::NotOfKind { .. } => "check the path after --data",
        OwnDataError::NoTarget { .. } => "--target-column COLUMN names the column of the classes",
        OwnDataError::TargetTwice {
            option: "client_column",
            ..
        } => {
            "--target-column names the column of classes, and --client-column that of clients: change one of them"
        }
        OwnDataError::TargetTwice { .. } => {
            "leave this column out of --ignore-column, or choose another one for --target-column; the target is no input anyway"
        }
        OwnDataError::EmptyNames { what: "class", .. } => {
            "--target-column names the column of classes"
        }
        OwnDataError::EmptyNames { .. } => "--client-column names the column of clients",
        OwnDataError::Missing { .. } => {
            "--missing drop leaves rows with gaps out, and --missing fill fills the gaps"
        }
        OwnDataError::MissingName { .. } => "--missing drop leaves rows with gaps out",
        OwnDataError::TooManyTexts { .. } => "--ignore-column COLUMN leaves a column out",
        _ => return None,
    })
}
