//! The part of the parser that reads the algorithm, its hyper-parameters and the headers of functions.

use super::op::FUNC_END;
use super::parse::{Parser, fed_type, location};
use super::{Func, Hook, Hyper, HyperValue, Layer};
use crate::text::ParseError;
use crate::text::cursor::count;
use crate::text::lexer::{TokenKind, written};
use crate::text::parse_attribute::unquote;

impl Parser<'_> {
    /// `fed.algorithm @name(hypers) { functions }`.
    pub(super) fn module(&mut self) -> Result<(), ParseError> {
        self.cursor.expect("fed.algorithm")?;
        let name = self
            .cursor
            .kind(TokenKind::Symbol, "`@name` of the algorithm")?;
        self.cursor.expect("(")?;
        while !self.cursor.is(")") {
            self.hyper()?;
            self.cursor.separator(")")?;
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
        if written(&name) != format!("%{}", token.text) || Hook::names_argument(&name) {
            let expected = "a name that no other value can have";
            let found = format!("`%{}`", token.text);
            return Err(self.cursor.mismatch(token.span, expected, &found));
        }
        self.cursor.expect(":")?;
        let float = self.cursor.is("f32");
        if !float && !self.cursor.is("index") {
            return Err(self.cursor.expected("`f32` or `index`"));
        }
        self.cursor.next();
        if !self.cursor.is("=") {
            return Err(self
                .cursor
                .expected("`=` and the value (snapshots leave it out, `--exact` prints it)"));
        }
        self.cursor.next();
        let number = self.cursor.kind(TokenKind::Number, "a number")?;
        let value = if float {
            number.text.parse().ok().map(HyperValue::Float)
        } else {
            count(number.text).map(HyperValue::Int)
        };
        let Some(value) = value else {
            let expected = if float {
                "a number"
            } else {
                "a count below 2^31"
            };
            let found = format!("`{}`", number.text);
            return Err(self.cursor.mismatch(number.span, expected, &found));
        };
        if self
            .hypers
            .insert(token.text, self.module.hypers.len())
            .is_some()
        {
            return Err(self.cursor.redefined(token));
        }
        self.module.hypers.push(Hyper {
            name,
            layer: 0,
            value,
        });
        Ok(())
    }

    /// `fed.func @layer::hook(args) { .. }` or `fed.round(args) { .. }`; gives the number of one
    /// that belongs to the outermost layer, whichever that is.
    fn func(&mut self) -> Result<Option<usize>, ParseError> {
        let loc = location(self.cursor.peek());
        let round = self.cursor.eat("fed.round");
        let (hook, layer) = if round {
            (Hook::Round, 0)
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
        let body = self.region(&args, hook.place(), FUNC_END)?;
        self.module.funcs.push(Func {
            hook,
            layer,
            body,
            loc,
        });
        Ok(round.then(|| self.module.funcs.len() - 1))
    }

    /// `@layer::hook`.
    fn symbol(&mut self) -> Result<(Hook, usize), ParseError> {
        let token = self.cursor.kind(TokenKind::Symbol, "`@layer::hook`")?;
        let Some((layer, hook)) = token.text.split_once("::") else {
            let found = format!("`@{}`", token.text);
            return Err(self.cursor.mismatch(token.span, "`@layer::hook`", &found));
        };
        let Some(hook) = Hook::named(hook) else {
            let known = Hook::ALL.map(Hook::name);
            return Err(self.cursor.unknown((token.span, hook), "hook", known));
        };
        let layers = &mut self.module.layers;
        let known = layers.iter().position(|known| known.name == layer);
        let index = known.unwrap_or_else(|| {
            layers.push(Layer {
                name: layer.to_owned(),
            });
            layers.len() - 1
        });
        Ok((hook, index))
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
}
