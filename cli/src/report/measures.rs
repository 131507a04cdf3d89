//! Measures that only some runs have: those of texts and answers, of evaluations with a name, and of
//! domains.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::charts::Group;
use super::page::{section, table};
use super::tiles;
use crate::compare::{Line, Record, Score, Spread};
use crate::plot::Axis;
use crate::terminal::percent;

/// Domains that are drawn; the table has all.
const DOMAINS: usize = 8;

/// A number that a round may have.
type Value = dyn Fn(&Line) -> Option<f64>;

/// A quantity over rounds that a chart of its own shows.
pub(super) struct Measure {
    pub title: String,
    pub axis: Axis<'static>,
    pub value: Box<Value>,
}

impl Measure {
    fn new(
        title: impl Into<String>,
        axis: Axis<'static>,
        value: impl Fn(&Line) -> Option<f64> + 'static,
    ) -> Self {
        Self {
            title: title.into(),
            axis,
            value: Box::new(value),
        }
    }
}

/// All that one of the runs may have.
pub(super) fn of_runs(groups: &[Group]) -> Vec<Measure> {
    let share = Axis::Share("accuracy");
    let bleu = |n: usize| {
        Measure::new(
            format!("BLEU-{} of the test set", n + 1),
            Axis::Share("BLEU"),
            move |line| line.test_bleu.as_ref()?[n],
        )
    };
    let mut measures = vec![
        Measure::new(
            "Perplexity of the test set",
            Axis::Number("perplexity"),
            |line| line.test_perplexity,
        ),
        Measure::new(
            "Area under the ROC curve, test set",
            Axis::Share("AUC"),
            |line| line.test_auc,
        ),
        Measure::new(
            "Area under the ROC curve, clients' own tests",
            Axis::Share("AUC"),
            |line| Some(line.local_auc?.mean),
        ),
        bleu(0),
        bleu(3),
        Measure::new("VQA accuracy", share, |line| line.test_vqa_accuracy),
    ];
    for name in names(groups, |line| line.evaluations.keys()) {
        measures.push(Measure::new(
            format!("Evaluation {name}"),
            share,
            move |line| Some(line.evaluations.get(&name)?.mean),
        ));
    }
    for name in domains(groups).into_iter().take(DOMAINS) {
        measures.push(Measure::new(format!("Domain {name}"), share, move |line| {
            line.domains.get(&name)?.accuracy
        }));
    }
    measures
}

/// The names of domains that runs know.
pub(super) fn domains(groups: &[Group]) -> Vec<String> {
    names(groups, |line| line.domains.keys())
}

