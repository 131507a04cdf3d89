//! Text of another machine, for a terminal.

/// Longer texts are cut.
const MOST: usize = 400;

/// The text with characters escaped that would move the cursor, change colours or reverse the order of letters, cut
/// after [`MOST`] characters.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == MOST {
            escaped.push('…');
            break;
        }
        match moves(c) {
            true => escaped.extend(c.escape_unicode()),
            false => escaped.push(c),
        }
    }
    escaped
}

fn moves(c: char) -> bool {
    let reverses =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || reverses || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_move_no_cursor() {
        assert_eq!(escaped("client 1, größer"), "client 1, größer");
        assert_eq!(escaped("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\u{a}b");
        assert_eq!(escaped("a\u{202e}b"), "a\\u{202e}b");
        let long = escaped(&"x".repeat(1_000_000));
        assert_eq!(long.chars().count(), MOST + 1);
    }
}
