//! A fed module as two lanes, server and clients, with time running down.

use fedround_ir::fed::{Module, Value};
use fedround_passes::fed::Leaves;
use fedround_passes::report::number_format;
use fedround_passes::report::{Count, Direction, Wire, wire};

use super::canvas::{Anchor, Font, colour};
use super::measure::{Lanes, MARGIN, TITLE};
use super::pen::{NOTE, Pen};
use super::script::scenes;

/// Draws a fed module, before or after linking. If `parameters` counts the model's parameters, the bytes
/// of each value that is sent are also shown as numbers.
///
/// A box is one op. Constants, parts of a batch, numbers of examples and scalar arithmetic that is read
/// once are drawn inside the box that reads them.
pub fn module(module: &Module, parameters: Option<Count<'_>>) -> String {
    let title = None;
    phases(&[Phase {
        title,
        module,
        parameters,
    }])
}

/// A phase of an algorithm with several.
pub struct Phase<'m> {
    /// What stands above it.
    pub title: Option<&'m str>,
    /// Its round.
    pub module: &'m Module,
    /// How the parameters are counted, as for [`module`].
    pub parameters: Option<Count<'m>>,
}

/// Draws the phases of an algorithm as [`module`] does, below each other on one page.
pub fn phases(phases: &[Phase<'_>]) -> String {
    let drawn = phases.iter();
    let drawn: Vec<_> = drawn
        .map(|phase| (phase, scenes(phase.module, phase.parameters)))
        .collect();
    let lanes = Lanes::fit(drawn.iter().flat_map(|(_, scenes)| scenes));
    let mut pen = Pen::new(lanes);
    let (mut height, x) = (0.0, lanes.page() / 2.0);
    for (phase, scenes) in &drawn {
        if let Some(title) = phase.title {
            height += MARGIN + 12.0;
            let font = Font::new(TITLE, colour::INK).bold();
            pen.canvas.plain(x, height, title, font, Anchor::Middle);
        }
        height = pen.page(scenes, height);
        if let (Some(parameters), true) = (phase.parameters, phase.module.is_linked()) {
            for text in totals(phase.module, parameters) {
                pen.canvas.plain(x, height, &text, NOTE, Anchor::Middle);
                height += MARGIN;
            }
        }
    }
    let name = phases.last().map_or("", |phase| phase.module.name());
    pen.canvas.finish(lanes.page(), height, name)
}

/// What is sent for a client in a round, in lines: bytes, and formulas of what is known only when clients
/// have run, such as `4F` for `F` numbers of representations. A client may be in one of several cohorts and
/// not in others, so that each has a line of its own, in the order of the drawing.
fn totals(module: &Module, parameters: Count<'_>) -> Vec<String> {
    let rows = wire(module);
    let mut cohorts: Vec<Option<Value>> = vec![];
    for row in &rows {
        if !cohorts.contains(&row.cohort) {
            cohorts.push(row.cohort);
        }
    }
    let head = format!(
        "Bytes for each client in each round, P = {} parameters",
        number_format::grouped(parameters.parameters_without(&Leaves::default()) as u64)
    );
    match cohorts.as_slice() {
        [] | [_] => vec![format!("{head}: {}", sent(&rows, parameters))],
        several => {
            let of_each = several.iter().zip(1..).map(|(cohort, number)| {
                let own = rows.iter().filter(|row| row.cohort == *cohort);
                let own = own.cloned().collect::<Vec<_>>();
                format!("of cohort {number}: {}", sent(&own, parameters))
            });
            std::iter::once(head).chain(of_each).collect()
        }
    }
}

/// The sums of rows: `796.8 kB down, 796.8 kB up`.
fn sent(rows: &[Wire], parameters: Count<'_>) -> String {
    let total = |direction| {
        let (mut known, mut terms) = (0, vec![]);
        for row in rows.iter().filter(|row| row.direction == direction) {
            match row.bytes(parameters) {
                Some(bytes) => known += bytes as u64,
                None => terms.push(row.formula()),
            }
        }
        if known > 0 || terms.is_empty() {
            terms.insert(0, number_format::bytes(known));
        }
        terms.join(" + ")
    };
    let (down, up) = (total(Direction::Down), total(Direction::Up));
    match rows.iter().any(|row| row.direction == Direction::Across) {
        true => format!(
            "{down} down, {up} up, {} to other clients",
            total(Direction::Across)
        ),
        false => format!("{down} down, {up} up"),
    }
}
