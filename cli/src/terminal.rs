//! Text for stdout and stderr.

use std::io::{self, Write};
use std::path::PathBuf;

pub(crate) use fedround_passes::report::number_format::{bytes, grouped};

use crate::error::CliError;

/// Writes a whole text to stdout. A reader that has gone away, as in `fedround list | head`, has
/// seen what it wanted.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    print_bytes(text.as_bytes())
}

/// The same of what is no text.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(e)),
        _ => Ok(()),
    }
}

/// Writes a line to stderr, as `eprintln!` does, but for a reader that has gone away: that is no
/// reason to end a run.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        // Nobody is there to be told.
        drop(writeln!(std::io::stderr(), $($text)*));
    }};
}
pub(crate) use tell;

/// The process's own command for a shell, without what only changes its output.
pub(crate) fn command_line() -> String {
    let mut words = std::env::args();
    let program = words.next().map(PathBuf::from);
    let program = program.and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let own = words.filter(|word| !["--quiet", "-q", "--json"].contains(&word.as_str()));
    let own = own.map(|word| quoted(&word));
    let all = [program.unwrap_or_default()].into_iter().chain(own);
    all.collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=.,:/+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A fraction as a percentage, a dash if there is none.
pub(crate) fn percent(fraction: f64) -> String {
    if fraction.is_finite() {
        format!("{:.1} %", 100.0 * fraction)
    } else {
        "-".to_owned()
    }
}

/// A training loss and the space behind it, or nothing: a phase that minimises nothing has no loss.
pub(crate) fn loss(loss: f64) -> String {
    match loss.is_nan() {
        true => String::new(),
        false => format!("loss {loss:.4}  "),
    }
}

/// A number of rounds in words.
pub(crate) fn in_rounds(n: usize) -> String {
    match n {
        1 => "1 round".to_owned(),
        n => format!("{n} rounds"),
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

    #[test]
    fn a_phase_without_a_loss_has_none() {
        assert_eq!(
            (loss(0.56781), loss(f64::NAN)),
            ("loss 0.5678  ".into(), String::new())
        );
    }

    #[test]
    fn percentages_read_well() {
        assert_eq!(
            (percent(0.956), percent(f64::NAN)),
            ("95.6 %".into(), "-".into())
        );
    }
}
