//! The part of Python's pickles that a `state_dict` needs. Nothing of the file is called: calls
//! are values like all others.

use std::collections::HashMap;

use super::cursor::Cursor;

/// A Python value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `None`, numbers that no tensor needs, and objects of no known kind.
    Other,
    Bool(bool),
    Int(i128),
    Text(String),
    /// A function or a class, as `module name`.
    Global(String),
    /// A tuple or a list.
    Row(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// What the file keeps outside of the pickle, by its description.
    Outside(Box<Value>),
    /// A function's name and its arguments.
    Call(String, Vec<Value>),
}

/// Reads the next pickle. `outside` gets the descriptions of what is kept elsewhere.
pub(super) fn read(bytes: &mut Cursor<'_>, outside: &mut Vec<Value>) -> Result<Value, String> {
    let mut machine = Machine {
        outside,
        stack: vec![],
        marks: vec![],
        memo: HashMap::new(),
    };
    loop {
        let op = bytes.u8()?;
        if op == b'.' {
            return machine.pop();
        }
        machine.step(op, bytes)?;
    }
}

struct Machine<'o> {
    outside: &'o mut Vec<Value>,
    stack: Vec<Value>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: HashMap<u64, Value>,
}

impl Machine<'_> {
    fn pop(&mut self) -> Result<Value, String> {
        self.stack.pop().ok_or_else(broken)
    }

    /// The values above the last mark.
    fn marked(&mut self) -> Result<Vec<Value>, String> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or_else(broken)?))
    }

    fn last(&mut self, n: usize) -> Result<Vec<Value>, String> {
        let from = self.stack.len().checked_sub(n).ok_or_else(broken)?;
        Ok(self.stack.split_off(from))
    }

    fn step(&mut self, op: u8, bytes: &mut Cursor<'_>) -> Result<(), String> {
        let value = match op {
            // The protocol's number, and the length of a frame: nothing follows from them.
            0x80 => return bytes.take(1).map(drop),
            0x95 => return bytes.take(8).map(drop),
            b'(' => {
                self.marks.push(self.stack.len());
                return Ok(());
            }
            b'q' => return self.keep(bytes.u8()?.into()),
            b'r' => return self.keep(bytes.u32()?.into()),
            0x94 => return self.keep(self.memo.len() as u64),
            b's' => return self.last(2).and_then(|pair| self.extend(pair)),
            b'a' => return self.last(1).and_then(|one| self.extend(one)),
            b'u' | b'e' => return self.marked().and_then(|many| self.extend(many)),
            // Attributes of an object, such as the versions of its modules.
            b'b' => return self.pop().map(drop),
            b'h' => self.kept(bytes.u8()?.into())?,
            b'j' => self.kept(bytes.u32()?.into())?,
            b'N' => Value::Other,
            b'G' => bytes.take(8).map(|_| Value::Other)?,
            0x88 => Value::Bool(true),
            0x89 => Value::Bool(false),
            b'K' => Value::Int(bytes.u8()?.into()),
            b'M' => Value::Int(bytes.u16()?.into()),
            b'J' => Value::Int(bytes.i32()?.into()),
            0x8a => long(bytes)?,
            b'X' => text(bytes.u32()?.into(), bytes)?,
            0x8c | b'U' => text(bytes.u8()?.into(), bytes)?,
            b'c' => {
                let [module, name] = [bytes.line()?, bytes.line()?].map(String::from_utf8_lossy);
                Value::Global(format!("{module} {name}"))
            }
            b'}' => Value::Dict(vec![]),
            b']' | b')' => Value::Row(vec![]),
            b't' | b'l' => Value::Row(self.marked()?),
            0x85..=0x87 => Value::Row(self.last(usize::from(op) - 0x84)?),
            b'Q' => {
                let value = self.pop()?;
                self.outside.push(value.clone());
                Value::Outside(Box::new(value))
            }
            b'R' => self.call()?,
            op => {
                return Err(format!(
                    "its pickle has the code {op:#04x}, which no state_dict needs"
                ));
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn keep(&mut self, place: u64) -> Result<(), String> {
        let value = self.stack.last().cloned().ok_or_else(broken)?;
        self.memo.insert(place, value);
        Ok(())
    }

    fn kept(&self, place: u64) -> Result<Value, String> {
        self.memo.get(&place).cloned().ok_or_else(broken)
    }

    /// Puts values into the list or the dictionary below them.
    fn extend(&mut self, values: Vec<Value>) -> Result<(), String> {
        match self.stack.last_mut() {
            Some(Value::Row(row)) => row.extend(values),
            Some(Value::Dict(dict)) => {
                let mut values = values.into_iter();
                while let (Some(key), Some(value)) = (values.next(), values.next()) {
                    dict.push((key, value));
                }
            }
            // Items of an object of no known kind.
            Some(_) => {}
            None => return Err(broken()),
        }
        Ok(())
    }

    fn call(&mut self) -> Result<Value, String> {
        let (Value::Row(arguments), callable) = (self.pop()?, self.pop()?) else {
            return Err(broken());
        };
        Ok(match callable {
            Value::Global(name) if name == "collections OrderedDict" => Value::Dict(vec![]),
            Value::Global(name) => Value::Call(name, arguments),
            _ => Value::Other,
        })
    }
}

fn broken() -> String {
    "its pickle is broken".to_owned()
}

/// An integer of up to 16 bytes.
fn long(bytes: &mut Cursor<'_>) -> Result<Value, String> {
    let digits = u64::from(bytes.u8()?);
    let digits = bytes.take(digits)?;
    let is_negative = digits.last().is_some_and(|top| *top >= 0x80);
    let mut all = [if is_negative { 0xff } else { 0 }; 16];
    all.get_mut(..digits.len())
        .ok_or_else(broken)?
        .copy_from_slice(digits);
    Ok(Value::Int(i128::from_le_bytes(all)))
}

fn text(length: u64, bytes: &mut Cursor<'_>) -> Result<Value, String> {
    let text = bytes.take(length)?;
    Ok(Value::Text(String::from_utf8_lossy(text).into_owned()))
}
