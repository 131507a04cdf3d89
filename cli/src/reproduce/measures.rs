//! The numbers of runs that a table has.

use fedround::experiment::{AttributeAuc, Status};
use fedround_metrics::progress::{first_to_reach, mean_of_last};

use super::columns::{Measure, Of};
use super::plan::Plan;
use crate::compare::{Record, Spread};
use crate::settings::Settings;

/// The runs of a plan, by entrant and then by seed.
pub(super) type Runs<'r> = Vec<Vec<Option<&'r Record>>>;

/// A number of an entrant over its complete runs; where others are subtracted, of the differences
/// between runs of one seed.
pub(super) fn spread(
    plan: &Plan,
    runs: &Runs<'_>,
    entrant: usize,
    measure: &Measure,
) -> Option<Spread> {
    let (of, target) = (&measure.of, target(plan, runs, entrant, &measure.of));
    let values = |entrant: usize| values(plan, runs, entrant, of, target);
    let base = plan.paper.difference_from.as_ref();
    let Some(base) = base.filter(|_| !measure.alone) else {
        return Spread::of(values(entrant).flatten());
    };
    let base = beside(plan, entrant, base)?;
    let pairs = values(entrant).zip(values(base));
    Spread::of(pairs.filter_map(|(value, base)| Some(value? - base?)))
}

/// A number of two entrants, in pairs of complete runs with the same seed.
pub(super) fn pairs(
    plan: &Plan,
    runs: &Runs<'_>,
    [ours, theirs]: [usize; 2],
    of: &Of,
) -> Vec<(f64, f64)> {
    let values = |entrant: usize| {
        let target = target(plan, runs, entrant, of);
        values(plan, runs, entrant, of, target)
    };
    let both = values(ours).zip(values(theirs));
    both.filter_map(|(ours, theirs)| ours.zip(theirs)).collect()
}

/// A number of each run of an entrant; `None` of a run that is not complete.
fn values(
    plan: &Plan,
    runs: &Runs<'_>,
    entrant: usize,
    of: &Of,
    target: Option<f64>,
) -> impl Iterator<Item = Option<f64>> {
    let settings = &plan.entrants[entrant].settings;
    let runs = runs[entrant].iter();
    runs.map(move |run| value(plan, complete(*run)?, settings, of, target))
}

/// How many of an entrant's runs are complete.
pub(super) fn completed(runs: &[Option<&Record>]) -> usize {
    runs.iter().filter(|run| complete(**run).is_some()).count()
}

fn complete(run: Option<&Record>) -> Option<&Record> {
    run.filter(|run| run.status == Status::Complete)
}

/// The entrant of another method in the same setting.
fn beside(plan: &Plan, entrant: usize, method: &str) -> Option<usize> {
    let mut methods = plan.table.common.method.iter();
    let method = methods.position(|m| m.name == method)?;
    plan.entrant(plan.entrants[entrant].setting, method)
}

/// What a measure is to reach, if it is to reach something: the best accuracy of the method that sets the target, in
/// whole percent, or the last one of the worst method of the setting.
fn target(plan: &Plan, runs: &Runs<'_>, entrant: usize, of: &Of) -> Option<f64> {
    match of {
        Of::RoundsToTarget | Of::BytesToTarget => {}
        Of::RoundsToLowest | Of::BytesToLowest => return lowest(plan, runs, entrant),
        _ => return None,
    }
    let base = beside(plan, entrant, plan.paper.target_of.as_deref()?)?;
    let best = runs[base]
        .iter()
        .filter_map(|run| complete(*run)?.best_test_accuracy);
    Some(whole_percent(Spread::of(best)?.mean))
}

/// An accuracy in whole percent, rounded down. 100 · 0.29 is below 29 by the error of rounding.
fn whole_percent(accuracy: f64) -> f64 {
    (100.0 * accuracy + 1e-9).floor() / 100.0
}

/// The lowest of all methods' mean accuracies over clients after the last round, in the setting of an entrant; `None`
/// where a method is not run.
fn lowest(plan: &Plan, runs: &Runs<'_>, entrant: usize) -> Option<f64> {
    let methods = 0..plan.table.common.method.len();
    let last = |method| {
        let other = plan.entrant(plan.entrants[entrant].setting, method)?;
        let complete = runs[other].iter().filter_map(|run| complete(*run));
        let local = complete.filter_map(|run| Some(run.local_accuracy.as_ref()?.mean));
        Some(Spread::of(local)?.mean)
    };
    let all: Option<Vec<f64>> = methods.map(last).collect();
    all?.into_iter().reduce(f64::min)
}

