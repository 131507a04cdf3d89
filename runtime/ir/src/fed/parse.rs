//! Reading the text form of a module.

use std::collections::HashMap;

use super::syntax::FUNC_END;
use super::{
    Func, Hyper, HyperValue, Kind, Layer, Module, Op, OpKind, Place, Region, Slot, Type, Value,
    verify,
};
use crate::Loc;
use crate::text::attribute::unquote;
use crate::text::cursor::{Cursor, count};
use crate::text::lexer::{Token, TokenKind, written};
use crate::text::{FED_VERSION, ParseError, Problem, check_header, nearest};

/// Reads a module that [`print_exact`](super::print_exact) wrote, and verifies it.
///
/// Equal up to what [`equal`](super::equal) ignores, and the same text when it is printed again.
///
/// # Errors
///
/// The first thing that is wrong with the text, or with the module that it describes.
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
    hypers: HashMap<&'t str, usize>,
    pub scopes: Vec<Scope<'t>>,
}

impl<'t> Parser<'t> {
    /// `fed.algorithm @name(hypers) { functions }`.
    fn module(&mut self) -> Result<(), ParseError> {
        self.cursor.expect("fed.algorithm")?;
        let name = self
            .cursor
            .kind(TokenKind::Symbol, "`@name` of the algorithm")?;
        self.cursor.expect("(")?;
        while !self.cursor.is(")") {
            self.hyper()?;
            if !self.cursor.is(")") && !self.cursor.eat(",") {
                return Err(self.cursor.expected("`,` or `)`"));
            }
        }
        self.cursor.expect(")")?;
        self.cursor.expect("{")?;
        let mut outermost = Vec::new();
        while !self.cursor.eat("}") {
            if let Some(index) = self.func()? {
                outermost.push(index);
            }
        }
        self.cursor.kind(TokenKind::End, "the end")?;
        self.layers(name.text, &outermost);
        Ok(())
    }

    /// `%name: type = value`.
    fn hyper(&mut self) -> Result<(), ParseError> {
        let token = self
            .cursor
            .kind(TokenKind::Value, "`%name` of a hyper-parameter")?;
        let name = unquote(token.text).unwrap_or_else(|| token.text.to_owned());
        if written(&name) != format!("%{}", token.text) || Slot::names_argument(&name) {
            return Err(self.cursor.error(
                token.span,
                Problem::Expected {
                    expected: "a name that no other value can have".to_owned(),
                    found: format!("`%{}`", token.text),
                },
            ));
        }
        self.cursor.expect(":")?;
        let float = self.cursor.is("f32");
        if !float && !self.cursor.is("index") {
            return Err(self.cursor.expected("`f32` or `index`"));
        }
        self.cursor.next();
        if !self.cursor.is("=") {
            return Err(self.cursor.expected("`=` and the value"));
        }
        self.cursor.next();
        let number = self.cursor.kind(TokenKind::Number, "a number")?;
        let value = if float {
            number.text.parse().ok().map(HyperValue::Float)
        } else {
            count(number.text).map(HyperValue::Int)
        };
        let Some(value) = value else {
            return Err(self.cursor.error(
                number.span,
                Problem::Expected {
                    expected: if float {
                        "a number"
                    } else {
                        "a count below 2^31"
                    }
                    .to_owned(),
                    found: format!("`{}`", number.text),
                },
            ));
        };
        if self
            .hypers
            .insert(token.text, self.module.hypers.len())
            .is_some()
        {
            return Err(self.redefined(token));
        }
        self.module.hypers.push(Hyper {
            name,
            layer: 0,
            value,
        });
        Ok(())
    }

    /// `fed.func @layer::slot(args) { .. }` or `fed.round(args) { .. }`; gives the number of one
    /// that belongs to the outermost layer, whichever that is.
    fn func(&mut self) -> Result<Option<usize>, ParseError> {
        let loc = location(self.cursor.peek());
        let round = self.cursor.eat("fed.round");
        let (slot, layer) = if round {
            (Slot::Round, 0)
        } else if self.cursor.eat("fed.func") {
            self.symbol()?
        } else {
            return Err(self.cursor.expected("`fed.func`, `fed.round` or `}`"));
        };
        self.cursor.expect("(")?;
        let args = self.cursor.list(")", |cursor| {
            let name = cursor.kind(TokenKind::Value, "`%name` of an argument")?;
            cursor.expect(":")?;
            Ok((name, fed_type(cursor)?.0))
        })?;
        self.cursor.expect("{")?;
        let body = self.region(&args, slot.place(), FUNC_END)?;
        self.module.funcs.push(Func {
            slot,
            layer,
            body,
            loc,
        });
        Ok(round.then(|| self.module.funcs.len() - 1))
    }

