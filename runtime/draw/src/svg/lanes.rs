//! A fed module as two lanes, server and clients, with time running down.

use fedround_ir::fed::{Module, Place};
use fedround_passes::fed::{Direction, wire};
use fedround_passes::units;

use super::canvas::{Anchor, Canvas, Font, Rect, colour};
use super::script::{Crossing, Frame, Item, Scene, Step, scenes};
use super::text::{plain_width, width};

const MARGIN: f64 = 20.0;
const BOX: f64 = 30.0;
const GAP: f64 = 18.0;
const INSET: f64 = 12.0;
/// From a lane's edge to its boxes.
const LANE: f64 = 18.0;
const FRAME_PAD: f64 = 14.0;
const LINE: f64 = 18.0;
const TITLE: f64 = 15.0;
const TEXT: f64 = 13.0;
const SMALL: f64 = 10.5;
const TINY: f64 = 9.5;

const BODY: Font = Font::new(TEXT, colour::INK);
const OP: Font = Font::new(TINY, colour::GREY).mono();
const NOTE: Font = Font::new(SMALL, colour::GREY);

/// A fed module, before or after linking. With the number of the model's parameters, the bytes of
/// the wires are numbers too.
///
/// A box is one op; constants, parts of a batch, numbers of examples and scalar arithmetic that is
/// read once stand in the box that reads them.
pub fn module(module: &Module, parameters: Option<usize>) -> String {
    let scenes = scenes(module, parameters);
    let lanes = Lanes::fit(&scenes);
    let mut pen = Pen {
        canvas: Canvas::default(),
        lanes,
        y: MARGIN,
        tails: [None; 2],
    };
    let mut height = pen.page(&scenes);
    if let (Some(parameters), true) = (parameters, module.is_linked()) {
        let rows = wire(module);
        let total = |direction| {
            let rows = rows.iter().filter(|row| row.direction == direction);
            units::bytes(rows.map(|row| row.bytes(parameters) as u64).sum())
        };
        let text = format!(
            "Bytes for each client in each round, P = {} parameters: {} down, {} up",
            units::grouped(parameters as u64),
            total(Direction::Down),
            total(Direction::Up)
        );
        let x = pen.lanes.page() / 2.0;
        pen.canvas.plain(x, height, &text, NOTE, Anchor::Middle);
        height += MARGIN;
    }
    pen.canvas.finish(pen.lanes.page(), height, module.name())
}

/// Left edge and width of both lanes.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    server: (f64, f64),
    clients: (f64, f64),
}

impl Lanes {
    /// As wide as the widest box of each lane and the widest label between them.
    fn fit(scenes: &[Scene]) -> Self {
        let mut widths: [f64; 3] = [170.0, 210.0, 120.0];
        for scene in scenes {
            let lane = usize::from(scene.place != Place::Server);
            widths[lane] = widths[lane].max(plain_width(&scene.title, SMALL));
            widen(&scene.items, lane, &mut widths);
        }
        let [server, clients, label] = widths;
        let server = (MARGIN, server + 2.0 * LANE);
        let gutter = label + 28.0;
        let clients = (server.0 + server.1 + gutter, clients + 2.0 * LANE);
        Self { server, clients }
    }

    fn page(self) -> f64 {
        self.clients.0 + self.clients.1 + MARGIN
    }

    fn of(self, lane: usize) -> (f64, f64) {
        if lane == 0 { self.server } else { self.clients }
    }

    /// The column of a lane's boxes.
    fn column(self, lane: usize) -> (f64, f64) {
        let (x, width) = self.of(lane);
        (x + LANE, width - 2.0 * LANE)
    }
}

/// Widens the server's lane, the clients' lane and the room between them.
fn widen(items: &[Item], lane: usize, widths: &mut [f64; 3]) {
    for item in items {
        match item {
            Item::Frame(frame) => {
                let lane = lane_of(frame, lane);
                widths[lane] = widths[lane].max(frame_width(frame));
            }
            Item::Step(step) => widths[lane] = widths[lane].max(step_width(step)),
            Item::Crossing(crossing) => {
                widths[0] = widths[0].max(step_width(&crossing.server));
                for sent in &crossing.sent {
                    let label = plain_width(&sent.derived, SMALL);
                    widths[2] = widths[2].max(label.max(width(&sent.bytes, SMALL) * 1.15));
                }
            }
        }
    }
}

fn lane_of(frame: &Frame, lane: usize) -> usize {
    if frame.op == "fed.map" { 1 } else { lane }
}

fn step_width(step: &Step) -> f64 {
    let op = mono_width(&step.op);
    width(&step.text, TEXT) + op + 2.0 * INSET + if op > 0.0 { 22.0 } else { 0.0 }
}

