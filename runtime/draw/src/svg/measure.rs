//! Sizes of the things on the lanes, before they are placed.

use super::scene::{Frame, FrameKind, Item, OpBox, Scene};
use super::text::{plain_width, width};

pub(super) const MARGIN: f64 = 20.0;
pub(super) const BOX: f64 = 30.0;
pub(super) const GAP: f64 = 18.0;
pub(super) const INSET: f64 = 12.0;
/// From a lane's edge to its boxes.
pub(super) const LANE: f64 = 18.0;
pub(super) const FRAME_PAD: f64 = 14.0;
pub(super) const LINE: f64 = 18.0;
pub(super) const TITLE: f64 = 15.0;
pub(super) const TEXT: f64 = 13.0;
pub(super) const SMALL: f64 = 10.5;
pub(super) const TINY: f64 = 9.5;

/// Left edge and width of both lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    pub(super) server: (f64, f64),
    pub(super) clients: (f64, f64),
}

impl Lanes {
    /// As wide as the widest box of each lane and the widest label between them.
    pub(super) fn fit<'s>(scenes: impl Iterator<Item = &'s Scene>) -> Self {
        let mut widths: [f64; 3] = [170.0, 210.0, 120.0];
        for scene in scenes {
            let lane = scene.lane();
            widths[lane] = widths[lane].max(plain_width(&scene.title, SMALL));
            widen(&scene.items, lane, &mut widths);
        }
        let [server, clients, label] = widths;
        let server = (MARGIN, server + 2.0 * LANE);
        let gutter = label + 28.0;
        let clients = (server.0 + server.1 + gutter, clients + 2.0 * LANE);
        Self { server, clients }
    }

    pub(super) fn page(self) -> f64 {
        self.clients.0 + self.clients.1 + MARGIN
    }

    pub(super) fn of(self, lane: usize) -> (f64, f64) {
        if lane == 0 { self.server } else { self.clients }
    }

    /// The column of a lane's boxes.
    pub(super) fn column(self, lane: usize) -> (f64, f64) {
        let (x, width) = self.of(lane);
        (x + LANE, width - 2.0 * LANE)
    }
}

/// Widens the server's lane, the clients' lane and the room between them.
pub(super) fn widen(items: &[Item], lane: usize, widths: &mut [f64; 3]) {
    for item in items {
        match item {
            Item::Frame(frame) if frame.crosses() => {
                // It stands around both lanes, whose boxes it makes narrower on the outer sides.
                let mut inner = [0.0; 3];
                widen(&frame.items, 0, &mut inner);
                inner[0] = (inner[0] + FRAME_PAD).max(head_width(frame) + 2.0 * FRAME_PAD);
                inner[1] += FRAME_PAD;
                for (width, inner) in widths.iter_mut().zip(inner) {
                    *width = width.max(inner);
                }
            }
            Item::Frame(frame) => {
                let lane = lane_of(frame, lane);
                widths[lane] = widths[lane].max(frame_width(frame));
            }
            Item::Op(step) => widths[lane] = widths[lane].max(step_width(step)),
            Item::Crossing(crossing) => {
                let lane = crossing.lane();
                widths[lane] = widths[lane].max(step_width(&crossing.step));
                for sent in &crossing.sent {
                    let label = plain_width(&sent.derived, SMALL);
                    widths[2] = widths[2].max(label.max(width(&sent.bytes, SMALL) * 1.15));
                }
            }
        }
    }
}

pub(super) fn lane_of(frame: &Frame, lane: usize) -> usize {
    match frame.kind {
        FrameKind::Map => usize::from(!frame.on_server),
        FrameKind::Grad | FrameKind::Loop => lane,
    }
}

pub(super) fn step_width(step: &OpBox) -> f64 {
    let op = mono_width(&step.op);
    width(&step.text, TEXT) + op + 2.0 * INSET + if op > 0.0 { 22.0 } else { 0.0 }
}

pub(super) fn mono_width(text: &str) -> f64 {
    0.61 * TINY * text.chars().count() as f64
}

pub(super) fn frame_width(frame: &Frame) -> f64 {
    let inner = frame.items.iter().map(|item| match item {
        Item::Frame(frame) => frame_width(frame),
        Item::Op(step) => step_width(step),
        Item::Crossing(_) => 0.0,
    });
    inner.fold(head_width(frame), f64::max) + 2.0 * FRAME_PAD
}

/// The width of a frame's title with its op, and of its note.
fn head_width(frame: &Frame) -> f64 {
    let head = width(&frame.title, TEXT) * 1.08 + 24.0 + mono_width(&frame.op);
    head.max(width(&frame.note, SMALL))
}

pub(super) fn head_height(frame: &Frame) -> f64 {
    FRAME_PAD + LINE * if frame.note.is_empty() { 1.0 } else { 2.0 }
}

/// The height of a frame with what is in it.
pub(super) fn height_of(frame: &Frame) -> f64 {
    head_height(frame) + stack(&frame.items) + FRAME_PAD
}

pub(super) fn height(item: &Item) -> f64 {
    match item {
        Item::Op(_) => BOX,
        Item::Frame(frame) => height_of(frame),
        Item::Crossing(crossing) => crossing.sent.len() as f64 * (BOX + GAP) - GAP,
    }
}

pub(super) fn stack(items: &[Item]) -> f64 {
    let heights: f64 = items.iter().map(height).sum();
    heights + GAP * items.len().saturating_sub(1) as f64
}
