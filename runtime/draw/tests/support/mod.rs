//! Checks that every drawing must pass.

use std::collections::HashSet;

use fedround_ir::fed::Module;

/// Compares with `snapshots/draw/<case>.snap`.
pub fn snapshot(case: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../../snapshots/draw");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(case, text));
}

/// The texts of a drawing, spans joined.
pub fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let elements = document.descendants().filter(|n| n.has_tag_name("text"));
    let text = elements.map(|n| {
        let parts = n.descendants().filter(roxmltree::Node::is_text);
        parts.filter_map(|p| p.text()).collect::<String>()
    });
    text.map(|t| t.trim().to_owned()).collect()
}

/// The same without spaces: those between letters of two styles are distances.
pub fn spaceless(svg: &str) -> Vec<String> {
    let texts = texts(svg).into_iter();
    texts.map(|text| text.replace(' ', "")).collect()
}

/// The fed module of a text.
pub fn parsed(text: &str) -> Module {
    match fedround_ir::text::parse(text).unwrap() {
        fedround_ir::text::Document::Fed(module) => module,
        fedround_ir::text::Document::Tensor(_) => panic!("a tensor text"),
    }
}

/// A rectangle of a drawing.
#[derive(Clone, Copy, Debug)]
pub struct Rect {
    pub x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// Of its corners, which only lanes have of 8.
    pub radius: f64,
    pub filled: bool,
}

impl Rect {
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    fn bottom(&self) -> f64 {
        self.y + self.height
    }

    fn inside(&self, other: &Self) -> bool {
        self.x >= other.x
            && self.y >= other.y
            && self.right() <= other.right()
            && self.bottom() <= other.bottom()
    }

    fn apart(&self, other: &Self) -> bool {
        self.x >= other.right()
            || other.x >= self.right()
            || self.y >= other.bottom()
            || other.y >= self.bottom()
    }

    /// Whether they are sheets of one stack: equal, and shifted.
    fn stacked(&self, other: &Self) -> bool {
        let alike = |a: f64, b: f64| (a - b).abs() < 0.11;
        (self.x - other.x).abs() <= 8.1
            && alike(self.width, other.width)
            && alike(self.height, other.height)
    }
}

fn number(node: &roxmltree::Node, name: &str) -> f64 {
    node.attribute(name).map_or(0.0, |v| v.parse().unwrap())
}

/// The rectangles of a drawing, later ones over earlier ones.
pub fn rects(svg: &str) -> Vec<Rect> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants();
    let rects = nodes.filter(|node| node.has_tag_name("rect"));
    let rect = |node: roxmltree::Node| {
        let number = |name| number(&node, name);
        Rect {
            x: number("x"),
            y: number("y"),
            width: number("width"),
            height: number("height"),
            radius: number("rx"),
            filled: node.attribute("fill") != Some("none"),
        }
    };
    rects.map(rect).collect()
}

/// Well-formed, everything on the page, and of two boxes one lies inside the other or both apart. Sheets of
/// a stack are excepted, and a frame without a fill, which stands around both lanes, may cross them.
pub fn check_svg(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let root = document.root_element();
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    for node in root.descendants().filter(|n| n.has_tag_name("text")) {
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y));
    }
    let boxes = rects(svg);
    assert!(boxes.len() > 1);
    for (i, a) in boxes.iter().enumerate() {
        assert!(a.x >= 0.0 && a.y >= 0.0 && a.right() <= width && a.bottom() <= height);
        for b in &boxes[..i] {
            let around = !a.filled && b.radius == 8.0;
            let nested = a.inside(b) || b.inside(a);
            // What is inside the front sheet lies over those behind it too.
            let over_stack = boxes
                .iter()
                .any(|front| a.inside(front) && b.x - front.x <= 8.1 && front.stacked(b));
            assert!(
                a.apart(b) || nested || around || a.stacked(b) || over_stack,
                "{a:?} and {b:?} overlap"
            );
        }
    }
}

/// Balanced, and every edge joins two nodes that are declared, each once.
pub fn check_dot(dot: &str) {
    let mut depth = 0_i32;
    let mut quoted = false;
    let mut escaped = false;
    for c in dot.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth -= 1,
            _ => {}
        }
        assert!(depth >= 0);
    }
    assert!(depth == 0 && !quoted, "{dot}");
    let mut nodes = HashSet::new();
    let mut ends = vec![];
    for line in dot.lines().map(str::trim) {
        if let Some((from, to)) = line.split_once(" -> ") {
            let to = to.split([' ', ';']).next().unwrap();
            ends.extend([from.to_owned(), to.to_owned()]);
        } else if let Some((id, _)) = line.split_once(" [label=") {
            assert!(nodes.insert(id.to_owned()), "{id} is declared twice");
        }
    }
    assert!(!ends.is_empty());
    for end in ends {
        assert!(nodes.contains(&end), "{end} is not declared");
    }
}
