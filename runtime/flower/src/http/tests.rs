//! Calls against a server that answers what a test tells it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::*;
use crate::wire::fleet::{ActivateNodeRequest, ActivateNodeResponse};

/// An address where nothing listens. A free port could be given to another test's server.
const NOBODY: &str = "http://127.0.0.1:1";
const OPENAPI: &[u8] = br#"{"info": {"title": "Flower", "version": "1.41.0"}}"#;

/// One status and body for each request, after which the server is gone. Gives the requests.
struct Server {
    url: String,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    fn start(answers: Vec<(u16, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serve = move || {
            let answers = answers.into_iter();
            answers
                .map(|(status, body)| answer(&listener, status, &body))
                .collect()
        };
        let thread = std::thread::spawn(serve);
        Self { url, thread }
    }

    fn settings(&self) -> ConnectionSettings {
        ConnectionSettings::new(&self.url).with_patience(Duration::from_secs(10))
    }

    fn requests(self) -> Vec<String> {
        self.thread.join().unwrap()
    }
}

/// Answers one request, and gives its head.
fn answer(listener: &TcpListener, status: u16, body: &[u8]) -> String {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(&stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let mut to: &TcpStream = &stream;
    let length = body.len();
    let start =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    to.write_all(start.as_bytes()).unwrap();
    to.write_all(body).unwrap();
    head
}

fn activated() -> (u16, Vec<u8>) {
    (200, ActivateNodeResponse { node_id: 7 }.encode_to_vec())
}

/// Calls with a header that counts the tries.
fn activate(connection: &Connection) -> Result<ActivateNodeResponse, CallError> {
    let tries = AtomicU32::new(0);
    let headers = |_: &[u8]| {
        let number = tries.fetch_add(1, Ordering::Relaxed);
        Ok(vec![("flwr-try", number.to_string())])
    };
    connection.call(
        "fleet/activate-node",
        &ActivateNodeRequest::default(),
        &headers,
    )
}

fn opened(mut answers: Vec<(u16, Vec<u8>)>) -> (Server, Connection) {
    answers.insert(0, (200, OPENAPI.to_vec()));
    let server = Server::start(answers);
    let connection = Connection::open(server.settings()).unwrap();
    (server, connection)
}

#[test]
fn a_superlink_that_is_away_is_tried_again_with_new_headers() {
    let (server, connection) = opened(vec![(503, vec![]), (502, b"<html>".to_vec()), activated()]);
    assert_eq!(connection.version().unwrap().to_string(), "1.41.0");
    assert_eq!(activate(&connection).unwrap().node_id, 7);
    let requests = server.requests();
    assert!(
        requests[0].starts_with("GET /openapi.json "),
        "{}",
        requests[0]
    );
    for (number, request) in requests[1..].iter().enumerate() {
        assert!(
            request.starts_with("POST /v1/fleet/activate-node "),
            "{request}"
        );
        assert!(
            request.contains("content-type: application/protobuf"),
            "{request}"
        );
        assert!(
            request.contains(&format!("flwr-try: {number}")),
            "{request}"
        );
    }
}

#[test]
fn a_failure_of_the_superlink_s_own_is_tried_again_a_few_times() {
    let failure = || (500, b"Internal server error".to_vec());
    let (_server, connection) = opened(vec![failure(), activated()]);
    assert_eq!(activate(&connection).unwrap().node_id, 7);
    let (server, connection) = opened((0..=super::FAILURES).map(|_| failure()).collect());
    let error = activate(&connection).unwrap_err();
    assert!(
        matches!(error, CallError::Refused { status: 500, .. }),
        "{error}"
    );
    // After the version was asked for.
    assert_eq!(server.requests().len(), 1 + 1 + super::FAILURES);
}

#[test]
fn nobody_at_the_address_is_an_error_after_the_patience() {
    let patience = Duration::from_millis(300);
    let settings = ConnectionSettings::new(NOBODY).with_patience(patience);
    let error = Connection::open(settings).unwrap_err();
    let ConnectError::Call(CallError::Unreachable { elapsed, .. }) = &error else {
        panic!("{error}");
    };
    assert!(*elapsed >= patience);
    assert!(error.to_string().contains(NOBODY), "{error}");
}

#[test]
fn refusals_are_not_tried_again_and_keep_their_reason() {
    let body = br#"{"code": 23, "detail": "Public key already in use."}"#;
    let (server, connection) = opened(vec![(412, body.to_vec())]);
    let error = activate(&connection).unwrap_err();
    assert!(error.is(Reason::KeyInUse), "{error}");
    let text = "fleet/activate-node was refused with status 412: Public key already in use. (Flower's code 23)";
    assert_eq!(error.to_string(), text);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn answers_of_another_server_are_named() {
    let (_server, connection) = opened(vec![(200, b"<html>hello</html>".to_vec())]);
    let error = activate(&connection).unwrap_err();
    assert!(matches!(error, CallError::Answer { .. }), "{error}");
    // A redirect is not followed: it could lead anywhere.
    let (_server, connection) = opened(vec![(302, vec![])]);
    let error = activate(&connection).unwrap_err();
    assert!(
        matches!(error, CallError::Refused { status: 302, .. }),
        "{error}"
    );
}

#[test]
fn releases_that_were_not_tested_are_refused() {
    let newer = || vec![(200, br#"{"info": {"version": "1.43.0"}}"#.to_vec())];
    let error = Connection::open(Server::start(newer()).settings()).unwrap_err();
    assert!(matches!(error, ConnectError::Version { .. }), "{error}");
    assert!(error.to_string().contains("Flower 1.43.0"), "{error}");
    let mut settings = Server::start(newer()).settings();
    settings.versions = Versions::Any;
    assert_eq!(
        Connection::open(settings)
            .unwrap()
            .version()
            .unwrap()
            .to_string(),
        "1.43.0"
    );
    // A proxy that shows only the Fleet API.
    let hidden = Server::start(vec![(403, b"<html>".to_vec()), activated()]);
    let connection = Connection::open(hidden.settings()).unwrap();
    assert_eq!(connection.version(), None);
    assert_eq!(activate(&connection).unwrap().node_id, 7);
}

#[test]
fn addresses_are_checked() {
    for url in [
        "",
        "127.0.0.1:8000",
        "ftp://127.0.0.1",
        "http://127.0.0.1/v1",
        "https://",
    ] {
        let error = Connection::open(ConnectionSettings::new(url)).unwrap_err();
        assert!(matches!(error, ConnectError::Url { .. }), "{url}: {error}");
    }
    for url in [
        "http://me:secret@127.0.0.1:1",
        "https://me:secret@",
        "me:secret@x y",
    ] {
        let error = Connection::open(ConnectionSettings::new(url)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ConnectError::Url { .. }), "{url}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
    for url in [
        "http://example.org:8000",
        "http://10.0.0.1",
        "http://127.evil.example",
    ] {
        let error = Connection::open(ConnectionSettings::new(url)).unwrap_err();
        assert!(
            matches!(error, ConnectError::Plaintext { .. }),
            "{url}: {error}"
        );
    }
    let settings = ConnectionSettings::new("https://127.0.0.1:1").with_ca("/nowhere/ca.pem");
    let error = Connection::open(settings).unwrap_err();
    assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
    let empty = tempfile::NamedTempFile::new().unwrap();
    let settings = ConnectionSettings::new("https://127.0.0.1:1").with_ca(empty.path());
    let error = Connection::open(settings).unwrap_err();
    assert!(error.to_string().contains("no certificate"), "{error}");
}

#[test]
fn a_process_that_is_to_end_does_not_wait() {
    let stop = StopSignal::new(|| true);
    let settings = ConnectionSettings {
        stop,
        ..ConnectionSettings::new(NOBODY).with_patience(Duration::from_secs(60))
    };
    let start = std::time::Instant::now();
    let error = Connection::open(settings).unwrap_err();
    let unreachable = matches!(error, ConnectError::Call(CallError::Unreachable { .. }));
    assert!(unreachable, "{error}");
    assert!(start.elapsed() < Duration::from_secs(20), "{error}");
}
