//! The accuracy of each class over the rounds of a run.

use fedround::experiment::Report;

use crate::plot::Series;

/// The accuracy of each class over the rounds in which it was measured; none of data without classes.
pub(super) fn class_curves(report: &Report, names: &[String]) -> Vec<Series> {
    let points = |class: usize| -> Vec<(f64, f64)> {
        let tested = report.history.iter();
        let tested = tested.filter_map(|r| {
            let scores = r.scores.as_ref().filter(|scores| scores.server_trained);
            Some((r.number as f64, scores?))
        });
        let own = tested.filter_map(|(x, s)| Some((x, *s.class_accuracy.get(class)?)));
        own.collect()
    };
    let series = names.iter().enumerate().map(|(class, name)| Series {
        name: name.clone(),
        points: points(class),
    });
    series.filter(|series| !series.points.is_empty()).collect()
}
