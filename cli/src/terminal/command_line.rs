//! Commands as a shell reads them.

use std::path::{Path, PathBuf};

/// The switches that change only what is said.
pub(crate) const SAYING: [&str; 3] = ["--quiet", "-q", "--json"];

/// The words of the process's own command, its program first. What is not Unicode in them is replaced.
pub(crate) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// The process's own command for a shell, without what only changes its output.
pub(crate) fn command_line() -> String {
    let mut words = words();
    let program = words.next().map(PathBuf::from);
    let program = program.and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let own = words.filter(|word| !SAYING.contains(&word.as_str()));
    let own = own.map(|word| quoted(&word));
    let all = [program.unwrap_or_default()].into_iter().chain(own);
    all.collect::<Vec<_>>().join(" ")
}

/// The same of a command that writes into a folder, which it may not name itself.
pub(crate) fn command_line_into(dir: &Path) -> String {
    let command = command_line();
    match words().any(|word| word == "--out" || word.starts_with("--out=")) {
        true => command,
        false => format!("{command} --out {}", quoted(&dir.display().to_string())),
    }
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=.,:/+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_something_else() {
        let found = ["lr=0.1", "fedprox(fedavg)", "it's", ""].map(quoted);
        assert_eq!(found, ["lr=0.1", "'fedprox(fedavg)'", r"'it'\''s'", "''"]);
    }
}
