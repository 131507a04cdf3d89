//! Shapes and text on a page.

use svg::Document;
use svg::node::Blob;
use svg::node::element::{Element, Path, Rectangle};

use super::text::{escape, markup};

/// Fonts in order of preference.
const SANS: &str = "Helvetica, Arial, 'DejaVu Sans', sans-serif";
const MONO: &str = "Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/// The fill of a rectangle through which one sees what is behind it.
pub(super) const NO_FILL: &str = "none";

/// Colours, all of which differ in grey too.
pub(super) mod colour {
    pub const INK: &str = "#1c2733";
    pub const GREY: &str = "#6a7684";
    pub const LINE: &str = "#8793a0";
    pub const WHITE: &str = "#ffffff";
    pub const SERVER: [&str; 2] = ["#eaf1fa", "#88a5c9"];
    pub const CLIENT: [&str; 2] = ["#edf5ea", "#8fb381"];
    pub const LOOP: [&str; 2] = ["#e0eddb", "#7fa670"];
    pub const GRAD: [&str; 2] = ["#fbf2e3", "#c79a4b"];
    pub const WIRE: &str = "#b3401f";
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn right(self) -> f64 {
        self.x + self.width
    }

    pub fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub fn middle(self) -> f64 {
        self.y + self.height / 2.0
    }

    pub fn centre(self) -> f64 {
        self.x + self.width / 2.0
    }
}

/// Where a text stands with respect to its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Font {
    pub size: f64,
    pub colour: &'static str,
    pub bold: bool,
    pub mono: bool,
}

impl Font {
    pub const fn new(size: f64, colour: &'static str) -> Self {
        Self {
            size,
            colour,
            bold: false,
            mono: false,
        }
    }

    pub const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub const fn mono(mut self) -> Self {
        self.mono = true;
        self
    }
}

/// What is drawn so far, later things over earlier ones.
#[derive(Default)]
pub(super) struct Canvas {
    nodes: Vec<Element>,
}

impl Canvas {
    /// A filled rectangle with rounded corners.
    pub fn rect(&mut self, at: Rect, radius: f64, [fill, line]: [&str; 2]) {
        let rect = Rectangle::new()
            .set("x", number(at.x))
            .set("y", number(at.y))
            .set("width", number(at.width))
            .set("height", number(at.height))
            .set("rx", number(radius))
            .set("fill", fill)
            .set("stroke", line);
        self.nodes.push(rect.into());
    }

    /// Mathematical text on a base line.
    pub fn math(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor) {
        self.text(x, y, markup(text, font.size), font, anchor);
    }

    /// Text as it is, on a base line.
    pub fn plain(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: Anchor) {
        self.text(x, y, escape(text), font, anchor);
    }

    fn text(&mut self, x: f64, y: f64, markup: String, font: Font, anchor: Anchor) {
        let mut element = Element::new("text");
        let set = element.get_attributes_mut();
        set.insert("x".into(), number(x).into());
        set.insert("y".into(), number(y).into());
        set.insert("font-size".into(), number(font.size).into());
        set.insert("fill".into(), font.colour.into());
        if font.bold {
            set.insert("font-weight".into(), "bold".into());
        }
        if font.mono {
            set.insert("font-family".into(), MONO.into());
        }
        let anchor = match anchor {
            Anchor::Start => None,
            Anchor::Middle => Some("middle"),
            Anchor::End => Some("end"),
        };
        if let Some(anchor) = anchor {
            set.insert("text-anchor".into(), anchor.into());
        }
        element.get_children_mut().push(Box::new(Blob::new(markup)));
        self.nodes.push(element);
    }

    /// A path, not filled.
    pub fn path(&mut self, d: &str, colour: &str, width: f64) {
        let path = Path::new()
            .set("d", d)
            .set("fill", "none")
            .set("stroke", colour)
            .set("stroke-width", number(width));
        self.nodes.push(path.into());
    }

    /// A straight arrow, level or upright.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let ((x0, y0), (x1, y1)) = (from, to);
        let length = ((x1 - x0).powi(2) + (y1 - y0).powi(2)).sqrt();
        if length == 0.0 {
            return;
        }
        let (dx, dy) = ((x1 - x0) / length, (y1 - y0) / length);
        let head = (4.0 + 2.0 * width).min(length);
        let (bx, by) = (x1 - head * dx, y1 - head * dy);
        let [x0, y0, x1, y1, mx, my] = [x0, y0, x1, y1, bx, by].map(number);
        self.path(&format!("M{x0} {y0}L{mx} {my}"), colour, width);
        let half = 0.5 * head;
        let [ax, ay, cx, cy] = [
            bx - half * dy,
            by + half * dx,
            bx + half * dy,
            by - half * dx,
        ]
        .map(number);
        let head = Path::new()
            .set("d", format!("M{x1} {y1}L{ax} {ay}L{cx} {cy}Z"))
            .set("fill", colour);
        self.nodes.push(head.into());
    }

    /// The page as a document.
    pub fn finish(self, width: f64, height: f64, title: &str) -> String {
        let mut document = Document::new()
            .set("width", number(width))
            .set("height", number(height))
            .set(
                "viewBox",
                format!("0 0 {} {}", number(width), number(height)),
            )
            .set("font-family", SANS);
        let mut heading = Element::new("title");
        heading
            .get_children_mut()
            .push(Box::new(Blob::new(escape(title))));
        document = document.add(heading);
        let page = Rectangle::new()
            .set("width", number(width))
            .set("height", number(height))
            .set("fill", colour::WHITE);
        document = document.add(page);
        for node in self.nodes {
            document = document.add(node);
        }
        document.to_string() + "\n"
    }
}

/// A coordinate, to a tenth.
pub(super) fn number(x: f64) -> String {
    let text = format!("{x:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
