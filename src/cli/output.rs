//! Text for stdout, and how numbers are written in it.

use std::io::{self, Write};

use super::error::CliError;

/// Writes a whole text to stdout. A reader that has gone away, as in `fedround list | head`, has
/// seen what it wanted.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(e)),
        _ => Ok(()),
    }
}

/// `199210` as `199,210`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `796840` as `796.8 kB`: powers of 1000.
pub(super) fn bytes(n: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let (mut x, mut unit) = (n as f64 / 1000.0, 0);
    while x >= 999.95 && unit + 1 < units.len() {
        x /= 1000.0;
        unit += 1;
    }
    format!("{x:.1} {}", units[unit])
}

/// A fraction as a percentage, a dash if there is none.
pub(super) fn percent(fraction: f64) -> String {
    if fraction.is_finite() {
        format!("{:.1} %", 100.0 * fraction)
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        let sizes = [4, 1000, 796_840, 999_960, 5_200_000_000];
        assert_eq!(
            sizes.map(bytes),
            ["4 B", "1.0 kB", "796.8 kB", "1.0 MB", "5.2 GB"]
        );
        assert_eq!(
            (percent(0.956), percent(f64::NAN)),
            ("95.6 %".into(), "-".into())
        );
    }
}