fn mono_width(text: &str) -> f64 {
    0.61 * TINY * text.chars().count() as f64
}

fn frame_width(frame: &Frame) -> f64 {
    let inner = frame.items.iter().map(|item| match item {
        Item::Frame(frame) => frame_width(frame),
        Item::Step(step) => step_width(step),
        Item::Crossing(_) => 0.0,
    });
    let head = width(&frame.title, TEXT) * 1.08 + 24.0 + mono_width(&frame.op);
    let widest = inner.fold(head.max(width(&frame.note, SMALL)), f64::max);
    widest + 2.0 * FRAME_PAD
}

fn head_height(frame: &Frame) -> f64 {
    FRAME_PAD + LINE * if frame.note.is_empty() { 1.0 } else { 2.0 }
}

fn height(item: &Item) -> f64 {
    match item {
        Item::Step(_) => BOX,
        Item::Frame(frame) => head_height(frame) + stack(&frame.items) + FRAME_PAD,
        Item::Crossing(crossing) => crossing.sent.len() as f64 * (BOX + GAP) - GAP,
    }
}

fn stack(items: &[Item]) -> f64 {
    let heights: f64 = items.iter().map(height).sum();
    heights + GAP * items.len().saturating_sub(1) as f64
}

struct Pen {
    canvas: Canvas,
    lanes: Lanes,
    y: f64,
    /// Where the last thing of each lane ends, for the arrow to the next.
    tails: [Option<(f64, f64)>; 2],
}

impl Pen {
    /// Draws everything; gives the page's height.
    fn page(&mut self, scenes: &[Scene]) -> f64 {
        let many = scenes.len() > 1;
        let heights = scenes.iter().map(|scene| {
            let ends = if scene.start.is_empty() {
                0.0
            } else {
                2.0 * (BOX + GAP)
            };
            let title = if many { 30.0 } else { 0.0 };
            stack(&scene.items) + ends + title + 26.0
        });
        let content: f64 = heights.sum();
        let top = MARGIN + if many { 0.0 } else { 28.0 };
        let bottom = top + 34.0 + content + 6.0;
        if let ([only], false) = (scenes, many) {
            let font = Font::new(TITLE, colour::INK).bold();
            let x = self.lanes.page() / 2.0;
            self.canvas
                .plain(x, MARGIN + 12.0, &only.title, font, Anchor::Middle);
        }
        for (lane, name, colours) in [
            (0, "Server", colour::SERVER),
            (1, "Clients", colour::CLIENT),
        ] {
            let (x, width) = self.lanes.of(lane);
            let rect = Rect {
                x,
                y: top,
                width,
                height: bottom - top,
            };
            self.canvas.rect(rect, 8.0, colours);
            let font = Font::new(TEXT, colour::INK).bold();
            self.canvas
                .plain(rect.centre(), top + 21.0, name, font, Anchor::Middle);
        }
        self.y = top + 34.0;
        for (index, scene) in scenes.iter().enumerate() {
            if many {
                self.heading(scene, index > 0);
            }
            self.scene(scene);
            self.y += 26.0;
        }
        bottom + MARGIN
    }

    /// A function's title, below a line that parts it from the one before.
    fn heading(&mut self, scene: &Scene, parted: bool) {
        let lane = usize::from(scene.place != Place::Server);
        if parted {
            let (left, right) = (MARGIN, self.lanes.page() - MARGIN);
            let y = self.y - 13.0;
            self.canvas.path(
                &format!("M{left:.1} {y:.1}L{right:.1} {y:.1}"),
                colour::LINE,
                0.8,
            );
        }
        let (x, _) = self.lanes.column(lane);
        let font = Font::new(SMALL, colour::INK).bold().mono();
        self.canvas
            .plain(x, self.y + 12.0, &scene.title, font, Anchor::Start);
        self.y += 30.0;
    }

    fn scene(&mut self, scene: &Scene) {
        self.tails = [None; 2];
        let lane = usize::from(scene.place != Place::Server);
        if !scene.start.is_empty() {
            self.pill(&scene.start, lane);
            self.y += GAP;
        }
        self.items(&scene.items, lane, None);
        if !scene.start.is_empty() {
            self.y += GAP;
            self.pill(&scene.end, lane);
        }
    }

