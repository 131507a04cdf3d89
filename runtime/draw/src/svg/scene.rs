//! The things that are drawn of a fed module: boxes, frames and crossings.

use fedround_ir::fed::Place;
use fedround_passes::report::Direction;

/// One thing on a lane.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// An op, or the values that a region gives.
    Op(OpBox),
    /// A region.
    Frame(Frame),
    /// Values that cross between the lanes, or from clients to clients.
    Crossing(Crossing),
}

#[derive(Clone, Debug)]
pub(super) struct OpBox {
    pub text: String,
    /// The op's name; empty for a line that names a value anew.
    pub op: String,
}

/// The regions that are drawn unlike the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The loss of a gradient.
    Grad,
    /// The code of each client of a cohort, or the server's for each of them.
    Map,
    /// A loop, or whatever else has a region.
    Loop,
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub title: String,
    /// What its variables start from.
    pub note: String,
    pub op: String,
    pub kind: FrameKind,
    /// Whether it is the server's work for each client.
    pub on_server: bool,
    pub items: Vec<Item>,
}

impl Frame {
    /// Whether it is a loop of the server in which clients take part.
    pub fn crosses(&self) -> bool {
        self.kind == FrameKind::Loop
            && self.items.iter().any(|item| match item {
                Item::Op(_) => false,
                Item::Crossing(_) => true,
                Item::Frame(frame) => {
                    frame.crosses() || (frame.kind == FrameKind::Map && !frame.on_server)
                }
            })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Crossing {
    pub direction: Direction,
    /// What the server does; of what goes across, what the clients do.
    pub step: OpBox,
    /// What crosses.
    pub sent: Vec<Sent>,
}

#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub name: String,
    pub derived: String,
    pub bytes: String,
}

impl Crossing {
    /// The lane of its box.
    pub fn lane(&self) -> usize {
        usize::from(self.direction == Direction::Across)
    }
}

/// A function's items, with its title and where it runs.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub title: String,
    pub place: Place,
    /// The parameters that a round starts from; empty for what is no round.
    pub start: String,
    pub items: Vec<Item>,
    /// Those that it ends with.
    pub end: String,
}

impl Scene {
    /// The lane that it begins on.
    pub fn lane(&self) -> usize {
        usize::from(self.place != Place::Server)
    }
}
