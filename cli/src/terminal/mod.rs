//! The terminal: text for stdout and stderr, tables, command lines, and the signals that stop a run.

pub(crate) mod command_line;
pub(crate) mod interrupt;
pub(crate) mod table;

use std::io::{self, Write};

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

/// A fraction as a percentage, a dash if there is none.
pub(crate) fn percent(fraction: f64) -> String {
    if fraction.is_finite() {
        format!("{:.1} %", 100.0 * fraction)
    } else {
        "-".to_owned()
    }
}

/// A loss in nats, a dash if there is none.
pub(crate) fn nats(loss: f64) -> String {
    match loss.is_nan() {
        true => "-".to_owned(),
        false => format!("{loss:.4} nats"),
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
