//! The table at the end of a run.

use super::class_rows::of_classes;
use super::metric::Models;
use super::summary::Summary;
use crate::table::{BORDERS, table};
use crate::terminal::{bytes, grouped, in_rounds, nats, percent};
use fedround::experiment::AttributeAuc;
use fedround::privacy::{NoiseSource, delta_text};
use fedround_metrics::clients::ClientSummary;

/// The summary for people.
pub(super) fn text(summary: &Summary) -> String {
    let rows = rows(summary).into_iter();
    let rows = rows.map(|(name, value)| [name.to_owned(), value]);
    let overall = table(BORDERS, [""; 0], 2, rows);
    if summary.class_accuracy.is_empty() || summary.training_begins.is_some() {
        return format!("{overall}\n");
    }
    let classes = summary.class_accuracy.iter();
    let classes = classes.map(|(name, accuracy)| (&**name, accuracy.as_f64()));
    let header = ["class", "test accuracy"];
    let classes = table(BORDERS, header, 1, of_classes(classes.collect()));
    format!("{overall}\n{classes}\n")
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

/// What is said of the run as a whole.
fn rows(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("algorithm", summary.spec.clone()),
        ("rounds", summary.rounds.to_string()),
    ];
    match summary.training_begins {
        Some(round) => rows.push(("accuracy", not_begun(round))),
        None => rows.extend(accuracies(summary)),
    }
    // Further measures follow the accuracies.
    let after = rows.len();
    rows.extend([
        ("sent", sent(summary)),
        (
            "training",
            format!(
                "{} client-steps in {:.1} s ({} a second)",
                grouped(summary.client_steps),
                summary.seconds,
                grouped(summary.client_steps_per_second as u64),
            ),
        ),
        ("kept in", summary.out.clone()),
    ]);
    if let Some(spent) = &summary.privacy {
        let mut text = match spent.epsilon {
            Some(epsilon) => format!(
                "ε = {epsilon} at δ = {}, of what is sent with noise",
                delta_text(spent.delta)
            ),
            None if !spent.has_noise() => "no round has added noise yet".to_owned(),
            None => "no bound on ε is known; summary.json says why".to_owned(),
        };
        if spent.noise == NoiseSource::Reproducible {
            text += "; noise from the seed keeps nothing private";
        }
        rows.insert(after, ("privacy", text));
    }
    if let Some(newcomer) = summary.newcomer_accuracy {
        rows.insert(after, ("newcomer's accuracy", percent(newcomer)));
    }
    let evaluations = summary.evaluations.iter();
    let evaluations = evaluations.map(|(name, local)| format!("{name}: {}", spread(local)));
    let evaluations: Vec<String> = evaluations.collect();
    if !evaluations.is_empty() {
        rows.insert(after, ("evaluations", evaluations.join("\n")));
    }
    if let Some(ensemble) = summary.ensemble_accuracy {
        rows.insert(after, ("ensemble accuracy", percent(ensemble)));
    }
    for exposed in &summary.adversary {
        rows.insert(after, ("AUC of adversaries", found(exposed)));
    }
    if let Some(bleu) = summary.bleu {
        let bleu = bleu.map(|score| format!("{:.2}", 100.0 * score));
        rows.insert(after, ("BLEU-1 to 4, %", bleu.join(", ")));
    }
    if let Some(accuracy) = summary.vqa_accuracy {
        rows.insert(after, ("VQA accuracy", percent(accuracy)));
    }
    if let Some(perplexity) = summary.perplexity {
        rows.insert(after, ("perplexity", format!("{perplexity:.3}")));
    }
    if let Some(local) = &summary.local_auc {
        rows.insert(after, ("AUC of clients' tests", spread(local)));
    }
    if let Some(auc) = summary.auc {
        rows.insert(after, ("AUC of the test set", percent(auc)));
    }
    if let Some(chosen) = choice(summary) {
        rows.insert(after, ("chosen accuracy", chosen));
    }
    if let Some(target) = summary.target {
        rows.insert(after, ("target", reached(summary, target)));
    }
    if let Some(goal) = summary.goal {
        let ended = match summary.rounds_to_goal {
            Some(rounds) => format!("reached after {}", in_rounds(rounds)),
            None => "not reached in the first phase".to_owned(),
        };
        rows.insert(after, ("goal", format!("{} {ended}", percent(goal))));
    }
    if let Some(faults) = &summary.faults {
        let text = format!(
            "{} failures, {} late, {} surplus; {} rounds skipped",
            faults.failed, faults.late, faults.surplus, faults.skipped_rounds
        );
        rows.insert(2, ("clients", text));
    }
    if let Some(seconds) = summary.virtual_seconds {
        rows.insert(2, ("virtual time", format!("{seconds:.1} s")));
    }
    if let Some(left_out) = not_finite(summary) {
        rows.insert(2, ("not finite", left_out));
    }
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

/// What adversaries find of an attribute.
fn found(exposed: &AttributeAuc) -> String {
    let [along, after] =
        [exposed.along, exposed.auc].map(|auc| auc.map_or("-".to_owned(), percent));
    let attribute = &exposed.attribute;
    format!("{attribute}: {along} trained along, {after} fitted afterwards")
}

/// The accuracies: first that of what the algorithm trains, then others.
fn accuracies(summary: &Summary) -> Vec<(&'static str, String)> {
    // Without validation examples, the best one is named as what it is.
    let best = match (summary.best_accuracy, summary.best_round) {
        _ if summary.chosen_round.is_some() => " after the last round".to_owned(),
        (Some(best), Some(round)) => {
            let best = percent(best);
            format!(", at best {best} in round {round} (seen on test examples, not chosen)")
        }
        _ => String::new(),
    };
    let loss = summary.test_loss.map(|loss| ("test loss", nats(loss)));
    let mut rows = match summary.accuracy_of {
        Models::Clients => {
            let server = |accuracy| {
                (
                    "server's model",
                    format!("{} on the test set", percent(accuracy)),
                )
            };
            let own = ("clients' own models", format!("{}{best}", local(summary)));
            [own]
                .into_iter()
                .chain(summary.test_accuracy.map(server))
                .collect()
        }
        Models::Server => vec![
            (
                "test accuracy",
                format!("{}{best}", percent(summary.accuracy)),
            ),
            ("local accuracy", local(summary)),
        ],
    };
    rows.extend(loss);
    rows
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