    /// Items below each other, in a lane or inside a frame.
    fn items(&mut self, items: &[Item], lane: usize, inside: Option<Rect>) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.y += GAP;
            }
            match item {
                Item::Step(step) => self.step(step, lane, inside),
                Item::Frame(frame) => self.frame(frame, lane_of(frame, lane), inside),
                Item::Crossing(crossing) => self.crossing(crossing),
            }
        }
    }

    /// The place of the next thing, with an arrow to it from the last.
    fn place(&mut self, lane: usize, inside: Option<Rect>, height: f64) -> Rect {
        let (x, width) = match inside {
            Some(frame) => (frame.x + FRAME_PAD, frame.width - 2.0 * FRAME_PAD),
            None => self.lanes.column(lane),
        };
        let rect = Rect {
            x,
            y: self.y,
            width,
            height,
        };
        if let Some((x, y)) = self.tails[lane] {
            self.canvas.arrow((x, y), (x, rect.y), colour::LINE, 1.1);
        }
        self.tails[lane] = Some((rect.centre(), rect.bottom()));
        rect
    }

    fn step(&mut self, step: &Step, lane: usize, inside: Option<Rect>) {
        let rect = self.place(lane, inside, BOX);
        self.boxed(rect, step);
        self.y = rect.bottom();
    }

    fn boxed(&mut self, rect: Rect, step: &Step) {
        self.canvas.rect(rect, 4.0, [colour::WHITE, colour::LINE]);
        let y = rect.middle() + 0.35 * TEXT;
        self.canvas
            .math(rect.x + INSET, y, &step.text, BODY, Anchor::Start);
        let x = rect.right() - INSET + 2.0;
        self.canvas.plain(x, y - 1.0, &step.op, OP, Anchor::End);
    }

    /// A value at a lane's end or at a wire's.
    fn pill(&mut self, text: &str, lane: usize) -> Rect {
        let mut rect = self.place(lane, None, BOX);
        let wide = width(text, TEXT) + 2.0 * 18.0;
        rect = Rect {
            x: rect.centre() - wide / 2.0,
            width: wide,
            ..rect
        };
        self.canvas
            .rect(rect, BOX / 2.0, [colour::WHITE, colour::INK]);
        let y = rect.middle() + 0.35 * TEXT;
        self.canvas
            .math(rect.centre(), y, text, BODY, Anchor::Middle);
        self.y = rect.bottom();
        rect
    }

    fn frame(&mut self, frame: &Frame, lane: usize, inside: Option<Rect>) {
        let body = stack(&frame.items);
        let rect = self.place(lane, inside, head_height(frame) + body + FRAME_PAD);
        let colours = match (frame.is_grad, frame.op.as_str()) {
            (true, _) => colour::GRAD,
            (_, "fed.map") => [colour::WHITE, colour::CLIENT[1]],
            _ => colour::LOOP,
        };
        if frame.op == "fed.map" {
            // A stack of sheets: there is one for each client.
            for shift in [8.0, 4.0] {
                let behind = Rect {
                    x: rect.x + shift,
                    y: rect.y + shift,
                    ..rect
                };
                self.canvas.rect(behind, 6.0, colours);
            }
        }
        self.canvas.rect(rect, 6.0, colours);
        let font = Font::new(TEXT, colour::INK).bold();
        let (x, y) = (rect.x + FRAME_PAD, rect.y + FRAME_PAD + 7.0);
        self.canvas.math(x, y, &frame.title, font, Anchor::Start);
        self.canvas
            .plain(rect.right() - FRAME_PAD, y, &frame.op, OP, Anchor::End);
        if !frame.note.is_empty() {
            self.canvas
                .math(x, y + LINE - 1.0, &frame.note, NOTE, Anchor::Start);
        }
        self.y = rect.y + head_height(frame);
        let outer = self.tails[lane].take();
        self.items(&frame.items, lane, Some(rect));
        self.tails[lane] = outer;
        self.y = rect.bottom();
    }

    /// The server's box, a pill for each value on the clients' lane, an arrow for each value.
    fn crossing(&mut self, crossing: &Crossing) {
        let tall = crossing.sent.len() as f64 * (BOX + GAP) - GAP;
        let server = self.place(0, None, tall);
        self.boxed(server, &crossing.server);
        for (index, sent) in crossing.sent.iter().enumerate() {
            if index > 0 {
                self.y = server.y + index as f64 * (BOX + GAP);
                // Values that are sent together have no order.
                self.tails[1] = None;
            }
            let client = self.pill(&sent.name, 1);
            let y = client.middle();
            let (from, to) = match crossing.direction {
                Direction::Down => ((server.right(), y), (client.x, y)),
                Direction::Up => ((client.x, y), (server.right(), y)),
            };
            self.canvas.arrow(from, to, colour::WIRE, 1.8);
            let left = self.lanes.server.0 + self.lanes.server.1;
            let middle = (left + self.lanes.clients.0) / 2.0;
            self.canvas
                .plain(middle, y - 6.0, &sent.derived, NOTE, Anchor::Middle);
            let font = Font::new(SMALL, colour::WIRE).bold();
            self.canvas
                .plain(middle, y + 14.0, &sent.bytes, font, Anchor::Middle);
        }
        self.y = server.bottom();
    }
}
