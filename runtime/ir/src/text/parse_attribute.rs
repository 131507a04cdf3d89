//! The part of the parser that reads attributes.

use super::ParseError;
use super::attribute::{Entry, Piece, Source, TextAttributes};
use super::cursor::Cursor;
use super::lexer::{Token, TokenKind};

impl<'t> Cursor<'t> {
    /// Reads an op's attributes with `read`, which says what it expected where it fails. None may
    /// be left.
    pub fn attributes<T>(
        &self,
        op: Token,
        entries: Vec<Entry<'t>>,
        source: Source<'t>,
        read: impl FnOnce(&mut TextAttributes<'t>) -> Result<T, String>,
    ) -> Result<T, ParseError> {
        let mut attributes = TextAttributes::new(entries, source);
        let read = read(&mut attributes);
        let rest = attributes.rest();
        let expected = match read {
            Ok(value) if rest.is_none() => return Ok(value),
            Ok(_) => "no further attribute".to_owned(),
            Err(expected) => expected,
        };
        let expected = format!("{expected} for `{}`", op.text);
        let (found, span) = match rest {
            Some(entry) => (format!("`{}`", entry.text()), entry.span),
            None => ("nothing".to_owned(), op.span),
        };
        Err(self.mismatch(span, &expected, &found))
    }

    /// One attribute: an optional label and a value.
    pub fn entry(&mut self) -> Result<Entry<'t>, ParseError> {
        let first = self.peek();
        let ahead = self.ahead(1);
        let labelled = first.kind == TokenKind::Word
            && !ahead.leads
            && (matches!(
                ahead.kind,
                TokenKind::Number | TokenKind::Word | TokenKind::Text
            ) || (ahead.kind == TokenKind::Punctuation && ahead.text == "["));
        let label = labelled.then(|| self.next().text);
        let value = self.piece()?;
        Ok(Entry {
            label,
            value,
            span: first.span,
        })
    }

    fn piece(&mut self) -> Result<Piece<'t>, ParseError> {
        let token = self.peek();
        match token.kind {
            TokenKind::Number => {
                self.next();
                if !self.eat("..") {
                    return Ok(Piece::Number(token.text));
                }
                let end = self.kind(TokenKind::Number, "the end of the range")?;
                Ok(Piece::Range(token.text, end.text))
            }
            TokenKind::Word => Ok(Piece::Word(self.next().text)),
            TokenKind::Symbol => Ok(Piece::Symbol(self.next().text)),
            TokenKind::Text => Ok(Piece::Text(self.string()?)),
            TokenKind::Punctuation if token.text == "[" => {
                self.next();
                if self.peek().kind == TokenKind::Text {
                    return Ok(Piece::Texts(self.list("]", Self::string)?));
                }
                let item = |cursor: &mut Self| Ok(cursor.kind(TokenKind::Number, "a number")?.text);
                Ok(Piece::List(self.list("]", item)?))
            }
            _ => Err(self.expected("an attribute")),
        }
    }

    /// A quoted string, without quotes and escapes.
    pub fn string(&mut self) -> Result<String, ParseError> {
        if self.peek().kind != TokenKind::Text {
            return Err(self.expected("a string in quotes"));
        }
        match unquote(self.peek().text) {
            Some(text) => {
                self.next();
                Ok(text)
            }
            None => Err(self.expected("a string with the escapes of Rust")),
        }
    }
}

/// Undoes `{:?}` of a string.
pub(crate) fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'u' => {
                let rest = chars.as_str().strip_prefix('{')?;
                let (code, rest) = rest.split_once('}')?;
                chars = rest.chars();
                char::from_u32(u32::from_str_radix(code, 16).ok()?)?
            }
            c @ ('"' | '\'' | '\\') => c,
            _ => return None,
        });
    }
    Some(out)
}
