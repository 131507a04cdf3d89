//! Mathematical text: how it is set and how wide it is.

/// Letters of one style.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    text: String,
    italic: bool,
    shift: Shift,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    None,
    Sub,
    Sup,
}

impl Shift {
    /// Distance below the base line and size, both relative to the font's size.
    fn geometry(self) -> (f64, f64) {
        match self {
            Self::None => (0.0, 1.0),
            Self::Sub => (0.22, 0.74),
            Self::Sup => (-0.36, 0.74),
        }
    }
}

/// Single letters are variables, set in italics; `_k` at a name's end is a subscript.
fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    let mut push = |text: &str, italic: bool, shift: Shift| match runs.last_mut() {
        Some(last) if last.italic == italic && last.shift == shift => last.text += text,
        _ => runs.push(Run {
            text: text.to_owned(),
            italic,
            shift,
        }),
    };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| (c.is_alphanumeric() || c == '_') && superscript(c).is_none();
        let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        if let Some(letter) = superscript(first) {
            push(letter, false, Shift::Sup);
            rest = &rest[first.len_utf8()..];
        } else if end > 0 {
            let (word, after) = rest.split_at(end);
            let (stem, index) = split_index(word);
            push(stem, is_letter(stem), Shift::None);
            if !index.is_empty() {
                push(index, index.starts_with('k'), Shift::Sub);
            }
            rest = after;
        } else {
            let (one, after) = rest.split_at(first.len_utf8());
            push(one, false, Shift::None);
            rest = after;
        }
    }
    runs
}

fn superscript(c: char) -> Option<&'static str> {
    Some(match c {
        'ᵗ' => "t",
        '⁺' => "+",
        '¹' => "1",
        '²' => "2",
        _ => return None,
    })
}

fn is_letter(word: &str) -> bool {
    let mut chars = word.chars();
    let letter = chars.next().is_some_and(|c| c.is_alphabetic() && c != 'Σ');
    letter && chars.next().is_none()
}

/// `w_k2` as `w` and `k2`, `u2` as `u` and `2`; other underscores and digits belong to the name.
fn split_index(word: &str) -> (&str, &str) {
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if let Some((stem, index)) = word.rsplit_once('_')
        && !stem.is_empty()
        && index.strip_prefix('k').is_some_and(is_number)
    {
        return (stem, index);
    }
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if is_letter(stem) {
        word.split_at(stem.len())
    } else {
        (word, "")
    }
}

/// The text as the content of an SVG `text` element.
pub(super) fn markup(text: &str, size: f64) -> String {
    let mut out = String::new();
    let mut at = 0.0;
    // Spaces at the edge of a span are moves: some readers drop them as text.
    let mut space = 0.0;
    for run in runs(text) {
        let (shift, scale) = run.shift.geometry();
        let words = run.text.trim_start_matches(' ');
        space += plain_width(" ", size) * (run.text.len() - words.len()) as f64;
        if words.is_empty() {
            continue;
        }
        let mut style = String::new();
        if run.italic {
            style += " font-style=\"italic\"";
        }
        if scale != 1.0 {
            style += &format!(" font-size=\"{:.1}\"", scale * size);
        }
        if space != 0.0 {
            style += &format!(" dx=\"{space:.1}\"");
        }
        if shift != at {
            style += &format!(" dy=\"{:.1}\"", (shift - at) * size);
        }
        at = shift;
        let text = words.trim_end_matches(' ');
        space = plain_width(" ", size) * (words.len() - text.len()) as f64;
        let text = escape(text);
        out += &if style.is_empty() {
            text
        } else {
            format!("<tspan{style}>{text}</tspan>")
        };
    }
    out
}

/// Text as XML.
pub(super) fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}

/// Width of a mathematical text, at most, in the units of the font's size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let widths = runs(text).into_iter().map(|run| {
        let (_, scale) = run.shift.geometry();
        scale * plain_width(&run.text, size)
    });
    widths.sum()
}

/// Width of a plain text: that of DejaVu Sans, the widest of the fonts that are asked for.
pub(super) fn plain_width(text: &str, size: f64) -> f64 {
    let advance = |c: char| {
        let ascii = (c as usize).checked_sub(32).and_then(|i| ADVANCES.get(i));
        f64::from(ascii.copied().unwrap_or(match c {
            '·' => 318,
            '‖' => 500,
            '⟨' | '⟩' => 390,
            c if c.is_alphabetic() => 680,
            _ => 880,
        }))
    };
    text.chars().map(advance).sum::<f64>() * size / 1000.0
}

/// Advance widths of the printable ASCII characters in DejaVu Sans, in thousandths.
const ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_set_like_a_paper_does() {
        let italic = "font-style=\"italic\"";
        assert_eq!(
            markup("lr · w", 10.0),
            format!("lr ·<tspan {italic} dx=\"3.2\">w</tspan>")
        );
        assert_eq!(
            markup("w_k", 10.0),
            format!(
                "<tspan {italic}>w</tspan><tspan {italic} font-size=\"7.4\" dy=\"2.2\">k</tspan>"
            )
        );
        assert_eq!(
            markup("wᵗ⁺¹ <", 10.0),
            format!(
                "<tspan {italic}>w</tspan><tspan font-size=\"7.4\" dy=\"-3.6\">t+1</tspan><tspan dx=\"3.2\" dy=\"3.6\">&lt;</tspan>"
            )
        );
        assert_eq!(markup("cross_entropy", 10.0), "cross_entropy");
        assert_eq!(split_index("u2"), ("u", "2"));
        assert_eq!(split_index("w_k2"), ("w", "k2"));
        assert_eq!(split_index("l2_norm"), ("l2_norm", ""));
    }

    #[test]
    fn an_index_is_narrower_than_a_letter() {
        assert!(width("w_k", 10.0) < width("wk", 10.0));
        assert_eq!(plain_width("ab", 10.0), 12.48);
    }
}
