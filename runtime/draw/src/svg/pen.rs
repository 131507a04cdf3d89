//! Places the things of a scene on both lanes, and draws them.

use fedround_passes::report::Direction;

use super::canvas::{Anchor, Canvas, Font, NO_FILL, Rect, colour};
use super::measure::{
    BOX, FRAME_PAD, GAP, INSET, LANE, LINE, Lanes, MARGIN, SMALL, TEXT, TINY, TITLE, head_height,
    height_of, lane_of, stack,
};
use super::scene::{Crossing, Frame, FrameKind, Item, OpBox, Scene};
use super::text::width;

const BODY: Font = Font::new(TEXT, colour::INK);
const OP: Font = Font::new(TINY, colour::GREY).mono();
pub(super) const NOTE: Font = Font::new(SMALL, colour::GREY);

pub(super) struct Pen {
    pub(super) canvas: Canvas,
    lanes: Lanes,
    /// Left edge and width of the boxes of each lane, narrower inside a loop around both lanes.
    columns: [(f64, f64); 2],
    y: f64,
    /// Where the last thing of each lane ends, for the arrow to the next.
    tails: [Option<(f64, f64)>; 2],
}

impl Pen {
    pub(super) fn new(lanes: Lanes) -> Self {
        Self {
            canvas: Canvas::default(),
            lanes,
            columns: [lanes.column(0), lanes.column(1)],
            y: MARGIN,
            tails: [None; 2],
        }
    }

    /// Draws everything below a height; gives that of its end.
    pub(super) fn page(&mut self, scenes: &[Scene], above: f64) -> f64 {
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
        let top = above + MARGIN + if many { 0.0 } else { 28.0 };
        let bottom = top + 34.0 + content + 6.0;
        if let ([only], false) = (scenes, many) {
            let font = Font::new(TITLE, colour::INK).bold();
            let x = self.lanes.page() / 2.0;
            self.canvas
                .plain(x, above + MARGIN + 12.0, &only.title, font, Anchor::Middle);
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
        let lane = scene.lane();
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
        let lane = scene.lane();
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
                Item::Op(step) => self.step(step, lane, inside),
                Item::Frame(frame) if frame.crosses() => self.around_both(frame),
                Item::Frame(frame) => self.frame(frame, lane_of(frame, lane), inside),
                Item::Crossing(crossing) => self.crossing(crossing),
            }
        }
    }

    /// The place of the next thing, with an arrow to it from the last.
    fn place(&mut self, lane: usize, inside: Option<Rect>, height: f64) -> Rect {
        let (x, width) = match inside {
            Some(frame) => (frame.x + FRAME_PAD, frame.width - 2.0 * FRAME_PAD),
            None => self.columns[lane],
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

    fn step(&mut self, step: &OpBox, lane: usize, inside: Option<Rect>) {
        let rect = self.place(lane, inside, BOX);
        self.boxed(rect, step);
        self.y = rect.bottom();
    }

    fn boxed(&mut self, rect: Rect, step: &OpBox) {
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
        let rect = self.place(lane, inside, height_of(frame));
        let colours = match frame.kind {
            FrameKind::Grad => colour::GRAD,
            FrameKind::Map => [colour::WHITE, [colour::SERVER[1], colour::CLIENT[1]][lane]],
            FrameKind::Loop => colour::LOOP,
        };
        if frame.kind == FrameKind::Map {
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
        self.head(frame, rect);
        let outer = self.tails[lane].take();
        self.items(&frame.items, lane, Some(rect));
        self.tails[lane] = outer;
        self.y = rect.bottom();
    }

    /// A loop of the server in which clients take part. The lanes show through its frame.
    fn around_both(&mut self, frame: &Frame) {
        let outer = self.columns;
        let [(left, server), (right, clients)] = outer;
        let rect = Rect {
            x: left,
            y: self.y,
            width: right + clients - left,
            height: height_of(frame),
        };
        if let Some((x, y)) = self.tails[0] {
            self.canvas.arrow((x, y), (x, rect.y), colour::LINE, 1.1);
        }
        self.canvas.rect(rect, 6.0, [NO_FILL, colour::LOOP[1]]);
        self.head(frame, rect);
        self.columns = [
            (left + FRAME_PAD, server - FRAME_PAD),
            (right, clients - FRAME_PAD),
        ];
        self.tails = [None; 2];
        self.items(&frame.items, 0, None);
        self.columns = outer;
        self.tails = [Some((left + server / 2.0, rect.bottom())), None];
        self.y = rect.bottom();
    }

    /// A frame's title, its op and its note. What is next stands below them.
    fn head(&mut self, frame: &Frame, rect: Rect) {
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
    }

    /// The server's box, a pill for each value on the clients' lane, an arrow for each value. What clients
    /// send to each other is a box on their lane, which an arrow for each value leaves and comes back to.
    fn crossing(&mut self, crossing: &Crossing) {
        let tall = crossing.sent.len() as f64 * (BOX + GAP) - GAP;
        let step = self.place(crossing.lane(), None, tall);
        self.boxed(step, &crossing.step);
        for (index, sent) in crossing.sent.iter().enumerate() {
            if index > 0 {
                self.y = step.y + index as f64 * (BOX + GAP);
            }
            let y = self.y + BOX / 2.0;
            let (from, to) = match crossing.direction {
                Direction::Across => {
                    let (x, out) = (step.x, step.x - LANE + 4.0);
                    let way = format!("M{x:.1} {:.1}H{out:.1}V{:.1}", y - 6.0, y + 6.0);
                    self.canvas.path(&way, colour::WIRE, 1.8);
                    ((out, y + 6.0), (x, y + 6.0))
                }
                direction => {
                    if index > 0 {
                        // Values that are sent together have no order.
                        self.tails[1] = None;
                    }
                    let client = self.pill(&sent.name, 1);
                    match direction {
                        Direction::Down => ((step.right(), y), (client.x, y)),
                        _ => ((client.x, y), (step.right(), y)),
                    }
                }
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
        self.y = step.bottom();
    }
}
