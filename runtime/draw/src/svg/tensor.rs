//! Tensor graphs in layers, operands above results.

use fedround_ir::tensor::TensorType;

use super::canvas::{Anchor, Canvas, Font, Rect, colour, number};
use super::layers::{Layout, layout};
use super::text::plain_width;
use crate::attributes::label_lines;
use crate::{Phase, Sheet};

const MARGIN: f64 = 20.0;
const TITLE: f64 = 15.0;
const TEXT: f64 = 11.0;
const SMALL: f64 = 9.5;
const LINE: f64 = 13.0;
const INSET: f64 = 8.0;
/// What stands for a graph without boxes.
const NO_OPS: &str = "no ops: its outputs are inputs";

/// Tensor graphs, or plans, below each other.
///
/// A box is an op with the type of its result and the names of the inputs that it reads; inputs
/// have no boxes of their own, as parameters are read all over a training step.
pub fn sheets(sheets: &[Sheet]) -> String {
    let mut canvas = Canvas::default();
    let layouts: Vec<(Vec<Card>, Layout)> = sheets.iter().map(place).collect();
    let widths = layouts.iter().map(|(_, layout)| layout.width);
    let legend = legend_width();
    let width = widths.fold(legend, f64::max) + 2.0 * MARGIN;
    let mut y = MARGIN;
    for (sheet, (cards, layout)) in sheets.iter().zip(&layouts) {
        let font = Font::new(TITLE, colour::INK).bold();
        canvas.plain(MARGIN, y + 12.0, &sheet.name, font, Anchor::Start);
        legend_line(&mut canvas, y + 34.0, sheet);
        if cards.is_empty() {
            let font = Font::new(SMALL, colour::GREY);
            canvas.plain(MARGIN, y + 32.0, NO_OPS, font, Anchor::Start);
        }
        y += 54.0;
        let left = MARGIN + (width - 2.0 * MARGIN - layout.width) / 2.0;
        paint(&mut canvas, cards, layout, (left, y));
        y += layout.height + 2.0 * MARGIN;
    }
    let title = sheets.first().map_or("", |sheet| &sheet.name);
    canvas.finish(width, y - MARGIN, title)
}

/// What a box says.
struct Card {
    lines: Vec<String>,
    /// How many of the first lines are the op with its attributes.
    head: usize,
    phase: Phase,
}

fn place(sheet: &Sheet) -> (Vec<Card>, Layout) {
    let graph = &sheet.graph;
    let names = sheet.input_names();
    let mut maker = vec![None; graph.types.len()];
    let mut edges = vec![];
    let mut cards = vec![];
    for (i, (node, phase)) in graph.nodes.iter().zip(sheet.phases()).enumerate() {
        let mut lines = label_lines(&node.op);
        let head = lines.len();
        let results = node.outs.iter().map(|v| {
            let slot = sheet.slot(*v).map(|slot| format!(" in s{slot}"));
            shape(graph.type_of(*v)) + &slot.unwrap_or_default()
        });
        let results: Vec<String> = results.collect();
        // Many results of one shape need one line.
        lines.extend(results.chunk_by(|a, b| a == b).map(|alike| match alike {
            [one] => one.clone(),
            alike => format!("{} results, {}", alike.len(), alike[0]),
        }));
        for v in &node.ins {
            match (names[v.0 as usize], maker[v.0 as usize]) {
                (Some(name), _) => lines.push(name.to_owned()),
                (None, Some(from)) if !edges.contains(&(from, i)) => edges.push((from, i)),
                _ => {}
            }
        }
        for (name, _) in graph.outputs.iter().filter(|(_, v)| node.outs.contains(v)) {
            lines.push(format!("→ {name}"));
        }
        for v in &node.outs {
            maker[v.0 as usize] = Some(i);
        }
        cards.push(Card { lines, head, phase });
    }
    let size = |card: &Card| {
        let widths = card.lines.iter().enumerate().map(|(i, line)| match i {
            i if i < card.head => 1.12 * plain_width(line, TEXT),
            _ => plain_width(line, SMALL),
        });
        let height = LINE * card.lines.len() as f64 + 9.0;
        (widths.fold(40.0, f64::max) + 2.0 * INSET, height)
    };
    let sizes: Vec<(f64, f64)> = cards.iter().map(size).collect();
    let layout = layout(&sizes, &edges);
    (cards, layout)
}

/// `f32[10x200]` as `10×200`; the type is told where it is not `f32`.
fn shape(ty: &TensorType) -> String {
    let text = ty.to_string();
    let text = text.strip_prefix("f32").unwrap_or(&text);
    let dims = text.trim_start_matches('[').trim_end_matches(']');
    dims.replace('x', "×").replace('[', " ")
}

fn paint(canvas: &mut Canvas, cards: &[Card], layout: &Layout, (left, top): (f64, f64)) {
    for edge in &layout.edges {
        let mut d = String::new();
        let mut last: Option<(f64, f64)> = None;
        for &(x, y0, y1) in edge {
            let (x, y0, y1) = (left + x, top + y0, top + y1);
            if let Some((px, py)) = last {
                let middle = (py + y0) / 2.0;
                let [px, x, middle, y] = [px, x, middle, y0].map(number);
                d += &format!("C{px} {middle} {x} {middle} {x} {y}");
                d += &format!("V{}", number(y1));
            } else {
                let [x, y0, y1] = [x, y0, y1].map(number);
                d += &format!("M{x} {y0}V{y1}");
            }
            last = Some((x, y1));
        }
        canvas.path(&d, colour::LINE, 1.0);
        if let Some((x, y)) = last {
            canvas.arrow((x, y - 6.0), (x, y), colour::LINE, 1.0);
        }
    }
    for (card, rect) in cards.iter().zip(&layout.nodes) {
        let rect = Rect {
            x: left + rect.x,
            y: top + rect.y,
            ..*rect
        };
        canvas.rect(rect, 4.0, fill(card.phase));
        for (i, line) in card.lines.iter().enumerate() {
            let font = match i {
                i if i < card.head => Font::new(TEXT, colour::INK).bold(),
                _ => Font::new(SMALL, colour::INK),
            };
            let y = rect.y + 14.0 + LINE * i as f64;
            canvas.plain(rect.centre(), y, line, font, Anchor::Middle);
        }
    }
}

fn fill(phase: Phase) -> [&'static str; 2] {
    match phase {
        Phase::Forward => colour::SERVER,
        Phase::Backward => colour::GRAD,
        Phase::Update => colour::LOOP,
    }
}

const LEGEND: [(Phase, &str); 3] = [
    (Phase::Forward, "forward"),
    (Phase::Backward, "backward"),
    (Phase::Update, "update"),
];

fn legend_width() -> f64 {
    let widths = LEGEND.map(|(_, text)| 38.0 + plain_width(text, TEXT));
    widths.iter().sum()
}

/// The colours' meaning, for a graph with more than one of them.
fn legend_line(canvas: &mut Canvas, y: f64, sheet: &Sheet) {
    let phases = sheet.phases();
    if phases.iter().all(|phase| *phase == Phase::Forward) {
        return;
    }
    let mut x = MARGIN;
    for (phase, text) in LEGEND {
        let swatch = Rect {
            x,
            y: y - 9.0,
            width: 16.0,
            height: 11.0,
        };
        canvas.rect(swatch, 2.0, fill(phase));
        let font = Font::new(TEXT, colour::INK);
        canvas.plain(x + 22.0, y, text, font, Anchor::Start);
        x += 38.0 + plain_width(text, TEXT);
    }
}
