//! TLS, the allow-list of parties, and the secret of coordinators.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fedround_flower::{
    CallError, ConnectError, Connection, Control, Coordinator, ExecutorSecret, FlowerError,
    NodeKey, Party, Reason,
};

use crate::parties::{PartyThread, collect, floats, model, plus, settings, train};
use crate::server::{LONG, SuperLink, flower};

/// A server with all that Flower has of security.
fn secure(programs: &Path) -> SuperLink {
    let dir = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/superlink/certificates.py");
    let made = Command::new(programs.join("python"))
        .arg(script)
        .arg(dir.path())
        .status();
    assert!(made.unwrap().success());
    std::fs::write(dir.path().join("secret"), b"a secret of a test\n").unwrap();
    let args = [
        "--isolation",
        "process",
        "--ssl-certfile",
        "server.pem",
        "--ssl-keyfile",
        "server.key",
        "--ssl-ca-certfile",
        "ca.pem",
        "--enable-supernode-auth",
        "--superexec-auth-secret-file",
        "secret",
    ];
    SuperLink::start(programs, dir, &args, true)
}

fn golden_key(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/keys");
    folder.join(name)
}

#[test]
fn only_who_is_known_takes_part() {
    let Some(programs) = flower() else { return };
    let server = secure(&programs);
    let connection = server.connect();

    // An authority that did not sign the server's certificate; at once, not after all patience.
    let wrong = server.settings().with_ca(server.dir().join("other.pem"));
    let start = std::time::Instant::now();
    let error = Connection::open(wrong).unwrap_err();
    assert!(
        matches!(error, ConnectError::Call(CallError::Tls { .. })),
        "{error}"
    );
    assert!(start.elapsed() < Duration::from_secs(20));

    // A key that the operator did not register.
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let error = Party::join(&connection, settings(dirs[0].path())).unwrap_err();
    let FlowerError::NotAdmitted { public_key, .. } = &error else {
        panic!("{error}");
    };

    // The operator registers it, and a key of ssh-keygen on P-384, the default of Flower.
    let control = Control::new(&connection);
    let id = control
        .register_node(public_key, Some("clinic"))
        .unwrap()
        .unwrap();
    let ssh = NodeKey::read(&golden_key("ssh-p384")).unwrap();
    control.register_node(ssh.public_pem(), None).unwrap();
    let FlowerError::Call(error) = control.register_node(ssh.public_pem(), None).unwrap_err()
    else {
        panic!("another error");
    };
    assert!(error.is(Reason::KeyInUse), "{error}");
    let first = PartyThread::start(&connection, settings(dirs[0].path()), plus(1.));
    assert_eq!(first.id, id);
    let mut of_ssh = settings(dirs[1].path());
    of_ssh.key = Some(golden_key("ssh-p384"));
    let second = PartyThread::start(&connection, of_ssh, plus(2.));
    let nodes = control.nodes().unwrap();
    assert_eq!(nodes.len(), 2);
    let named: Vec<_> = nodes
        .iter()
        .filter_map(|node| node.name.as_deref())
        .collect();
    assert_eq!(named, ["clinic"]);

    // A third key claims the number of the first party.
    let state = dirs[0].path().join("node.json");
    std::fs::copy(state, dirs[2].path().join("node.json")).unwrap();
    let error = Party::join(&connection, settings(dirs[2].path())).unwrap_err();
    assert!(matches!(error, FlowerError::NotAdmitted { .. }), "{error}");

    // Only who has the secret may serve the run.
    let run = server.start_run();
    let acquire =
        |secret: Option<&ExecutorSecret>| Coordinator::acquire(&connection, run, secret, LONG);
    std::fs::write(server.dir().join("wrong"), b"another secret").unwrap();
    let wrong = ExecutorSecret::read(&server.dir().join("wrong")).unwrap();
    for secret in [None, Some(&wrong)] {
        let FlowerError::Call(error) = acquire(secret).unwrap_err() else {
            panic!("another error");
        };
        assert!(error.is(Reason::Authentication), "{error}");
    }
    let secret = ExecutorSecret::read(&server.dir().join("secret")).unwrap();
    let mut coordinator = acquire(Some(&secret)).unwrap();
    let content = model([("w", floats([1.]))]);
    let to = [first.id, second.id];
    let tickets = coordinator.send(&to, &train(), &content, LONG).unwrap();
    let replies = collect(&mut coordinator, &tickets);
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    assert_eq!([first.leave(), second.leave()], [0, 0]);

    control.unregister_node(id).unwrap();
    let error = Party::join(&connection, settings(dirs[0].path())).unwrap_err();
    assert!(matches!(error, FlowerError::NotAdmitted { .. }), "{error}");
}
