//! The text of a split.

use std::fmt;

use fedround_ir::fed::Kind;

use super::{Input, Output, Region, ServerStep, Source, Split};

/// Columns before the values of a region's line.
const INDENT: usize = 13;

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "parties of {}", self.name)?;
        for (i, region) in self.regions.iter().enumerate() {
            let visit = if region.visits { ", a visit" } else { "" };
            writeln!(f, "\nregion {}{visit}", i + 1)?;
            write!(f, "{region}")?;
        }
        writeln!(f, "\nserver")?;
        steps(f, &self.server, 1)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| match names.is_empty() {
            true => vec![],
            false => vec![names.join(", ")],
        };
        let numbers: Vec<String> = self.numbers.iter().map(|name| (*name).to_owned()).collect();
        lines(f, "settings", list(&self.settings))?;
        lines(f, "numbers", list(&numbers))?;
        let inputs = self.inputs.iter().enumerate();
        let inputs = inputs.filter(|(i, _)| self.first_input(*i).is_none());
        let (held, received): (Vec<&Input>, Vec<&Input>) = inputs
            .map(|(_, input)| input)
            .partition(|input| input.is_held());
        lines(f, "receives", received.iter().copied().map(Input::line))?;
        lines(f, "holds", held.into_iter().map(Input::line))?;
        lines(f, "reads", list(&self.reads))?;
        lines(f, "sets", list(&self.sets))?;
        let sent = self.outputs.iter().filter(|output| output.send);
        lines(f, "sends", sent.map(Output::line))?;
        let received = received.iter().filter(|input| input.keep);
        let received = received.map(|input| &input.name);
        let made = self.outputs.iter().filter(|output| output.keep);
        let made = made.map(|output| &output.name);
        let kept: Vec<String> = received.chain(made).cloned().collect();
        lines(f, "keeps", list(&kept))?;
        lines(f, "can sum", self.summed())?;
        lines(f, "reports", ["losses, number of steps".to_owned()])
    }
}

impl Region {
    /// What a host can sum, and what the server reads of each client.
    fn summed(&self) -> Vec<String> {
        let name = |i: usize| self.outputs.get(i).map_or("", |output| &output.name);
        let mut all: Vec<String> = vec![];
        for sum in &self.sums {
            let weight = sum
                .weight
                .map_or(String::new(), |i| format!(" by {}", name(i)));
            all.push(format!("{}{weight}", name(sum.output)));
        }
        let outputs = self.outputs.iter().enumerate();
        let single = outputs.filter(|(i, output)| {
            output.send && output.kind == Kind::Params && !self.is_summed(*i)
        });
        let single = single.map(|(_, output)| output);
        let (encoded, single): (Vec<_>, Vec<_>) = single.partition(|o| o.encoded.is_some());
        let whys = [
            (encoded, "a sum is longer than what is encoded"),
            (single, "the server reads each client's"),
        ];
        for (outputs, why) in whys.iter().filter(|(outputs, _)| !outputs.is_empty()) {
            let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
            all.push(format!("not {}: {why}", names.join(", ")));
        }
        all
    }
}

impl Input {
    /// Whether a party has it before the region runs.
    fn is_held(&self) -> bool {
        self.earlier.is_some() || matches!(self.source, Source::Region(_))
    }

    fn line(&self) -> String {
        let Self { name, kind, .. } = self;
        match (self.source, self.earlier) {
            (Source::Region(i), _) => format!("{name}: {kind}, from region {}", i + 1),
            (_, Some(i)) => format!("{name}: {kind}, received for region {}", i + 1),
            (Source::Broadcast, None) => {
                format!("{name}: {kind}, the same for all, {}", self.bytes)
            }
            (Source::Scatter, None) => {
                format!("{name}: {kind}, of each client, {}", self.bytes)
            }
        }
    }
}

impl Output {
    fn line(&self) -> String {
        format!("{}: {}, {}", self.name, self.kind, self.bytes)
    }
}

/// A heading before the first of some lines.
fn lines(
    f: &mut fmt::Formatter<'_>,
    heading: &str,
    lines: impl IntoIterator<Item = String>,
) -> fmt::Result {
    for (i, line) in lines.into_iter().enumerate() {
        let heading = if i == 0 { heading } else { "" };
        writeln!(f, "  {heading:<width$}{line}", width = INDENT - 2)?;
    }
    Ok(())
}

fn steps(f: &mut fmt::Formatter<'_>, all: &[ServerStep], depth: usize) -> fmt::Result {
    let indent = "  ".repeat(depth);
    for step in all {
        match step {
            ServerStep::Op(text) => writeln!(f, "{indent}{text}")?,
            ServerStep::Region(i) => writeln!(f, "{indent}region {}", i + 1)?,
            ServerStep::Loop(text, inner) => {
                writeln!(f, "{indent}{text}")?;
                steps(f, inner, depth + 1)?;
            }
        }
    }
    Ok(())
}
