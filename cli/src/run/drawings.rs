//! The drawings of a run: its learning curves, and the accuracy of each class.

use fedround::experiment::{Report, Round, Scores};

use crate::error::CliError;
use crate::plot::{Axis, Chart, HeatMap, PhaseMark, Series, text};

/// A quantity of a round; of a line of the drawing there are an accuracy and a loss.
type Value = fn(&Round) -> Option<f64>;
const LINES: [(&str, Value, Value); 4] = [
    (
        "server's model",
        |round| Some(server(round)?.accuracy),
        |round| Some(server(round)?.loss),
    ),
    (
        "clients' own data",
        |round| Some(round.scores.as_ref()?.local?.mean),
        client_loss,
    ),
    ("validation", |round| round.validation_accuracy, |_| None),
    ("training", |_| None, |round| Some(round.train_loss)),
];

/// Draws accuracies and losses over rounds, and where phases begin. `None` for a run that has none of
/// them.
pub(super) fn learning_curves(
    report: &Report,
    phases: &[PhaseMark],
) -> Result<Option<String>, CliError> {
    let of = |name: &str, value: Value| {
        let points = report.history.iter();
        let points = points.filter_map(|round| Some((round.number as f64, value(round)?)));
        Series::line(name, points.filter(|(_, y)| y.is_finite()).collect())
    };
    let both = LINES.map(|(name, accuracy, loss)| (of(name, accuracy), of(name, loss)));
    let both = both.into_iter();
    // A name has the same style in both charts.
    let (accuracies, losses): (Vec<Series>, Vec<Series>) = both
        .filter(|(accuracy, loss)| !accuracy.points.is_empty() || !loss.points.is_empty())
        .unzip();
    if accuracies.is_empty() {
        return Ok(None);
    }
    let charts = [
        (Axis::Share("accuracy"), &*accuracies),
        (Axis::Number("loss"), &*losses),
    ];
    let charts = charts.map(|(y, series)| (Chart::rounds(y).with_phases(phases), series));
    Ok(Some(text(&charts)?))
}

/// Draws the accuracy of each class, by row, at each evaluation; nothing of data without classes.
pub(super) fn classes(report: &Report, names: &[String]) -> Result<Option<String>, CliError> {
    let tested = report.history.iter();
    let tested: Vec<_> = tested
        .filter_map(|r| Some((r.number, server(r)?)))
        .collect();
    let rows: Vec<Vec<Option<f64>>> = (0..names.len())
        .map(|class| {
            let own = tested.iter();
            own.map(|(_, scores)| scores.class_accuracy.get(class).copied())
                .collect()
        })
        .collect();
    if rows.iter().flatten().flatten().next().is_none() {
        return Ok(None);
    }
    let rounds: Vec<String> = tested.iter().map(|(round, _)| round.to_string()).collect();
    let map = HeatMap {
        title: "test accuracy of each class",
        columns_are: "round",
        rows: names,
        columns: &rounds,
        values: &rows,
        ends: ("0 %", "100 %"),
    };
    map.text().map(Some)
}

/// The scores of the server's model, where somebody trained all of it.
fn server(round: &Round) -> Option<&Scores> {
    round.scores.as_ref().filter(|scores| scores.server_trained)
}

/// The mean over clients of the loss on their own test examples, where it was asked for.
fn client_loss(round: &Round) -> Option<f64> {
    let each = round.scores.as_ref()?.each.as_ref()?;
    let losses = each.clients.values().map(|score| score.loss);
    (!each.clients.is_empty()).then(|| losses.sum::<f64>() / each.clients.len() as f64)
}
