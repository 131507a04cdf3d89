//! A position in a sequence of tokens. The parsers of both dialects are built on it.

use fedround_names::nearest;

use super::lexer::{Token, TokenKind, tokens};
use super::{ParseError, Problem, Span};
use crate::Loc;

/// The largest count, size or index that a text may contain. The product of two of them fits 64 bits.
pub(crate) const LARGEST: usize = i32::MAX as usize;

/// A position in the tokens of a text.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Result<Self, ParseError> {
        let tokens = tokens(text)?;
        Ok(Self {
            text,
            tokens,
            at: 0,
        })
    }

    /// The next token, without passing it.
    pub fn peek(&self) -> Token<'t> {
        self.ahead(0)
    }

    /// The token after the next `n` tokens. Behind the last token there are only [`TokenKind::End`]s.
    pub fn ahead(&self, n: usize) -> Token<'t> {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    /// The next token; the cursor moves behind it.
    pub fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn is(&self, text: &str) -> bool {
        let token = self.peek();
        token.text == text && matches!(token.kind, TokenKind::Punctuation | TokenKind::Word)
    }

    /// Passes punctuation or a word if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, text: &str) -> Result<Token<'t>, ParseError> {
        if self.is(text) {
            Ok(self.next())
        } else {
            Err(self.expected(&format!("`{text}`")))
        }
    }

    pub fn kind(&mut self, kind: TokenKind, expected: &str) -> Result<Token<'t>, ParseError> {
        if self.peek().kind == kind {
            Ok(self.next())
        } else {
            Err(self.expected(expected))
        }
    }

    /// Items up to a closing token, separated by commas. A comma after the last item is allowed.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        while !self.is(close) {
            items.push(item(self)?);
            self.separator(close)?;
        }
        self.expect(close)?;
        Ok(items)
    }

    /// One or more items, separated by commas.
    pub fn several<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The error that the next token is not what was expected.
    pub fn expected(&self, expected: &str) -> ParseError {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end".to_owned(),
            TokenKind::Value => format!("`%{}`", token.text),
            TokenKind::Symbol => format!("`@{}`", token.text),
            TokenKind::Place => format!("`${}`", token.text),
            _ => format!("`{}`", token.text),
        };
        self.mismatch(token.span, expected, &found)
    }

    pub fn error(&self, span: Span, problem: Problem) -> ParseError {
        ParseError::new(self.text, span, problem)
    }

    /// The error that something was found where something else was expected.
    pub fn mismatch(&self, span: Span, expected: &str, found: &str) -> ParseError {
        let (expected, found) = (expected.to_owned(), found.to_owned());
        self.error(span, Problem::Expected { expected, found })
    }

    /// The error of a name that is none of a fixed set, with the nearest of them. `what` it is of: an
    /// op, a hook, a type.
    pub fn unknown<'n>(
        &self,
        (span, name): (Span, &str),
        what: &'static str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> ParseError {
        let problem = Problem::Unknown {
            what,
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        };
        self.error(span, problem)
    }

    /// The error of a value that is read where it is not defined.
    pub fn undefined(&self, token: Token) -> ParseError {
        let name = token.text.to_owned();
        self.error(token.span, Problem::Undefined { name })
    }

    /// The error of a value that is defined twice.
    pub fn redefined(&self, token: Token) -> ParseError {
        let name = token.text.to_owned();
        self.error(token.span, Problem::Redefined { name })
    }

    /// Passes the comma after an item of a list, which may be missing before the closing token.
    pub fn separator(&mut self, close: &str) -> Result<(), ParseError> {
        if self.is(close) || self.eat(",") {
            return Ok(());
        }
        Err(self.expected(&format!("`,` or `{close}`")))
    }

    /// The error of an earlier place, as a [`Loc`] of this text remembers it.
    pub fn broken_at(&self, loc: Loc, message: String) -> ParseError {
        let (_, line, column) = loc.position();
        let (line, byte) = (line.saturating_sub(1), column.saturating_sub(1));
        let same = |token: &&Token| token.span.line() == line + 1 && token.span.byte() == byte + 1;
        let span = self.tokens.iter().find(same).map(|token| token.span);
        let span = span.unwrap_or_else(|| Span::new(line as usize, byte as usize, 1));
        self.error(span, Problem::Broken(message))
    }
}

/// A size, count or index.
pub(crate) fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|n| *n <= LARGEST)
}