    /// `@layer::slot`.
    fn symbol(&mut self) -> Result<(Slot, usize), ParseError> {
        let token = self.cursor.kind(TokenKind::Symbol, "`@layer::slot`")?;
        let expected = |expected: &str| Problem::Expected {
            expected: expected.to_owned(),
            found: format!("`@{}`", token.text),
        };
        let Some((layer, slot)) = token.text.split_once("::") else {
            return Err(self.cursor.error(token.span, expected("`@layer::slot`")));
        };
        let Some(slot) = Slot::named(slot) else {
            return Err(self.cursor.error(
                token.span,
                Problem::Unknown {
                    what: "slot",
                    name: slot.to_owned(),
                    nearest: nearest(slot, Slot::ALL.map(Slot::name)).map(str::to_owned),
                },
            ));
        };
        let layers = &mut self.module.layers;
        let known = layers.iter().position(|known| known.name == layer);
        let index = known.unwrap_or_else(|| {
            layers.push(Layer {
                name: layer.to_owned(),
            });
            layers.len() - 1
        });
        Ok((slot, index))
    }

    /// The algorithm is named after its outermost layer, which may define nothing.
    fn layers(&mut self, name: &str, outermost: &[usize]) {
        let layers = &mut self.module.layers;
        if layers.last().is_none_or(|last| last.name != name) {
            layers.push(Layer {
                name: name.to_owned(),
            });
        }
        for index in outermost {
            self.module.funcs[*index].layer = layers.len() - 1;
        }
        for hyper in &mut self.module.hypers {
            let owner = hyper.name.rsplit_once('.').map(|(owner, _)| owner);
            let known = layers.iter().position(|layer| Some(&*layer.name) == owner);
            hyper.layer = known.unwrap_or(layers.len() - 1);
        }
    }

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
                let problem = Problem::Expected {
                    expected: found.map_or("no further type".into(), |found| {
                        format!("`{found}`, the value's type")
                    }),
                    found: format!("`{ty}`"),
                };
                return Err(self.cursor.error(token.span, problem));
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
            return Err(self.redefined(name));
        }
        let value = self.module.value(ty);
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.text, value);
        }
        Ok(value)
    }

    fn redefined(&self, token: Token) -> ParseError {
        let name = token.text.to_owned();
        self.cursor.error(token.span, Problem::Redefined { name })
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
            let name = token.text.to_owned();
            return Err(self.cursor.error(token.span, Problem::Undefined { name }));
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
            kind: OpKind::Hyper(index),
            operands: Vec::new(),
            results: vec![value],
            regions: Vec::new(),
            loc: location(token),
        });
        Ok(value)
    }
}

/// `params`, `params@server` or `{params}@clients`, with its first token.
pub(super) fn fed_type<'t>(cursor: &mut Cursor<'t>) -> Result<(Type, Token<'t>), ParseError> {
    let first = cursor.peek();
    let clients = cursor.eat("{");
    let word = cursor.kind(TokenKind::Word, "a type")?;
    let Some(kind) = Kind::named(word.text) else {
        return Err(cursor.error(
            word.span,
            Problem::Unknown {
                what: "type",
                name: word.text.to_owned(),
                nearest: nearest(word.text, Kind::ALL.map(Kind::name)).map(str::to_owned),
            },
        ));
    };
    let mut place = Place::Client;
    if clients {
        cursor.expect("}")?;
        place = Place::Clients;
    }
    let at = cursor.peek();
    if clients || (at.kind == TokenKind::Symbol && !at.leads) {
        let expected = if clients { "clients" } else { "server" };
        if at.kind != TokenKind::Symbol || at.text != expected {
            return Err(cursor.expected(&format!("`@{expected}`")));
        }
        cursor.next();
        if !clients {
            place = Place::Server;
        }
    }
    Ok((Type { kind, place }, first))
}

/// The place of a token, as a location that verifiers report.
pub(super) fn location(token: Token) -> Loc {
    Loc::text(token.span.line(), token.span.byte())
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
