//! Formats numbers of bytes and of operations.

/// `796840` as `796.8 kB`: powers of 1000.
pub fn bytes(n: u64) -> String {
    format!("{}B", scaled(n))
}

/// `7968400` as `8.0 M`, below a thousand as it is: powers of 1000.
pub fn count(n: u64) -> String {
    scaled(n).trim_end().to_owned()
}

/// `7968400` as `8.0 MFLOP`.
pub fn flops(n: u64) -> String {
    format!("{}FLOP", scaled(n))
}

/// `199210` as `199,210`.
pub fn grouped(n: u64) -> String {
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

/// A number before a unit, with the unit's prefix if it has one: `999 `, `8.0 M`.
fn scaled(n: u64) -> String {
    if n < 1000 {
        return format!("{n} ");
    }
    let units = ["k", "M", "G", "T", "P"];
    let (mut x, mut unit) = (n as f64 / 1000.0, 0);
    while x >= 999.95 && unit + 1 < units.len() {
        x /= 1000.0;
        unit += 1;
    }
    format!("{x:.1} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let sizes = [4, 1000, 796_840, 999_960, 5_200_000_000];
        assert_eq!(
            sizes.map(bytes),
            ["4 B", "1.0 kB", "796.8 kB", "1.0 MB", "5.2 GB"]
        );
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!([999, 7_968_400].map(flops), ["999 FLOP", "8.0 MFLOP"]);
        assert_eq!([999, 7_968_400].map(count), ["999", "8.0 M"]);
    }
}
