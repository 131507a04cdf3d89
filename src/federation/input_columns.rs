//! The columns of tables that become a model's inputs, as a coordinator and its parties compare them.
//!
//! The program's hash knows only how many inputs there are. If the columns of two tables have another order, or
//! their texts are others, then an input stands for something else in each of them.

use fedround_data::own::TableEncoder;

use super::checksum::checksum;

/// What a column of numbers has in place of a checksum of its texts.
const NUMBERS: &str = "numbers";

/// The columns of a table in their order: of each a checksum of its name and, after a colon, one of its texts.
pub(super) fn checksums(table: &TableEncoder) -> String {
    let columns = table.inputs().map(|(name, texts)| {
        let values = texts.map_or_else(|| NUMBERS.to_owned(), checksum);
        format!("{}:{values}", checksum([name]))
    });
    columns.collect::<Vec<_>>().join(" ")
}

/// The place, from 0, of the first column in which the [`checksums`] of a party's table are not those of the
/// coordinator's, and how it differs.
pub(super) fn first_difference(party: &str, coordinator: &str) -> (usize, &'static str) {
    let (own, other) = (columns(party), columns(coordinator));
    let pairs = own.iter().zip(&other);
    let at = pairs.take_while(|(own, other)| own == other).count();
    let (Some((name, values)), Some((other_name, other_values))) = (own.get(at), other.get(at))
    else {
        return match own.get(at) {
            Some(_) => (at, "the coordinator lacks it"),
            None => (at, "it is missing at this party"),
        };
    };
    let how = if name == other_name {
        match *values == NUMBERS || *other_values == NUMBERS {
            true => "it has numbers on one side and texts on the other",
            false => "it has other texts",
        }
    } else if names(&own) == names(&other) {
        "the same columns come in another order"
    } else {
        "it has another name"
    };
    (at, how)
}

/// Both checksums of each column.
fn columns(text: &str) -> Vec<(&str, &str)> {
    let columns = text.split(' ');
    columns
        .map(|column| column.split_once(':').unwrap_or((column, "")))
        .collect()
}

/// The checksums of all names, whatever the order of the columns is.
fn names<'a>(columns: &[(&'a str, &'a str)]) -> Vec<&'a str> {
    let mut names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_other_column_is_found() {
        let difference = |party| first_difference(party, "a:numbers b:1 c:2");
        for (party, expected) in [
            ("a:numbers b:7 c:8", (1, "it has other texts")),
            (
                "a:3 b:1 c:2",
                (0, "it has numbers on one side and texts on the other"),
            ),
            ("a:numbers d:1 c:2", (1, "it has another name")),
            (
                "a:numbers c:2 b:1",
                (1, "the same columns come in another order"),
            ),
            ("a:numbers b:1", (2, "it is missing at this party")),
            ("a:numbers b:1 c:2 d:3", (3, "the coordinator lacks it")),
        ] {
            assert_eq!(difference(party), expected, "{party}");
        }
    }
}
