//! Differences between two files of settings, as their first different key.

use toml::{Table, Value};

/// Keys that results do not depend on.
pub(crate) const FREE: [&str; 7] = [
    "threads",
    "data_dir",
    "target",
    "client_memory",
    "device_data",
    "checkpoint",
    "track",
];

/// The first key whose values differ, with the value that was found and the one that is wanted.
pub(crate) fn difference(
    found: &Table,
    wanted: &Table,
    ignored: &dyn Fn(&str) -> bool,
) -> Option<(String, String, String)> {
    let new = found.keys().filter(|key| !wanted.contains_key(*key));
    let mut keys = wanted.keys().chain(new).filter(|key| !ignored(key));
    keys.find_map(|key| match (found.get(key), wanted.get(key)) {
        (a, b) if a == b => None,
        (Some(Value::Table(a)), Some(Value::Table(b))) => {
            let (inner, a, b) = difference(a, b, &|_| false)?;
            Some((format!("{key}.{inner}"), a, b))
        }
        (a, b) => {
            let shown = |v: Option<&Value>| v.map_or("none".to_owned(), Value::to_string);
            Some((key.clone(), shown(a), shown(b)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let table = |text: &str| text.parse::<Table>().unwrap();
        let a = table("rounds = 4\nthreads = 1\n[hyper]\nlr = 0.1\nmu = 1.0");
        let b = table("rounds = 4\nthreads = 2\n[hyper]\nlr = 0.2\nmu = 1.0");
        let free = |key: &str| FREE.contains(&key);
        let found = difference(&a, &b, &free).unwrap();
        assert_eq!(found, ("hyper.lr".into(), "0.1".into(), "0.2".into()));
        assert_eq!(difference(&a, &a, &free), None);
        let (key, found, wanted) = difference(&table("a = 1"), &table(""), &free).unwrap();
        assert_eq!((&*key, &*found, &*wanted), ("a", "1", "none"));
    }
}
