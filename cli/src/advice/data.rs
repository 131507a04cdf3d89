//! Advice on data that cannot be loaded.

use fedround_data::DataError;

use super::own_data::{BROKEN, of_own_data};

/// What to do about it, where the message does not say so itself.
pub(super) fn of_data(error: &DataError) -> Option<&'static str> {
    Some(match error {
        DataError::UnknownDataset { .. } => "`fedround list datasets` shows the datasets",
        DataError::NoDirectory { .. } | DataError::Missing { .. } => {
            "--data-dir DIR is the folder that holds the datasets' folders, and `fedround data fetch NAME` downloads there what may be downloaded; `synth-digits` needs no files"
        }
        DataError::Own(error) => return of_own_data(error),
        DataError::Image { .. } => BROKEN,
        DataError::Empty { .. } => {
            "at least one example is needed: of a table, a row below the header"
        }
        // The message says it. A model that is there already is of no use for other data than its own.
        DataError::Read { .. }
        | DataError::OtherClass { .. }
        | DataError::OtherInputs { .. }
        | DataError::Column(_) => {
            return None;
        }
        _ => "--data synth-digits trains without any files",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_rows_needs_rows() {
        let path = "head.csv".into();
        let advice = of_data(&DataError::Empty { path });
        assert!(advice.is_some_and(|text| text.contains("a row below the header")));
    }

    #[test]
    fn other_data_is_no_help_for_a_model_that_is_there() {
        let (data, text) = ("new".to_owned(), String::new());
        let class = DataError::OtherClass {
            data: data.clone(),
            class: text.clone(),
            known: vec![],
        };
        let inputs = DataError::OtherInputs {
            data,
            expected: text.clone(),
            found: text,
        };
        assert_eq!([class, inputs].map(|error| of_data(&error)), [None; 2]);
    }
}
