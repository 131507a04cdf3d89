//! The part of the parser that reads an op and its regions.

use super::op::{FUNC_END, LOOP_END};
use super::parse::{Parser, fed_type, location};
use super::{Effect, Kind, Op, OpKind, Place, Region, Type, Value, signature};
use crate::text::attribute::{Entry, Source};
use crate::text::cursor::Cursor;
use crate::text::lexer::{Token, TokenKind};
use crate::text::{ParseError, Problem};

/// What regions end with, each kind of region with one of them.
const ENDS: [&str; 2] = [FUNC_END, LOOP_END];

/// How deep regions may nest.
const DEEPEST: usize = 64;

impl<'t> Parser<'t> {
    /// `%a, %b = name attributes operands { .. } : types`.
    pub(super) fn op(&mut self, end: &str) -> Result<(), ParseError> {
        let first = self.cursor.peek();
        let mut results = Vec::new();
        if first.kind == TokenKind::Value {
            let name =
                |cursor: &mut Cursor<'t>| cursor.kind(TokenKind::Value, "`%name` of a result");
            results = self.cursor.several(name)?;
            self.cursor.expect("=")?;
        }
        let name = self
            .cursor
            .kind(TokenKind::Word, &format!("an op or `{end}`"))?;
        if ENDS.contains(&name.text) && name.text != end {
            let expected = format!("an op or `{end}`, which ends this region");
            let found = format!("`{}`", name.text);
            return Err(self.cursor.mismatch(name.span, &expected, &found));
        }
        let entries = self.attributes()?;
        let kind = self.kind(name, entries)?;
        let has_region = kind.effect() == Effect::Regions;

        let mut operands = Vec::new();
        if !has_region && self.cursor.eat("(") {
            while !self.cursor.is(")") {
                operands.push(self.read()?);
                self.cursor.separator(")")?;
            }
            self.cursor.expect(")")?;
        } else if self.cursor.peek().kind == TokenKind::Value && !self.cursor.peek().leads {
            operands.push(self.read()?);
            while self.cursor.eat(kind.separator()) {
                operands.push(self.read()?);
            }
        }
        let mut regions = Vec::new();
        if has_region {
            regions.push(self.op_region(name, &kind, &mut operands)?);
        }
        let results = self.results(&results)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.ops.push(Op {
                kind,
                operands,
                results,
                regions,
                loc: location(first),
            });
        }
        Ok(())
    }

    /// What follows the name up to the first operand.
    fn attributes(&mut self) -> Result<Vec<Entry<'t>>, ParseError> {
        let mut entries = Vec::new();
        loop {
            let next = self.cursor.peek();
            let attribute = match next.kind {
                TokenKind::Number | TokenKind::Text | TokenKind::Symbol => true,
                TokenKind::Word => !matches!(next.text, "to" | "by" | "of" | "with"),
                TokenKind::Punctuation => next.text == "[",
                _ => false,
            };
            if next.leads || !attribute {
                return Ok(entries);
            }
            entries.push(self.cursor.entry()?);
        }
    }

    fn kind(&self, name: Token<'t>, entries: Vec<Entry<'t>>) -> Result<OpKind, ParseError> {
        let prefix = OpKind::prefixes().find(|prefix| name.text.starts_with(prefix));
        let (row, suffix) = match prefix {
            Some(prefix) => (prefix, &name.text[prefix.len()..]),
            None => (name.text, ""),
        };
        let source = Source {
            suffix,
            kind: self.kind_ahead(),
            ..Source::default()
        };
        let known = OpKind::names().any(|known| known == row) && row != HYPER;
        if !known {
            let names = OpKind::names().filter(|name| *name != HYPER && !name.ends_with('.'));
            return Err(self.cursor.unknown((name.span, name.text), "op", names));
        }
        let kind = self.cursor.attributes(name, entries, source, |from| {
            OpKind::read_attributes(row, from)
        })?;
        kind.ok_or_else(|| self.cursor.expected("an op"))
    }

    /// The kind of the first result of an op on one line, which stands behind its operands.
    fn kind_ahead(&self) -> Option<Kind> {
        let rest = (0..).map(|n| self.cursor.ahead(n));
        let line = rest.take_while(|token| !token.leads);
        let mut types = line.skip_while(|token| token.text != ":");
        types.find_map(|token| Kind::named(token.text))
    }

    /// `with(%a, %b = %first) { .. }` or the same without `with`; appends the first values to the
    /// operands.
    fn op_region(
        &mut self,
        name: Token<'t>,
        kind: &OpKind,
        operands: &mut Vec<Value>,
    ) -> Result<Region, ParseError> {
        if self.scopes.len() >= DEEPEST {
            let message = format!("regions nest deeper than {DEEPEST}");
            return Err(self.cursor.error(name.span, Problem::Broken(message)));
        }
        if kind.controls().is_some() {
            self.cursor.expect("with")?;
        }
        let open = self.cursor.expect("(")?;
        let mut names = Vec::new();
        let mut carries = false;
        while !self.cursor.is(")") {
            names.push(
                self.cursor
                    .kind(TokenKind::Value, "`%name` of an argument")?,
            );
            if carries || self.cursor.is("=") {
                self.cursor.expect("=")?;
                carries = true;
                operands.push(self.read()?);
            }
            self.cursor.separator(")")?;
        }
        self.cursor.expect(")")?;
        self.cursor.expect("{")?;

        let found: Vec<Type> = operands
            .iter()
            .map(|value| self.module.type_of(*value))
            .collect();
        let place = self
            .scopes
            .last()
            .map_or(Place::Server, |scope| scope.place);
        let expected = signature(&self.module, kind, place, &found, &[]);
        let Some(region) = expected.regions.first() else {
            return Err(self.cursor.expected("no region"));
        };
        if region.args.len() != names.len() {
            let types: Vec<String> = region.args.iter().map(ToString::to_string).collect();
            let expected = format!("arguments for ({})", types.join(", "));
            let found = names.len().to_string();
            return Err(self.cursor.mismatch(open.span, &expected, &found));
        }
        let args: Vec<(Token, Type)> = names.into_iter().zip(region.args.iter().copied()).collect();
        self.region(&args, region.place, kind.terminator())
    }

    /// `: types`, one for each result.
    fn results(&mut self, names: &[Token<'t>]) -> Result<Vec<Value>, ParseError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        self.cursor.expect(":")?;
        let mut types = vec![fed_type(&mut self.cursor)?.0];
        while types.len() < names.len() {
            self.cursor.expect(",")?;
            types.push(fed_type(&mut self.cursor)?.0);
        }
        let pairs = names.iter().zip(types);
        pairs.map(|(name, ty)| self.define(*name, ty)).collect()
    }
}

/// Hyper-parameters are written by name, where they are read.
const HYPER: &str = "fed.hyper";
