//! Who may speak with a SuperLink, and how: the secret of coordinators, and addresses without encryption.

use super::processes::Process;
use crate::superlink::{SuperLink, flower};
use crate::support::{Place, SMALL, stderr};

/// Parties have no part in the secret.
#[test]
fn only_a_coordinator_with_the_secret_serves_a_run() {
    let Some(programs) = flower() else { return };
    let place = Place::new();
    place.write("secret", b"a secret of a test\n");
    place.write("wrong", b"another secret\n");
    place.write("empty", b"");
    let secret = place.path("secret");
    let args = [
        "--isolation",
        "process",
        "--insecure",
        "--superexec-auth-secret-file",
        secret.to_str().unwrap(),
    ];
    let server = SuperLink::start(&programs, tempfile::tempdir().unwrap(), &args, false);
    let link = format!("--superlink http://{}", server.address());
    let small = SMALL.replace("--rounds 4", "--rounds 1");
    let own = "--state party --host 0-9 --heartbeat 10 --approve any";
    let _party = Process::start(&place, &format!("party fedavg {small} {link} {own}"));
    let line = format!("coordinator fedavg {small} {link} --state run --quiet");
    for (own, why) in [
        ("", "help: --secret FILE has the secret"),
        ("--secret wrong", "another secret than that of wrong"),
        (
            "--secret missing",
            "cannot read the secret missing: No such file",
        ),
        ("--secret empty", "the secret empty is empty"),
    ] {
        let text = place.failure(&format!("{line} {own}"), 1);
        assert!(text.contains(why), "{own}: {text}");
        assert!(!text.contains("a secret of a test"), "{own}: {text}");
    }
    // Nobody waits for runs that were refused.
    let status = place.success(&format!("federation status {link}"));
    assert_eq!(status.matches("stopped").count(), 2, "{status}");
    let output = Process::start(&place, &format!("{line} --secret secret")).end();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.json("run/summary.json")["status"], "complete");
}

/// After the address, the file of certificates is looked at; nothing is sent.
#[test]
fn an_address_without_encryption_needs_a_switch() {
    let place = Place::new();
    let link = "--superlink http://10.0.0.1:1 --ca nothing.pem";
    for line in [
        format!("federation status {link}"),
        format!("federation stop 1 {link}"),
        format!("party fedavg {SMALL} {link} --state s --host 0-9 --approve any"),
        format!("coordinator fedavg {SMALL} {link} --state s"),
    ] {
        let text = place.failure(&line, 1);
        assert!(
            text.contains("http://10.0.0.1:1 is not encrypted"),
            "{text}"
        );
        assert!(text.contains("help: --plaintext accepts it"), "{text}");
        let text = place.failure(&format!("{line} --plaintext"), 1);
        assert!(text.contains("cannot read certificates"), "{text}");
        assert!(!text.contains("is not encrypted"), "{text}");
    }
}
