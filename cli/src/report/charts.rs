//! Curves in a page: means over runs, with bands.

use fedround::experiment::Status;
use fedround_metrics::paired::mean_interval;
use fedround_metrics::progress::Point;
use maud::{Markup, PreEscaped, html};

use crate::compare::{Line, Record, in_common};
use crate::error::CliError;
use crate::plot::{Chart, LineStyle, Series, panel};

/// Runs under one name: those of an algorithm, one for each seed.
pub(super) struct Group {
    pub name: String,
    pub runs: Vec<Record>,
}

impl Group {
    /// The complete runs.
    pub fn complete(&self) -> Vec<&Record> {
        let runs = self.runs.iter();
        runs.filter(|run| run.status == Status::Complete).collect()
    }

    /// All runs, how ever they ended.
    pub fn all(&self) -> Vec<&Record> {
        self.runs.iter().collect()
    }

    /// The mean accuracy of what the algorithm trains: where phases train different models, of those that
    /// its last accuracy is of.
    pub fn accuracy(&self, x: fn(&Point) -> f64) -> Series {
        let last = self.complete().first().map(|run| run.accuracy_of);
        let any = self.runs.first().map(|run| run.accuracy_of);
        let of = last.or(any).unwrap_or_default();
        self.mean(x, |line| line.accuracy_as(of))
    }

    /// The mean of a quantity over the complete runs, or all runs where none is complete, with Student's
    /// 95 % interval at each round that all of them have.
    pub fn mean(&self, x: fn(&Point) -> f64, y: impl Fn(&Line) -> Option<f64>) -> Series {
        let complete = self.complete();
        let runs = match complete.is_empty() {
            true => self.all(),
            false => complete,
        };
        let curves: Vec<_> = runs.iter().map(|run| run.points(&y)).collect();
        let mut series = Series::line(self.name.as_str(), vec![]);
        for here in in_common(&curves) {
            let mean = |of: fn(&Point) -> f64| here.iter().map(of).sum::<f64>() / here.len() as f64;
            let ys: Vec<f64> = here.iter().map(|point| point.value).collect();
            let (x, y) = (mean(x), mean(|point| point.value));
            series.points.push((x, y));
            series.band.push(mean_interval(&ys).unwrap_or((y, y)));
        }
        series
    }
}

/// A chart under a title, unless nothing is known of any series; each keeps its place and so its style.
/// `named` charts name their series.
pub(super) fn chart(
    title: &str,
    chart: Chart<'_>,
    series: &[Series],
    named: bool,
) -> Result<Option<Markup>, CliError> {
    if series.iter().all(|one| one.points.is_empty()) {
        return Ok(None);
    }
    let drawing = plot(&panel(chart, series)?);
    let names = series.iter().enumerate();
    let names = names.filter(|(_, one)| named && !one.points.is_empty());
    let names: Vec<_> = names.map(|(i, one)| (i, one.name.as_str())).collect();
    Ok(Some(html! {
        figure { figcaption { (title) } (drawing) @if named { (legend(&names)) } }
    }))
}

/// A quantity of several groups in a chart over rounds.
pub(super) fn over_rounds(
    title: &str,
    drawn: Chart<'_>,
    groups: &[Group],
    value: impl Fn(&Line) -> Option<f64>,
) -> Result<Option<Markup>, CliError> {
    let series: Vec<Series> = groups
        .iter()
        .map(|group| group.mean(|point| point.round as f64, &value))
        .collect();
    chart(title, drawn, &series, false)
}

/// A drawing of ours, for the page's colours.
pub(super) fn plot(svg: &str) -> Markup {
    PreEscaped(svg.replacen("<svg ", "<svg class=\"plot\" role=\"img\" ", 1))
}

/// Names beside pieces of their lines.
pub(super) fn legend(names: &[(usize, &str)]) -> Markup {
    html! {
        ul.legend {
            @for (i, name) in names {
                li {
                    @let LineStyle { colour, dash } = LineStyle::nth(*i);
                    @let dashes = dash.map(|(dash, gap)| format!("{dash} {gap}"));
                    svg viewBox="0 0 28 10" aria-hidden="true" {
                        line x1="0" y1="5" x2="28" y2="5" stroke-width="3"
                            stroke=(format!("rgb({},{},{})", colour.0, colour.1, colour.2))
                            stroke-dasharray=[dashes] {}
                    }
                    (name)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_rounds_that_all_runs_have() {
        let run = |accuracies: &[(usize, f64)]| {
            let line = |&(round, accuracy): &(usize, f64)| Line {
                round,
                accuracy: Some(accuracy),
                ..Line::default()
            };
            Record::of_lines(accuracies.iter().map(line).collect())
        };
        let group = Group {
            name: "a".into(),
            runs: vec![
                run(&[(2, 0.25), (4, 0.5), (6, 0.9)]),
                run(&[(2, 0.75), (4, 0.5)]),
            ],
        };
        let series = group.mean(|line| line.round as f64, |line| line.accuracy);
        assert_eq!(series.points, [(2.0, 0.5), (4.0, 0.5)]);
        assert_eq!(series.band[1], (0.5, 0.5));
        // Two values: 12.7 standard errors of 0.25.
        assert!((series.band[0].1 - (0.5 + 0.25 * 12.706_204_7)).abs() < 1e-6);
    }
}
