//! The parser of modules.

use std::collections::HashMap;

use super::{FedOp, Kind, Module, Op, OpKind, Place, Region, Type, Value, verify};
use crate::Loc;
use crate::text::cursor::Cursor;
use crate::text::lexer::{Token, TokenKind};
use crate::text::{FED_VERSION, ParseError, check_header};

/// Reads a module from the text of [`print_exact`](super::print_exact), and verifies it.
///
/// The module is [`equal`](super::equal) to the one that was printed, and prints as the same text.
///
/// # Errors
///
/// [`ParseError`] for the first error in the text or in the module that it describes.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    check_header(text, "fed", FED_VERSION)?;
    let mut parser = Parser {
        cursor: Cursor::new(text)?,
        module: Module::default(),
        hypers: HashMap::new(),
        scopes: Vec::new(),
    };
    parser.module()?;
    let Parser { cursor, module, .. } = parser;
    verify(&module).map_err(|errors| match errors.0.as_slice() {
        [first, rest @ ..] => {
            let more = match rest.len() {
                0 => String::new(),
                n => format!(" (and {n} more)"),
            };
            cursor.broken_at(first.loc, format!("{}: {}{more}", first.op, first.broken))
        }
        [] => cursor.expected("a sound module"),
    })?;
    Ok(module)
}

/// The names of an open region.
pub(super) struct Scope<'t> {
    pub names: HashMap<&'t str, Value>,
    /// The hyper-parameters that it reads, by index.
    hypers: HashMap<usize, Value>,
    pub ops: Vec<Op>,
    pub place: Place,
}

pub(super) struct Parser<'t> {
    pub cursor: Cursor<'t>,
    pub module: Module,
    pub hypers: HashMap<&'t str, usize>,
    pub scopes: Vec<Scope<'t>>,
}

impl<'t> Parser<'t> {
    /// A region's code after its `{`, up to its `}`.
    pub fn region(
        &mut self,
        args: &[(Token<'t>, Type)],
        place: Place,
        end: &str,
    ) -> Result<Region, ParseError> {
        self.scopes.push(Scope {
            names: HashMap::new(),
            hypers: HashMap::new(),
            ops: Vec::new(),
            place,
        });
        let args = args
            .iter()
            .map(|(name, ty)| self.define(*name, *ty))
            .collect::<Result<_, _>>()?;
        while !self.cursor.is(end) {
            self.op(end)?;
        }
        let yields = self.yields()?;
        self.cursor.expect("}")?;
        let ops = self.scopes.pop().map(|scope| scope.ops);
        Ok(Region {
            args,
            ops: ops.unwrap_or_default(),
            yields,
        })
    }

    fn yields(&mut self) -> Result<Vec<Value>, ParseError> {
        self.cursor.next();
        if self.cursor.is("}") {
            return Ok(Vec::new());
        }
        let mut yields = vec![self.read()?];
        while self.cursor.eat(",") {
            yields.push(self.read()?);
        }
        self.cursor.expect(":")?;
        let types = self.cursor.several(fed_type)?;
        for (index, (ty, token)) in types.iter().enumerate() {
            let found = yields.get(index).map(|value| self.module.type_of(*value));
            if found != Some(*ty) {
                let expected = found.map_or_else(
                    || "no further type".to_owned(),
                    |found| format!("`{found}`, the value's type"),
                );
                return Err(self
                    .cursor
                    .mismatch(token.span, &expected, &format!("`{ty}`")));
            }
        }
        if types.len() < yields.len() {
            return Err(self.cursor.expected("a type for each value"));
        }
        Ok(yields)
    }

    /// A new value of the innermost region.
    pub fn define(&mut self, name: Token<'t>, ty: Type) -> Result<Value, ParseError> {
        let known = self
            .scopes
            .iter()
            .any(|scope| scope.names.contains_key(name.text));
        if known || self.hypers.contains_key(name.text) {
            return Err(self.cursor.redefined(name));
        }
        let value = self.module.value(ty);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.text, value);
        }
        Ok(value)
    }

    /// A value that is defined before. A hyper-parameter is defined where a region first reads it.
    pub fn read(&mut self) -> Result<Value, ParseError> {
        let token = self.cursor.kind(TokenKind::Value, "a value")?;
        let mut scopes = self.scopes.iter().rev();
        if let Some(value) = scopes.find_map(|scope| scope.names.get(token.text)) {
            return Ok(*value);
        }
        let (Some(&index), Some(scope)) = (self.hypers.get(token.text), self.scopes.last_mut())
        else {
            return Err(self.cursor.undefined(token));
        };
        if let Some(value) = scope.hypers.get(&index) {
            return Ok(*value);
        }
        let kind = self.module.hypers[index].value.kind();
        let value = self.module.value(Type {
            kind: kind.unwrap_or(Kind::Scalar),
            place: scope.place,
        });
        scope.hypers.insert(index, value);
        scope.ops.push(Op {
            kind: OpKind::Fed(FedOp::Hyper(index)),
            operands: Vec::new(),
            results: vec![value],
            regions: Vec::new(),
            loc: location(token),
        });
        Ok(value)
    }
}

/// `params`, `params@server`, `{params}@clients` or `{params}@server`, with its first token.
pub(super) fn fed_type<'t>(cursor: &mut Cursor<'t>) -> Result<(Type, Token<'t>), ParseError> {
    let first = cursor.peek();
    let each = cursor.eat("{");
    let word = cursor.kind(TokenKind::Word, "a type")?;
    let Some(kind) = Kind::named(word.text) else {
        let known = Kind::ALL.map(Kind::name);
        return Err(cursor.unknown((word.span, word.text), "type", known));
    };
    if each {
        cursor.expect("}")?;
    }
    let at = cursor.peek();
    if !each && (at.kind != TokenKind::Symbol || at.leads) {
        let place = Place::Client;
        return Ok((Type { kind, place }, first));
    }
    let place = match (each, at.kind, at.text) {
        (true, TokenKind::Symbol, "clients") => Place::Clients,
        (true, TokenKind::Symbol, "server") => Place::Gathered,
        (false, TokenKind::Symbol, "server") => Place::Server,
        (true, ..) => return Err(cursor.expected("`@clients` or `@server`")),
        (false, ..) => return Err(cursor.expected("`@server`")),
    };
    cursor.next();
    Ok((Type { kind, place }, first))
}

/// The place of a token, as a location that verifiers report.
pub(super) fn location(token: Token) -> Loc {
    Loc::text(token.span.line(), token.span.byte())
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