/// All names that a round of any run has.
fn names<'g, K: Iterator<Item = &'g String>>(
    groups: &'g [Group],
    of: impl Fn(&'g Line) -> K,
) -> Vec<String> {
    let lines = groups
        .iter()
        .flat_map(|group| &group.runs)
        .flat_map(|run| &run.lines);
    let names: BTreeSet<&String> = lines.flat_map(of).collect();
    names.into_iter().cloned().collect()
}

/// Which runs of an algorithm a table is about.
type Counted = fn(&Group) -> Vec<&Record>;

/// A number of the last evaluation that has it, its mean over runs of an algorithm.
fn last(runs: &[&Record], value: impl Fn(&Line) -> Option<f64>) -> Option<f64> {
    let of = |run: &&Record| run.lines.iter().rev().find_map(&value);
    Some(Spread::of(runs.iter().filter_map(of))?.mean)
}

/// Tables of the algorithms' last numbers, over the runs of them that count: a column each.
pub(super) fn sections(groups: &[Group], counted: Counted) -> Vec<Markup> {
    [evaluations(groups, counted), of_domains(groups, counted)]
        .into_iter()
        .flatten()
        .collect()
}

/// A part on each evaluation with a name; nothing where no algorithm has one.
fn evaluations(groups: &[Group], counted: Counted) -> Option<Markup> {
    let row = |name: String| {
        let own = groups.iter().map(|group| {
            last(&counted(group), |line| {
                Some(line.evaluations.get(&name)?.mean)
            })
        });
        let own: Vec<Option<f64>> = own.collect();
        (name, own)
    };
    let rows = names(groups, |line| line.evaluations.keys()).into_iter();
    let rows: Vec<_> = rows.map(row).collect();
    let about =
        "Mean accuracy over clients in each of the algorithm's own evaluations, at the last one.";
    (!rows.is_empty()).then(|| {
        section(
            "Evaluations",
            html! { p.note { (about) } (tiles::table("evaluation", groups, &rows)) },
        )
    })
}

/// Accuracy and loss of each domain; nothing of data without domains.
fn of_domains(groups: &[Group], counted: Counted) -> Option<Markup> {
    let names = domains(groups);
    let of = |name: &str, value: fn(&Score) -> Option<f64>| -> Vec<Option<f64>> {
        let own = groups
            .iter()
            .map(|group| last(&counted(group), |line| value(line.domains.get(name)?)));
        own.collect()
    };
    let accuracy = |name: &String| (name.clone(), of(name, |score| score.accuracy));
    let loss = |name: &String| (name.clone(), of(name, |score| score.loss));
    let about = "Test examples of each domain, each with the model of its client, at the last evaluation: accuracy, then the loss in nats.";
    (!names.is_empty()).then(|| {
        let accuracies: Vec<_> = names.iter().map(accuracy).collect();
        let losses: Vec<_> = names.iter().map(loss).collect();
        section(
            "Domains",
            html! {
                p.note { (about) }
                (tiles::table("domain", groups, &accuracies))
                (losses_table("domain", groups, &losses))
            },
        )
    })
}

/// A table of losses, by row and then by group.
pub(super) fn losses_table(
    corner: &str,
    groups: &[Group],
    rows: &[(String, Vec<Option<f64>>)],
) -> Markup {
    let columns = groups.iter().map(|group| group.name.as_str());
    let header: Vec<&str> = [corner].into_iter().chain(columns).collect();
    let cell = |loss: &Option<f64>| loss.map_or("-".to_owned(), |loss| format!("{loss:.4}"));
    let row = |(name, losses): &(String, Vec<Option<f64>>)| {
        let cells = losses.iter().map(cell);
        [name.clone()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    html! { div.scroll { (table(&header, &rows)) } }
}

/// The last ones of a run, for the top of its page.
pub(super) fn facts(run: &Record) -> Vec<(String, String)> {
    let mut facts = vec![];
    if let Some(perplexity) = run.perplexity {
        facts.push(("perplexity".to_owned(), format!("{perplexity:.3}")));
    }
    if let Some(auc) = run.auc {
        facts.push(("AUC of the test set".to_owned(), percent(auc)));
    }
    if let Some(local) = run.local_auc {
        facts.push(("AUC of clients' tests".to_owned(), percent(local.mean)));
    }
    if let Some(all) = run.bleu {
        let score = |score: Option<f64>| score.map_or("-".to_owned(), percent);
        facts.push(("BLEU-1".to_owned(), score(all[0])));
        facts.push(("BLEU-4".to_owned(), score(all[3])));
    }
    if let Some(accuracy) = run.vqa_accuracy {
        facts.push(("VQA accuracy".to_owned(), percent(accuracy)));
    }
    let own = run.evaluations.iter();
    facts.extend(own.map(|(name, local)| (format!("evaluation {name}"), percent(local.mean))));
    facts
}

#[cfg(test)]
mod tests {
    use fedround::experiment::Status;

    use super::*;

    #[test]
    fn what_a_run_has_is_shown_and_nothing_else() {
        let line = |round: usize, extra: &str| -> Line {
            let text = format!(r#"{{"round": {round}, "bytes_up": 0, "bytes_down": 0{extra}}}"#);
            serde_json::from_str(&text).unwrap()
        };
        let evaluated = r#", "evaluations": {"fine-tuned": {"mean": 0.75}}, "test_auc": 0.9, "test_bleu": [0.5, 0.4, 0.3, null]"#;
        let group = |name: &str, lines: Vec<Line>| Group {
            name: name.to_owned(),
            runs: vec![Record::of_lines(lines)],
        };
        let groups = [
            group("tuned", vec![line(1, evaluated), line(2, "")]),
            group("plain", vec![line(1, "")]),
        ];
        let drawn = |measure: &Measure| {
            groups[0]
                .mean(|line| line.round as f64, &measure.value)
                .points
                .len()
        };
        let measures = of_runs(&groups);
        let drawn: Vec<(&str, usize)> = measures.iter().map(|m| (&*m.title, drawn(m))).collect();
        let expected = [
            ("Perplexity of the test set", 0),
            ("Area under the ROC curve, test set", 1),
            ("Area under the ROC curve, clients' own tests", 0),
            ("BLEU-1 of the test set", 1),
            ("BLEU-4 of the test set", 0),
            ("VQA accuracy", 0),
            ("Evaluation fine-tuned", 1),
        ];
        assert_eq!(drawn, expected);
        let [table] = &sections(&groups, Group::complete)[..] else {
            panic!("expected one table");
        };
        let text = table.clone().into_string();
        assert!(
            text.contains("fine-tuned") && text.contains("75.0 %"),
            "{text}"
        );
        // The other algorithm has no such evaluation.
        assert!(text.contains("<td>-</td>"), "{text}");

        // A run that failed does not count.
        let mut failed = groups[0].runs[0].clone();
        failed.status = Status::Failed;
        failed.lines[0].evaluations.clear();
        let evaluated = r#", "evaluations": {"fine-tuned": {"mean": 0.25}}"#;
        failed.lines[1] = line(2, evaluated);
        let mut groups = groups;
        groups[0].runs.push(failed);
        let text = |counted| sections(&groups, counted)[0].clone().into_string();
        assert!(text(Group::complete).contains("75.0 %"));
        assert!(text(Group::all).contains("50.0 %"));

        let record = Record {
            perplexity: Some(2.5),
            ..groups[0].runs[0].clone()
        };
        assert_eq!(
            facts(&record),
            [("perplexity".to_owned(), "2.500".to_owned())]
        );
    }
}
