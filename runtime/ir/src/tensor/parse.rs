//! The parser of tensor graphs.

use std::collections::HashMap;

use super::fused::steps;
use super::shapes::elements;
use super::{DType, Graph, Op, TensorType, Val};
use crate::Loc;
use crate::text::attribute::{Entry, Source};
use crate::text::cursor::{Cursor, LARGEST, count};
use crate::text::lexer::{Token, TokenKind};
use crate::text::parse_attribute::unquote;
use fedround_names::nearest;

use crate::text::{ParseError, Problem, TENSOR_VERSION, check_header};

/// Reads one or more graphs below a header line, as [`Graph::exact_text`] writes them, and verifies
/// them.
///
/// The graphs are [`equal`](super::equal) to those that were written, and print as the same text.
///
/// # Errors
///
/// [`ParseError`] for the first error in the text or in a graph that it describes.
pub fn parse(text: &str) -> Result<Vec<(String, Graph)>, ParseError> {
    check_header(text, "tensor", TENSOR_VERSION)?;
    let mut cursor = Cursor::new(text)?;
    let mut graphs: Vec<(String, Graph)> = Vec::new();
    while cursor.peek().kind != TokenKind::End {
        let at = cursor.expect("tensor.graph")?;
        let name = cursor.kind(TokenKind::Symbol, "`@name` of the graph")?;
        let mut parser = Parser {
            cursor: &mut cursor,
            graph: Graph::default(),
            values: HashMap::new(),
        };
        parser.graph()?;
        let graph = parser.graph;
        if let Err(error) = graph.verify() {
            return Err(cursor.error(at.span, Problem::Broken(error.to_string())));
        }
        graphs.push((name.text.to_owned(), graph));
    }
    Ok(graphs)
}

struct Parser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    graph: Graph,
    values: HashMap<&'t str, Val>,
}

