//! Names that are known elsewhere, and words for kinds of things: what is suggested instead.

use crate::bad_input::fails;
use crate::support::Place;

#[test]
fn kinds_of_lists_are_suggested() {
    let place = Place::new();
    for (word, kind) in [
        ("model", "models"),
        ("partitions", "partitioners"),
        ("dataset", "datasets"),
        ("algorithms", "specs"),
    ] {
        for line in [format!("list {word}"), format!("list {word} --json")] {
            let expected = format!("unknown algorithm `{word}` (did you mean `{kind}`?)");
            fails(&place, &line, &[&expected]);
        }
    }
    // An algorithm that is nearer is one.
    fails(&place, "list fedprx", &["did you mean `fedprox`?"]);
}

#[test]
fn algorithms_of_other_frameworks_are_suggested_by_their_names_here() {
    let place = Place::new();
    for (name, written) in [
        ("fedadam", "fedopt --set rule=adam"),
        ("fedyogi", "fedopt --set rule=yogi"),
        ("FedAdagrad", "fedopt --set rule=adagrad --set beta1=0"),
    ] {
        let expected = format!("did you mean `{written}`?");
        for line in ["run", "compare fedavg", "explain", "list"] {
            fails(&place, &format!("{line} {name}"), &[&expected]);
        }
        place.success(&format!("explain {written}"));
    }
}

#[test]
fn hyper_parameters_of_other_frameworks_are_suggested_by_their_names_here() {
    let place = Place::new();
    for (name, ours) in [
        ("learning_rate", "lr"),
        ("fedavg.learning-rate", "lr"),
        ("batch_size", "batch"),
        ("local_epochs", "epochs"),
    ] {
        let expected = format!("(did you mean `{ours}`?)");
        fails(&place, &format!("run fedavg --set {name}=1"), &[&expected]);
    }
    let text = place.failure("run fedavg --learning-rate 0.1", 2);
    assert!(text.contains("--set lr=VALUE"), "{text}");
    // `lr` is not suggested where there is none.
    let text = place.failure("run fedavg --set server_learning_rate=1", 1);
    assert!(!text.contains("`server_lr`"), "{text}");
}

/// Comparisons and sweeps say of a name what a single run says of it.
#[test]
fn several_algorithms_have_the_suggestions_of_one() {
    let place = Place::new();
    for line in [
        "sweep fedavg --grid learning_rate=0.1,1",
        "compare fedavg scaffold --set learning_rate=1",
        "compare fedavg scaffold --validation 0.1 --select learning_rate=0.1,1",
    ] {
        fails(&place, line, &["`learning_rate` (did you mean `lr`?)"]);
    }
    for line in [
        "run fedavg --set rounds=3",
        "compare fedavg scaffold --set rounds=3",
        "sweep fedavg --grid rounds=1,2",
        "sweep fedavg --grid lr=1 --set rounds=3",
    ] {
        let expected =
            "help: `rounds` is a setting of the run, not of the algorithm: --rounds VALUE\n";
        fails(&place, line, &[expected]);
    }
}
