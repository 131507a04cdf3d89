//! Signals of which one event sends two.

#![cfg(unix)]

use std::process::{Child, Command, Output};

use crate::interrupted::{metrics, start, wait_for};
use crate::support::{Place, SMALL, stderr};

/// Sends signals to a process, one right after another.
fn send(child: Child, names: [&str; 2]) -> Output {
    let kills = names.map(|name| format!("kill -{name} {}", child.id()));
    let sent = Command::new("sh")
        .args(["-c", &kills.join(" && ")])
        .status();
    assert!(sent.unwrap().success());
    child.wait_with_output().unwrap()
}

/// A shell and the system both send SIGHUP when a terminal is closed, and a system that stops a service may send SIGHUP
/// right after SIGTERM.
#[test]
fn two_signals_of_one_event_end_the_round_as_one_does() {
    let place = Place::new();
    let settings = SMALL.replace("--rounds 4", "--rounds 10000000");
    // Nothing but the signals is a reason for a checkpoint.
    let settings = format!("{settings} --checkpoint minutes:60 --quiet");
    for (out, names) in [
        ("service", ["TERM", "HUP"]),
        ("terminal", ["HUP", "HUP"]),
        ("both", ["HUP", "TERM"]),
    ] {
        let child = start(&place, &format!("run scaffold {settings} --out {out}"));
        wait_for(&place.path(&format!("{out}/metrics.jsonl")), 2);
        let output = send(child, names);
        let text = stderr(&output);
        // Which of the two comes first is the system's choice.
        let name = match output.status.code() {
            Some(143) => "TERM",
            Some(129) => "HUP",
            code => panic!("{out}: {code:?}: {text}"),
        };
        assert!(names.contains(&name), "{out}: {text}");
        assert!(text.contains(&format!("stopped by SIG{name}: ")), "{text}");
        let again = format!("`fedround resume {out}` goes on");
        assert!(text.contains(&again), "{text}");
        let done = metrics(&place, out).len();
        let summary = place.json(&format!("{out}/summary.json"));
        assert_eq!(summary["status"], "interrupted");
        assert_eq!(summary["rounds"], done);
        let last = place.files(&format!("{out}/checkpoints")).pop().unwrap();
        assert_eq!(last, format!("round-{done:06}.ckpt"));
    }
}