fn value(
    plan: &Plan,
    run: &Record,
    settings: &Settings,
    of: &Of,
    target: Option<f64>,
) -> Option<f64> {
    let percent = |accuracy: Option<f64>| Some(100.0 * accuracy?);
    match of {
        Of::Best => percent(run.best_test_accuracy),
        Of::Last => percent(run.test_accuracy),
        Of::MeanOfLast(n) => percent(mean_of_last(&run.server_curve(), *n)),
        Of::BestBleu => percent(run.best_bleu),
        Of::Vqa => percent(run.vqa_accuracy),
        Of::Local => percent(run.local_accuracy.as_ref().map(|local| local.mean)),
        Of::LocalAuc => percent(run.local_auc.as_ref().map(|local| local.mean)),
        Of::Newcomer => percent(run.newcomer_accuracy),
        // Where clients have no models of their own, theirs is the global one.
        Of::NewTest => percent(run.ensemble_accuracy.or(run.test_accuracy)),
        Of::Label(class) => percent(run.class_accuracy.values().nth(*class)?.as_f64()),
        Of::Party(domain) => {
            let client = plan.parties.iter().position(|party| party == domain)?;
            percent(*run.client_accuracy.get(client)?)
        }
        Of::RoundsToTarget => Some(first_to_reach(&run.server_curve(), target?)?.round as f64),
        Of::BytesToTarget => Some(first_to_reach(&run.server_curve(), target?)?.bytes as f64),
        Of::RoundsToLowest => Some(first_to_reach(&run.local_curve(), target?)?.round as f64),
        Of::BytesToLowest => Some(first_to_reach(&run.local_curve(), target?)?.bytes as f64),
        Of::MostBytes => Some(run.most_sent()? as f64),
        Of::Bytes => Some(run.sent() as f64),
        Of::AdversaryAlong => percent(mean(&run.adversary, |e| e.along)),
        Of::AdversaryAfter => percent(mean(&run.adversary, |e| e.auc)),
        Of::AdversaryFloor => percent(mean(&run.adversary, |e| e.floor)),
        Of::Epsilon => run.privacy.as_ref()?.epsilon,
        Of::UsualEpsilon => {
            let all = run.privacy.as_ref()?.guarantees.iter();
            all.map(|guarantee| guarantee.usual_epsilon).sum()
        }
        Of::Rounds => Some(run.rounds as f64),
        Of::Sent => Some(sent(run.bytes_up, settings)),
        Of::Server(name) => *run.server.get(name)?,
    }
}

/// The mean over attributes, where all have a number.
fn mean(found: &[AttributeAuc], of: fn(&AttributeAuc) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = found.iter().map(of).collect();
    Some(Spread::of(all?)?.mean)
}

/// Numbers of four bytes: what the `m` clients of a round send up, and as many down to all `K`.
fn sent(bytes_up: u64, settings: &Settings) -> f64 {
    let clients = settings.run.clients as f64;
    let mut hypers = settings.hypers.iter().rev();
    let fraction = hypers.find(|hyper| hyper.name == "fraction");
    // A value of `--select` is a text.
    let fraction = fraction.and_then(|hyper| hyper.value.to_string().parse().ok());
    let fraction: f64 = fraction.unwrap_or(1.0);
    let m = (fraction * clients).round().max(1.0);
    bytes_up as f64 / 4.0 * (clients + m) / m
}

#[cfg(test)]
mod tests {
    use fedround_ir::fed::HyperValue;

    use super::*;
    use crate::run::{SettingArgs, TestArgs};
    use crate::settings::config::Config;
    use crate::settings::hypers::{Given, Setting};

    #[test]
    fn targets_are_whole_percents() {
        for percent in 0..=100 {
            let accuracy = f64::from(percent) / 100.0;
            assert_eq!(whole_percent(accuracy), accuracy);
        }
        assert_eq!(whole_percent(0.2999), 0.29);
    }

    #[test]
    fn what_is_sent_depends_on_the_fraction_of_a_file_or_of_the_command_line() {
        let (flags, tests) = (SettingArgs::default(), TestArgs::default());
        let settings = Settings::over(Config::default(), &flags, &tests, Some("fedavg"), None);
        let mut settings = settings.unwrap();
        settings.run.clients = 10;
        assert_eq!(sent(400, &settings), 200.0);
        let of_file = Given::Value(HyperValue::Float(0.5));
        let of_command_line = Given::Text {
            text: "0.5".to_owned(),
            flag: "--select",
        };
        for value in [of_file, of_command_line] {
            let name = "fraction".to_owned();
            settings.hypers = vec![Setting { name, value }];
            assert_eq!(sent(400, &settings), 300.0);
        }
    }
}
