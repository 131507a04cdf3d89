//! Splitting a text into tokens.

use super::{ParseError, Problem, Span};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `%name`, `%0` or `%"any text"`; the text lacks the `%`.
    Value,
    /// `@name` or `@layer::hook`; the text lacks the `@`.
    Symbol,
    /// `tensor.add`, `f32`: letters, digits, `_` and inner dots.
    Word,
    /// `3`, `-0.5`, `1e-7`, `inf`, `10x784`: whatever starts like a number.
    Number,
    /// `"any text"`, with its quotes and escapes.
    Text,
    /// `$3`: a value by number; the text lacks the `$`.
    Place,
    /// One of `( ) { } [ ] , : ; =` or `..`.
    Punctuation,
    /// The end.
    End,
}

/// A piece of text with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub span: Span,
    /// Whether it is the first of its line.
    pub leads: bool,
}

/// Splits a text into tokens, without comments and white space; the last one is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        let mut leads = true;
        loop {
            rest = rest.trim_start();
            if rest.is_empty() || rest.starts_with("//") {
                break;
            }
            let start = line.len() - rest.len();
            let span = |len: usize| Span::new(number, start, len);
            let Some((kind, skip, len)) = token(rest) else {
                let found = rest.chars().next().unwrap_or_default();
                let problem = Problem::Expected {
                    expected: "a name, a number, a string or punctuation".to_owned(),
                    found: format!("`{}`", found.escape_debug()),
                };
                return Err(ParseError::new(text, span(found.len_utf8()), problem));
            };
            tokens.push(Token {
                kind,
                text: &rest[skip..len],
                span: span(len),
                leads,
            });
            leads = false;
            rest = &rest[len..];
        }
    }
    tokens.push(Token {
        kind: TokenKind::End,
        text: "",
        span: Span::end(text),
        leads: true,
    });
    Ok(tokens)
}

/// The first token of a text: its kind, the length of its sigil and its whole length in bytes.
fn token(rest: &str) -> Option<(TokenKind, usize, usize)> {
    let mut chars = rest.chars();
    let (first, second) = (chars.next()?, chars.next());
    let some = |kind, skip, body: usize| (body > 0).then_some((kind, skip, skip + body));
    match first {
        '%' if second == Some('"') => some(TokenKind::Value, 1, quoted(&rest[1..])?),
        '%' => some(TokenKind::Value, 1, name(&rest[1..])),
        '@' => some(TokenKind::Symbol, 1, symbol(&rest[1..])),
        '"' => some(TokenKind::Text, 0, quoted(rest)?),
        '$' => some(TokenKind::Place, 1, digits(&rest[1..])),
        '-' => {
            let body = &rest[1..];
            let digit = second.is_some_and(|c| c.is_ascii_digit());
            let len = if digit { digits(body) } else { name(body) };
            (digit || body.starts_with("inf") || body.starts_with("NaN")).then_some((
                TokenKind::Number,
                0,
                1 + len,
            ))
        }
        '.' if second == Some('.') => Some((TokenKind::Punctuation, 0, 2)),
        '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | ';' | '=' => {
            Some((TokenKind::Punctuation, 0, 1))
        }
        c if c.is_ascii_digit() => some(TokenKind::Number, 0, digits(rest)),
        _ => {
            let len = name(rest);
            let number = matches!(&rest[..len], "inf" | "NaN");
            let kind = if number {
                TokenKind::Number
            } else {
                TokenKind::Word
            };
            some(kind, 0, len)
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of a name: letters, digits, `_`, and single dots and hyphens between them.
fn name(text: &str) -> usize {
    let mut len = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins = matches!(c, '.' | '-') && len > 0;
        let inner = joins && chars.peek().copied().is_some_and(is_name);
        if !is_name(c) && !inner {
            break;
        }
        len += c.len_utf8();
    }
    len
}

/// Length of `name::name`.
fn symbol(text: &str) -> usize {
    let first = name(text);
    match text[first..].strip_prefix("::").map(name) {
        Some(second) if first > 0 && second > 0 => first + 2 + second,
        _ => first,
    }
}

/// Length of what starts with a digit: a number with its exponent, or a shape such as `3x4`.
fn digits(text: &str) -> usize {
    let mut len = 0;
    let mut previous = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let digit_follows = chars.peek().is_some_and(char::is_ascii_digit);
        let inner = match c {
            '.' | '+' if !digit_follows => false,
            '.' => true,
            '+' | '-' => matches!(previous, 'e' | 'E'),
            c => is_name(c),
        };
        if !inner {
            break;
        }
        previous = c;
        len += c.len_utf8();
    }
    len
}

/// Length of a string with its quotes, nothing if it does not end.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return Some(at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// Whether a name needs no quotes after `%`: it is one, and cannot be taken for a number of the
/// printer's own.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && name(text) == text.len() && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// A value's name with its `%`, quoted where it must be.
pub(crate) fn written(name: &str) -> String {
    if is_plain(name) {
        format!("%{name}")
    } else {
        format!("%{name:?}")
    }
}

/// A name without a sigil, quoted where it could be taken for something else.
pub(crate) fn label(name: &str) -> String {
    if is_plain(name) && !matches!(name, "inf" | "NaN") {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let tokens = tokens(text).unwrap();
        let pairs = tokens.iter().map(|token| (token.kind, token.text));
        pairs.filter(|(kind, _)| *kind != TokenKind::End).collect()
    }

    #[test]
    fn each_kind() {
        use TokenKind::{Number, Punctuation, Symbol, Text, Value, Word};
        assert_eq!(
            kinds("%in0.conv.0.w = tensor.add[-1, 2..30] // rest"),
            [
                (Value, "in0.conv.0.w"),
                (Punctuation, "="),
                (Word, "tensor.add"),
                (Punctuation, "["),
                (Number, "-1"),
                (Punctuation, ","),
                (Number, "2"),
                (Punctuation, ".."),
                (Number, "30"),
                (Punctuation, "]"),
            ]
        );
        assert_eq!(
            kinds(r#"@a::b @server %"a b" "x\"y" 10x784 1e-7 -2.5E+3 -inf NaN"#),
            [
                (Symbol, "a::b"),
                (Symbol, "server"),
                (Value, "\"a b\""),
                (Text, r#""x\"y""#),
                (Number, "10x784"),
                (Number, "1e-7"),
                (Number, "-2.5E+3"),
                (Number, "-inf"),
                (Number, "NaN"),
            ]
        );
    }

    #[test]
    fn a_stray_character_is_reported_where_it_is() {
        for (text, column) in [("\n  µ ?", 5), ("\n \"open", 2), ("\n%", 1), ("\n a -", 4)] {
            let error = tokens(text).unwrap_err();
            assert_eq!((error.line(), error.column()), (2, column), "{error}");
        }
    }
}
