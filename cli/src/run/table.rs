//! The table at the end of a run.

use super::class_rows::class_rows;
use super::metric::Models;
use super::summary::Summary;
use super::summary_counts::FaultCounts;
use crate::terminal::table::{BORDERS, table};
use crate::terminal::{bytes, grouped, in_rounds, nats, percent};
use fedround::experiment::AttributeAuc;
use fedround::privacy::{NoiseSource, Spent, Total, delta_text};
use fedround_metrics::clients::ClientSummary;

/// The summary for people.
pub(super) fn text(summary: &Summary) -> String {
    let rows = rows(summary).into_iter();
    let rows = rows.filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let overall = table(BORDERS, [""; 0], 2, rows);
    if summary.class_accuracy.is_empty() || summary.training_begins.is_some() {
        return format!("{overall}\n");
    }
    let classes = summary.class_accuracy.iter();
    let classes = classes.map(|(name, accuracy)| (&**name, accuracy.as_f64()));
    let header = ["class", "test accuracy"];
    let classes = table(BORDERS, header, 1, class_rows(classes.collect()));
    format!("{overall}\n{classes}\n")
}

/// A row that is there if it has a value.
type Row = (&'static str, Option<String>);

/// What is said of the run as a whole, in the order of the table.
fn rows(summary: &Summary) -> Vec<Row> {
    let mut rows = vec![
        ("algorithm", Some(summary.spec.clone())),
        ("rounds", Some(summary.rounds.to_string())),
        ("not finite", not_finite(summary)),
        (
            "virtual time",
            summary.virtual_seconds.map(|time| format!("{time:.1} s")),
        ),
        ("clients", summary.faults.as_ref().map(failures)),
    ];
    match summary.training_begins {
        Some(round) => rows.push(("accuracy", Some(not_begun(round)))),
        None => rows.extend(accuracies(summary)),
    }
    rows.extend([
        ("goal", summary.goal.map(|goal| first_phase(summary, goal))),
        (
            "target",
            summary.target.map(|target| reached(summary, target)),
        ),
        ("chosen accuracy", choice(summary)),
        ("AUC of the test set", summary.auc.map(percent)),
        (
            "AUC of clients' tests",
            summary.local_auc.as_ref().map(spread),
        ),
        (
            "perplexity",
            summary.perplexity.map(|value| format!("{value:.3}")),
        ),
        ("VQA accuracy", summary.vqa_accuracy.map(percent)),
        ("BLEU-1 to 4, %", summary.bleu.map(bleu)),
    ]);
    let adversaries = summary.adversary.iter();
    rows.extend(adversaries.map(|exposed| ("AUC of adversaries", Some(found(exposed)))));
    rows.extend([
        ("ensemble accuracy", summary.ensemble_accuracy.map(percent)),
        ("evaluations", evaluations(summary)),
        (
            "newcomer's accuracy",
            summary.newcomer_accuracy.map(percent),
        ),
        ("privacy", summary.privacy.as_ref().map(privacy)),
        ("sent", Some(sent(summary))),
        ("training", Some(training(summary))),
        ("kept in", Some(summary.out.clone())),
    ]);
    rows
}

/// What is said instead of the accuracy of a model that no round trained.
fn not_begun(round: usize) -> String {
    format!(
        "none: training did not begin, for the algorithm trains its model from round {round} on. Choose --rounds {round} or more, or shorten the earlier phases with --set"
    )
}

/// The clients whose updates were not finite; nothing where all were.
fn not_finite(summary: &Summary) -> Option<String> {
    let updates: usize = summary.not_finite.values().sum();
    let mut clients: Vec<String> = summary.not_finite.keys().map(ToString::to_string).collect();
    let (count, shown) = (clients.len(), 10);
    clients.truncate(shown);
    if count > shown {
        clients.push("...".to_owned());
    }
    let clients = clients.join(", ");
    (updates > 0).then(|| format!("{updates} updates left out, of {count} clients: {clients}"))
}

/// How many clients failed or were late, and what that cost.
fn failures(faults: &FaultCounts) -> String {
    format!(
        "{} failures, {} late, {} surplus; {} rounds skipped",
        faults.failed, faults.late, faults.surplus, faults.skipped_rounds
    )
}

/// The accuracies: first that of what the algorithm trains, then others.
fn accuracies(summary: &Summary) -> [Row; 3] {
    // Without validation examples, the best one is named as what it is.
    let best = match (summary.best_accuracy, summary.best_round) {
        _ if summary.chosen_round.is_some() => " after the last round".to_owned(),
        (Some(best), Some(round)) => {
            let best = percent(best);
            format!(", at best {best} in round {round} (seen on test examples, not chosen)")
        }
        _ => String::new(),
    };
    let with_best = |accuracy: String| Some(format!("{accuracy}{best}"));
    let test_loss = ("test loss", summary.test_loss.map(nats));
    match summary.accuracy_of {
        Models::Clients => {
            let server = summary.test_accuracy.map(percent);
            let server = server.map(|accuracy| format!("{accuracy} on the test set"));
            [
                ("clients' own models", with_best(local(summary))),
                ("server's model", server),
                test_loss,
            ]
        }
        Models::Server => [
            ("test accuracy", with_best(percent(summary.accuracy))),
            ("local accuracy", Some(local(summary))),
            test_loss,
        ],
    }
}

/// When the first phase reached the accuracy at which it ends.
fn first_phase(summary: &Summary, goal: f64) -> String {
    let goal = percent(goal);
    match summary.rounds_to_goal {
        Some(rounds) => format!("{goal} reached after {}", in_rounds(rounds)),
        None => format!("{goal} not reached in the first phase"),
    }
}

/// The model that is chosen on validation examples, where there are any.
fn choice(summary: &Summary) -> Option<String> {
    let (validation, round) = (percent(summary.validation_accuracy?), summary.chosen_round?);
    let test = percent(summary.chosen_test_accuracy.unwrap_or(f64::NAN));
    Some(format!(
        "{test}, of round {round}, which has {validation} on validation examples"
    ))
}

/// What it took to reach the target.
fn reached(summary: &Summary, target: f64) -> String {
    let target = percent(target);
    match (summary.rounds_to_target, summary.bytes_to_target) {
        (Some(rounds), Some(sent)) => {
            format!("{target} after {} and {}", in_rounds(rounds), bytes(sent))
        }
        _ => format!("{target} not reached"),
    }
}

/// BLEU-1 to BLEU-4 in percent.
pub(crate) fn bleu(scores: [f64; 4]) -> String {
    let texts = scores.map(|score| format!("{:.2}", 100.0 * score));
    texts.join(", ")
}

/// What adversaries find of an attribute.
fn found(exposed: &AttributeAuc) -> String {
    let [along, after] =
        [exposed.along, exposed.auc].map(|auc| auc.map_or("-".to_owned(), percent));
    let attribute = &exposed.attribute;
    format!("{attribute}: {along} trained along, {after} fitted afterwards")
}

/// The algorithm's named evaluations, each in a line; nothing where it has none.
fn evaluations(summary: &Summary) -> Option<String> {
    let named = summary.evaluations.iter();
    let lines = named.map(|(name, local)| format!("{name}: {}", spread(local)));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The privacy that was spent.
fn privacy(spent: &Spent) -> String {
    let total = |total: &Total| {
        let (epsilon, delta) = (total.epsilon, delta_text(total.delta));
        format!("ε = {epsilon} at δ = {delta} for {}", total.neighbours)
    };
    let text = match spent.totals() {
        _ if !spent.has_noise() => "no round has added noise yet".to_owned(),
        Some(totals) => {
            let totals: Vec<String> = totals.iter().map(total).collect();
            totals.join(" and ") + ", of what is sent with noise"
        }
        None => "no bound on ε is known; summary.json says why".to_owned(),
    };
    match spent.noise {
        NoiseSource::Reproducible => text + "; noise from the seed keeps nothing private",
        NoiseSource::System => text,
    }
}

/// What was sent over all rounds, and in a round.
fn sent(summary: &Summary) -> String {
    let per_round = |n: u64| bytes(n / (summary.rounds.max(1) as u64));
    let (up, down, across) = (summary.bytes_up, summary.bytes_down, summary.bytes_across);
    if across > 0 {
        return format!(
            "{} up, {} down, {} between clients ({}, {} and {} a round)",
            bytes(up),
            bytes(down),
            bytes(across),
            per_round(up),
            per_round(down),
            per_round(across),
        );
    }
    format!(
        "{} up, {} down ({} and {} a round)",
        bytes(up),
        bytes(down),
        per_round(up),
        per_round(down),
    )
}

/// How fast it trained.
fn training(summary: &Summary) -> String {
    format!(
        "{} client-steps in {:.1} s ({} a second)",
        grouped(summary.client_steps),
        summary.seconds,
        grouped(summary.client_steps_per_second as u64),
    )
}

/// The accuracy of clients on their own test examples.
fn local(summary: &Summary) -> String {
    let local = summary.local_accuracy.as_ref();
    local.map_or_else(|| percent(f64::NAN), spread)
}

/// Accuracies over clients.
fn spread(local: &ClientSummary) -> String {
    format!(
        "{} ± {} over {} clients, {} over the worst tenth",
        percent(local.mean),
        percent(local.std),
        local.clients,
        percent(local.worst_decile),
    )
}
