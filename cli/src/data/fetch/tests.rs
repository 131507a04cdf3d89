//! Downloads from a server in the test.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flate2::write::GzEncoder;

use super::checksum::Checksum;
use super::download::{Outcome, download};
use super::error::FetchError;
use super::get::unpack;

const CONTENTS: &[u8] = b"the contents of a file that is fetched";
const SUM: Checksum =
    Checksum::Sha256("d0466805fc9c8f28916b46a2f767174a9a598abafcbb68adc14384400a17100a");
const MD5: Checksum = Checksum::Md5("f678c248bc4a77984cebbb84898e8773");

/// Between two pieces of a slow answer. A download waits longer for one, but not as long as three pauses take.
const PAUSE: Duration = Duration::from_millis(800);

/// A server of [`CONTENTS`] that breaks off after some bytes of its first answer, or is slow and falls silent there.
struct Server {
    url: String,
    /// The `Range` of each request.
    ranges: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(first: usize, knows_ranges: bool) -> Self {
        Self::start(first, knows_ranges, false)
    }

    fn start(first: usize, knows_ranges: bool, slow: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file.bin", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let heard = ranges.clone();
        thread::spawn(move || {
            let (mut limit, mut open) = (first, vec![]);
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                open.extend(slow.then(|| stream.try_clone().unwrap()));
                let pause = if slow { PAUSE } else { Duration::ZERO };
                answer(stream, (limit, pause), knows_ranges, &heard);
                limit = usize::MAX;
            }
        });
        Self { url, ranges }
    }
}

/// Answers one request with up to `limit` bytes, with pauses, after its range was noted.
fn answer(
    mut stream: TcpStream,
    (limit, pause): (usize, Duration),
    knows_ranges: bool,
    heard: &Mutex<Vec<String>>,
) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let head: Vec<_> = lines
        .map(Result::unwrap)
        .take_while(|l| !l.is_empty())
        .collect();
    let range = head.iter().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("range: ")
            .map(str::to_owned)
    });
    let range = range.unwrap_or_default();
    heard.lock().unwrap().push(range.clone());
    let start = range
        .strip_prefix("bytes=")
        .and_then(|r| r.trim_end_matches('-').parse().ok());
    let start: usize = if knows_ranges { start.unwrap_or(0) } else { 0 };
    let all = CONTENTS.len();
    let (status, body) = match CONTENTS.get(start..) {
        Some(body) if start == 0 => ("200 OK".to_owned(), body),
        Some(body) if start < all => {
            let partial = format!(
                "206 Partial Content\r\nContent-Range: bytes {start}-{}/{all}",
                all - 1
            );
            (partial, body)
        }
        _ => ("416 Range Not Satisfiable".to_owned(), &b""[..]),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    for piece in body[..length.min(limit)].chunks(10) {
        // Whoever asked may have gone away.
        let _ = stream.write_all(piece);
        thread::sleep(pause);
    }
}

fn run(server: &Server, target: &Path, sum: Checksum) -> Result<Outcome, FetchError> {
    download(&server.url, target, sum, &mut |_, _| ())
}

#[test]
fn a_file_is_fetched_once() {
    let (server, folder) = (Server::new(usize::MAX, true), tempfile::tempdir().unwrap());
    let target = folder.path().join("new/file.bin");
    assert_eq!(run(&server, &target, SUM).unwrap(), Outcome::Fetched);
    assert_eq!(fs::read(&target).unwrap(), CONTENTS);
    assert_eq!(run(&server, &target, MD5).unwrap(), Outcome::There);
    assert_eq!(*server.ranges.lock().unwrap(), [""]);
}

