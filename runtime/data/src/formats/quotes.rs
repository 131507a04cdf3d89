//! Quoted fields of tables.

/// The bytes of the first record of a text that are outside of quoted fields, and whether each quote is closed.
///
/// As for the `csv` crate, a quote opens a field only at its start, and two quotes within stand for one. A quote
/// that closes a field of several lines ends it, too: others open the field of a later record.
pub(super) fn unquoted(text: &[u8], separators: &[u8]) -> (Vec<u8>, bool) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    // Empty lines are no records.
    let record = text.iter().skip_while(|byte| matches!(byte, b'\r' | b'\n'));
    let mut rest = record.copied().peekable();
    let mut outside = vec![];
    let (mut quoted, mut at_start, mut lines) = (false, true, false);
    while let Some(byte) = rest.next() {
        match (quoted, byte) {
            (true, b'"') if rest.next_if_eq(&b'"').is_some() => {}
            (true, b'"') => {
                let ends = |next: &u8| matches!(next, b'\r' | b'\n') || separators.contains(next);
                if lines && !rest.peek().is_none_or(ends) {
                    return (outside, false);
                }
                quoted = false;
            }
            (true, _) => lines |= byte == b'\n',
            (false, b'"') if at_start => (quoted, lines) = (true, false),
            (false, b'\r' | b'\n') => break,
            (false, _) => outside.push(byte),
        }
        at_start = !quoted && separators.contains(&byte);
    }
    (outside, !quoted)
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn quotes_open_at_the_start_of_a_field() {
        let of = |text: &str| {
            let (outside, closed) = unquoted(text.as_bytes(), b",;");
            (String::from_utf8(outside).unwrap(), closed)
        };
        assert_eq!(of("a;\"b,c\";d\ne;f"), ("a;;d".to_owned(), true));
        assert_eq!(of("\n\"a\"\",b\",c"), (",c".to_owned(), true));
        assert_eq!(of("5\",\"b\nc\"\r\n"), ("5\",".to_owned(), true));
        assert_eq!(of("a,\"b\nc,d\n"), ("a,".to_owned(), false));
        assert_eq!(of("a,\"b\nc,\"d,\n"), ("a,".to_owned(), false));
        assert_eq!(of("\"a\"b,c"), ("b,c".to_owned(), true));
    }
}
