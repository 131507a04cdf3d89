//! The text form of a fused operation's body: `[add($0, $1); relu($2); sum $2; give $3]`.
//!
//! `$n` numbers the operands first, then the steps. `sum` is over all elements, `sum_leading` over
//! the first dimension, `sum_channels` over all but the second. The shape of the steps is that of the first result; where all results are
//! sums it is written, as `over [2, 3]`.

use std::sync::Arc;

use super::{Fused, Op, TensorType};
use crate::text::ParseError;
use crate::text::attribute::{AttributeText, Codec, Entry, Piece, Source, Steps, TextAttributes};
use crate::text::cursor::{Cursor, count};
use crate::text::lexer::TokenKind;

/// The steps of a fused op.
pub(super) struct Body;

impl Codec<Arc<Fused>> for Body {
    fn write(value: &Arc<Fused>, _: &'static str, to: &mut AttributeText) {
        let mut parts: Vec<String> = Vec::new();
        for (op, ins) in &value.steps {
            let mut text = AttributeText {
                entries: Vec::new(),
                exact: to.exact,
            };
            op.write_attributes(&mut text);
            let attributes = match text.entries.join(", ") {
                none if none.is_empty() => none,
                some => format!("[{some}]"),
            };
            parts.push(format!("{}{attributes}({})", op.name(), places(ins)));
        }
        if value.outputs.is_empty() {
            parts.push(format!("over {:?}", value.shape));
        }
        for (word, values) in [
            ("sum", &value.sums),
            ("sum_leading", &value.leading_sums),
            ("sum_channels", &value.channel_sums),
            ("give", &value.outputs),
        ] {
            if !values.is_empty() {
                parts.push(format!("{word} {}", places(values)));
            }
        }
        to.entries.push(parts.join("; "));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Arc<Fused>, String> {
        let result = from.source().result.ok_or("a type")?;
        let mut expected = "steps, as in `[add($0, $1); relu($2); give $3]`".to_owned();
        let body = from.plain(|piece| match piece {
            Piece::Steps(steps) => body(steps, result).map_err(|e| expected = e).ok(),
            _ => None,
        });
        body.map(Arc::new).ok_or(expected)
    }
}

/// A body from its text and the type of its first result.
fn body(text: &Steps, result: &TensorType) -> Result<Fused, String> {
    let shape = text.shape.as_ref().unwrap_or(&result.shape);
    // Casts in a body are to floats.
    let ty = TensorType::f32(shape.clone());
    let mut steps = Vec::new();
    for (name, entries, ins) in &text.steps {
        let source = Source {
            result: Some(&ty),
            ..Source::default()
        };
        let mut attributes = TextAttributes::new(entries.clone(), source);
        let op = Op::read_attributes(name, &mut attributes)
            .map_err(|expected| format!("{expected} for `{name}`"))?;
        match op.filter(Op::is_elementwise) {
            Some(op) if attributes.rest().is_none() => steps.push((op, ins.clone())),
            Some(_) => return Err(format!("no further attribute for `{name}`")),
            None => return Err(format!("an elementwise op instead of `{name}`")),
        }
    }
    Ok(Fused {
        shape: shape.clone(),
        steps,
        outputs: text.outputs.clone(),
        sums: text.sums.clone(),
        leading_sums: text.leading_sums.clone(),
        channel_sums: text.channel_sums.clone(),
    })
}

fn places(values: &[usize]) -> String {
    let places: Vec<String> = values.iter().map(|v| format!("${v}")).collect();
    places.join(", ")
}

/// Reads a body up to its `]`.
pub(super) fn steps<'t>(cursor: &mut Cursor<'t>) -> Result<Entry<'t>, ParseError> {
    let span = cursor.peek().span;
    let mut body = Steps::default();
    loop {
        let name = cursor.kind(
            TokenKind::Word,
            "an elementwise op, `sum`, `sum_leading`, `sum_channels` or `give`",
        )?;
        match name.text {
            "sum" if !cursor.is("(") => body.sums = cursor.several(place)?,
            "sum_leading" => body.leading_sums = cursor.several(place)?,
            "sum_channels" => body.channel_sums = cursor.several(place)?,
            "give" => body.outputs = cursor.several(place)?,
            "over" => {
                cursor.expect("[")?;
                body.shape = Some(cursor.list("]", size)?);
            }
            step => {
                let entries = match cursor.eat("[") {
                    true => cursor.list("]", Cursor::entry)?,
                    false => Vec::new(),
                };
                cursor.expect("(")?;
                body.steps.push((step, entries, cursor.list(")", place)?));
            }
        }
        if !cursor.eat(";") {
            cursor.expect("]")?;
            return Ok(Entry {
                label: None,
                value: Piece::Steps(body),
                span,
            });
        }
    }
}

fn place(cursor: &mut Cursor) -> Result<usize, ParseError> {
    number(cursor, TokenKind::Place, "`$` and the number of a value")
}

fn size(cursor: &mut Cursor) -> Result<usize, ParseError> {
    number(cursor, TokenKind::Number, "a size")
}

fn number(cursor: &mut Cursor, kind: TokenKind, expected: &str) -> Result<usize, ParseError> {
    let token = cursor.peek();
    match count(token.text).filter(|_| token.kind == kind) {
        Some(number) => {
            cursor.next();
            Ok(number)
        }
        None => Err(cursor.expected(expected)),
    }
}