impl<'t> Parser<'_, 't> {
    /// `(inputs) { nodes outputs }`.
    fn graph(&mut self) -> Result<(), ParseError> {
        self.cursor.expect("(")?;
        while !self.cursor.is(")") {
            let token = self.cursor.kind(TokenKind::Value, "`%name` of an input")?;
            self.cursor.expect(":")?;
            let ty = tensor_type(self.cursor)?;
            let name = unquote(token.text).unwrap_or_else(|| token.text.to_owned());
            let val = self.graph.input(name, ty);
            self.define(token, val)?;
            self.cursor.separator(")")?;
        }
        self.cursor.expect(")")?;
        self.cursor.expect("{")?;
        while self.cursor.peek().kind == TokenKind::Value {
            self.node()?;
        }
        while self.cursor.eat("return") {
            self.output()?;
        }
        if self.cursor.is("}") {
            self.cursor.next();
            Ok(())
        } else {
            Err(self.cursor.expected("an op, `return` or `}`"))
        }
    }

    /// `%a, %b = tensor.name[attributes] operands : types`.
    fn node(&mut self) -> Result<(), ParseError> {
        let results = self
            .cursor
            .several(|cursor| cursor.kind(TokenKind::Value, "`%name` of a result"))?;
        self.cursor.expect("=")?;
        let name = self.cursor.kind(TokenKind::Word, "an op")?;
        let entries = match self.cursor.eat("[") {
            true if name.text == "tensor.fused" => vec![steps(self.cursor)?],
            true => self.cursor.list("]", Cursor::entry)?,
            false => Vec::new(),
        };
        let mut ins = Vec::new();
        while self.cursor.peek().kind == TokenKind::Value {
            ins.push(self.read()?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect(":")?;
        let at = self.cursor.peek();
        let types = self.cursor.several(tensor_type)?;
        if types.len() != results.len() {
            let expected = format!("a type for each of {} results", results.len());
            let found = format!("{} types", types.len());
            return Err(self.cursor.mismatch(at.span, &expected, &found));
        }

        let short = name.text.strip_prefix("tensor.").unwrap_or_default();
        if !Op::NAMES.contains(&short) {
            let near = nearest(short, Op::NAMES.iter().copied());
            return Err(self.cursor.error(
                name.span,
                Problem::Unknown {
                    what: "op",
                    name: name.text.to_owned(),
                    nearest: near.map(|near| format!("tensor.{near}")),
                },
            ));
        }
        let op = read_op(self.cursor, name, short, entries, types.first())?;
        let loc = Loc::text(name.span.line(), name.span.byte());
        let outs = self.graph.push_multi(op, &ins, loc).map_err(|error| {
            let message = format!("`{}` {}", name.text, error.message());
            self.cursor.error(name.span, Problem::Broken(message))
        })?;
        let inferred: Vec<String> = outs
            .iter()
            .map(|v| self.graph.type_of(*v).to_string())
            .collect();
        let found: Vec<String> = types.iter().map(ToString::to_string).collect();
        if inferred != found {
            let expected = format!("`{}`, the type of the result", inferred.join(", "));
            let found = format!("`{}`", found.join(", "));
            return Err(self.cursor.mismatch(at.span, &expected, &found));
        }
        for (token, val) in results.into_iter().zip(outs) {
            self.define(token, val)?;
        }
        Ok(())
    }

    /// `return name = %value`, after the `return`.
    fn output(&mut self) -> Result<(), ParseError> {
        let name = match self.cursor.peek().kind {
            TokenKind::Text => self.cursor.string()?,
            _ => self
                .cursor
                .kind(TokenKind::Word, "the output's name")?
                .text
                .to_owned(),
        };
        self.cursor.expect("=")?;
        let val = self.read()?;
        self.graph.outputs.push((name, val));
        Ok(())
    }

    fn define(&mut self, token: Token<'t>, val: Val) -> Result<(), ParseError> {
        if self.values.insert(token.text, val).is_some() {
            return Err(self.cursor.redefined(token));
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Val, ParseError> {
        let token = self.cursor.kind(TokenKind::Value, "a value")?;
        let value = self.values.get(token.text).copied();
        value.ok_or_else(|| self.cursor.undefined(token))
    }
}

/// An op from its name and attributes, and the type of its first result.
fn read_op<'t>(
    cursor: &Cursor<'t>,
    name: Token<'t>,
    short: &str,
    entries: Vec<Entry<'t>>,
    result: Option<&TensorType>,
) -> Result<Op, ParseError> {
    let source = Source {
        result,
        ..Source::default()
    };
    let op = cursor.attributes(name, entries, source, |from| {
        Op::read_attributes(short, from)
    })?;
    op.ok_or_else(|| cursor.expected("an op"))
}

/// `f32[2x3]`; a tensor of one number without dimensions is `f32[]`.
fn tensor_type(cursor: &mut Cursor) -> Result<TensorType, ParseError> {
    let word = cursor.kind(TokenKind::Word, "a type")?;
    let Some(dtype) = DType::ALL.into_iter().find(|ty| ty.name() == word.text) else {
        let known = DType::ALL.map(DType::name);
        return Err(cursor.unknown((word.span, word.text), "element type", known));
    };
    cursor.expect("[")?;
    let mut shape = Vec::new();
    let token = cursor.peek();
    if !cursor.is("]") {
        cursor.kind(TokenKind::Number, "a shape, such as `2x3`")?;
        let sizes: Option<Vec<usize>> = token.text.split('x').map(count).collect();
        shape = sizes.unwrap_or_default();
        let fits = elements(&shape).is_some_and(|n| n <= LARGEST);
        if shape.is_empty() || !fits {
            let expected = "a shape of less than 2^31 elements, such as `2x3`";
            return Err(cursor.mismatch(token.span, expected, &format!("`{}`", token.text)));
        }
    }
    cursor.expect("]")?;
    Ok(TensorType { dtype, shape })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
