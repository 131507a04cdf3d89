//! Where phases of an algorithm begin, as dashed upright lines with the phases' names.

use plotters::coord::types::RangedCoordf64;
use plotters::element::{DashedPathElement, EmptyElement};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Drawn, FONT, LETTER};

/// Names nearer than this, in pixels, stand below each other.
const NEAR: i32 = 15;

type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;

/// The beginning of a phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseMark {
    /// The last round before it, of which the values are known when it begins.
    pub after: usize,
    pub name: String,
}

impl PhaseMark {
    /// The marks of rounds in order, each with its phase; none for an algorithm without phases.
    pub fn of<'n>(rounds: impl Iterator<Item = (usize, Option<&'n str>)>) -> Vec<Self> {
        let mut marks: Vec<Self> = vec![];
        for (round, phase) in rounds {
            let Some(name) = phase else { continue };
            if marks.last().is_none_or(|last| last.name != name) {
                marks.push(Self {
                    after: round.saturating_sub(1),
                    name: name.to_owned(),
                });
            }
        }
        marks
    }
}

/// Draws marks into a chart whose vertical axis has this range.
pub(super) fn draw(
    context: &mut ChartContext<'_, SVGBackend<'_>, Plane>,
    marks: &[PhaseMark],
    (low, high): (f64, f64),
) -> Drawn {
    let style = FONT.into_font().transform(FontTransform::Rotate90);
    // Turned clockwise, the bottom of the letters is on the line.
    let colour = BLACK.mix(0.7);
    let style = TextStyle::from(style).color(&colour);
    let style = style.pos(Pos::new(HPos::Left, VPos::Bottom));
    let bottom = context.backend_coord(&(0.0, low)).1;
    let mut last: Option<(i32, i32)> = None;
    for mark in marks {
        let at = mark.after as f64;
        let pen = BLACK.mix(0.4).stroke_width(1);
        let line = DashedPathElement::new([(at, low), (at, high)], 3, 3, pen);
        context.draw_series([line])?;
        let (x, top) = context.backend_coord(&(at, high));
        let start = match last {
            Some((before, end)) if x - before < NEAR => end,
            _ => top + 4,
        };
        let end = start + (LETTER * (mark.name.chars().count() + 1)) as i32;
        last = Some((x, end));
        // A name that does not fit is left out; its line is there.
        if end <= bottom {
            let name = Text::new(mark.name.clone(), (3, start - top), style.clone());
            context.draw_series([EmptyElement::at((at, high)) + name])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_begins_after_the_last_round_of_the_one_before() {
        let phases = ["distill", "distill", "share", "train", "train"];
        let rounds = (1..).zip(phases.map(Some));
        let marks: Vec<_> = PhaseMark::of(rounds)
            .into_iter()
            .map(|mark| (mark.after, mark.name))
            .collect();
        let expected = [(0, "distill"), (2, "share"), (3, "train")];
        assert_eq!(
            marks,
            expected.map(|(after, name)| (after, name.to_owned()))
        );
        assert_eq!(PhaseMark::of([(1, None), (2, None)].into_iter()), []);
    }
}
