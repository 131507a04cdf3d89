//! Checks that every drawing must pass.

use std::collections::HashSet;

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

/// Well-formed, everything on the page, and of two boxes one lies inside the other or both apart
/// (sheets of a stack excepted: equal boxes, shifted).
pub fn check_svg(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let root = document.root_element();
    let number = |node: &roxmltree::Node, name: &str| -> f64 {
        node.attribute(name).map_or(0.0, |v| v.parse().unwrap())
    };
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    let mut boxes = vec![];
    for node in root.descendants() {
        match node.tag_name().name() {
            "rect" => {
                let [x, y] = ["x", "y"].map(|name| number(&node, name));
                let [w, h] = ["width", "height"].map(|name| number(&node, name));
                assert!(x >= 0.0 && y >= 0.0 && x + w <= width && y + h <= height);
                boxes.push([x, y, x + w, y + h]);
            }
            "text" => {
                let (x, y) = (number(&node, "x"), number(&node, "y"));
                assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y));
            }
            _ => {}
        }
    }
    assert!(boxes.len() > 1);
    let size = |b: &[f64; 4]| ((b[2] - b[0]) * 10.0).round() + ((b[3] - b[1]) * 1e7).round();
    let inside =
        |a: &[f64; 4], b: &[f64; 4]| a[0] >= b[0] && a[1] >= b[1] && a[2] <= b[2] && a[3] <= b[3];
    for (i, a) in boxes.iter().enumerate() {
        for b in &boxes[..i] {
            let apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
            let stacked = (a[0] - b[0]).abs() <= 8.1 && (size(a) - size(b)).abs() < 1e7;
            // What is inside the front sheet lies over those behind it too.
            let over_stack = boxes.iter().any(|front| {
                inside(a, front) && (b[0] - front[0]) <= 8.1 && (size(front) - size(b)).abs() < 1e7
            });
            assert!(
                apart || inside(a, b) || inside(b, a) || stacked || over_stack,
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