#[test]
fn an_interrupted_download_goes_on() {
    for knows_ranges in [true, false] {
        let (server, folder) = (Server::new(10, knows_ranges), tempfile::tempdir().unwrap());
        let target = folder.path().join("file.bin");
        let error = run(&server, &target, SUM).unwrap_err();
        let FetchError::BreaksOff {
            found: 10,
            expected,
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(expected, Some(CONTENTS.len() as u64));
        assert!(!target.exists());
        assert_eq!(run(&server, &target, SUM).unwrap(), Outcome::Fetched);
        assert_eq!(fs::read(&target).unwrap(), CONTENTS);
        assert_eq!(*server.ranges.lock().unwrap(), ["", "bytes=10-"]);
    }
}

/// The next time, all comes: slowly, but without so long a silence.
#[test]
fn a_server_that_falls_silent_is_not_waited_for() {
    let (server, folder) = (Server::start(5, true, true), tempfile::tempdir().unwrap());
    let target = folder.path().join("file.bin");
    let error = run(&server, &target, SUM).unwrap_err();
    let broken = matches!(error, FetchError::BreaksOff { found: 5, .. });
    assert!(broken, "{error}");
    assert_eq!(run(&server, &target, SUM).unwrap(), Outcome::Fetched);
    assert_eq!(fs::read(&target).unwrap(), CONTENTS);
    assert_eq!(*server.ranges.lock().unwrap(), ["", "bytes=5-"]);
}

#[test]
fn a_file_that_another_process_fetches_is_left_alone() {
    let (server, folder) = (Server::new(usize::MAX, true), tempfile::tempdir().unwrap());
    let target = folder.path().join("file.bin");
    let part = folder.path().join("file.bin.part");
    // With bytes, and none yet.
    for found in [5, 0] {
        fs::write(&part, &CONTENTS[..found]).unwrap();
        let other = File::open(&part).unwrap();
        other.lock().unwrap();
        let error = run(&server, &target, SUM).unwrap_err();
        assert!(matches!(error, FetchError::Busy { .. }), "{error}");
        drop(other);
        assert_eq!(fs::read(&part).unwrap(), &CONTENTS[..found]);
    }
    assert_eq!(run(&server, &target, SUM).unwrap(), Outcome::Fetched);
    assert_eq!(fs::read(&target).unwrap(), CONTENTS);
}

#[test]
fn a_beginning_that_is_too_long_is_fetched_anew() {
    let (server, folder) = (Server::new(usize::MAX, true), tempfile::tempdir().unwrap());
    let target = folder.path().join("file.bin");
    fs::write(folder.path().join("file.bin.part"), [7; 99]).unwrap();
    assert_eq!(run(&server, &target, SUM).unwrap(), Outcome::Fetched);
    assert_eq!(*server.ranges.lock().unwrap(), ["bytes=99-", ""]);
}

#[test]
fn a_wrong_file_is_not_kept() {
    let (server, folder) = (Server::new(usize::MAX, true), tempfile::tempdir().unwrap());
    let target = folder.path().join("file.bin");
    let error = run(&server, &target, Checksum::Md5("00")).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("expected md5 00, found f678c248bc4a77984cebbb84898e8773"),
        "{text}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn nobody_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let url = "http://127.0.0.1:1/file.bin";
    let error = download(url, &folder.path().join("f"), SUM, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, FetchError::Reach { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn archives_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("a.tar.gz");
    let packed = GzEncoder::new(File::create(&archive).unwrap(), Default::default());
    let mut builder = tar::Builder::new(packed);
    let mut header = tar::Header::new_gnu();
    header.set_size(CONTENTS.len() as u64);
    header.set_cksum();
    builder
        .append_data(&mut header, "set/file.bin", CONTENTS)
        .unwrap();
    builder.into_inner().unwrap().finish().unwrap();
    unpack(&archive, folder.path()).unwrap();
    assert_eq!(
        fs::read(folder.path().join("set/file.bin")).unwrap(),
        CONTENTS
    );
    fs::write(&archive, &fs::read(&archive).unwrap()[..40]).unwrap();
    assert!(unpack(&archive, folder.path()).is_err());
}
