//! A proxy that counts calls and the bodies of HTTP messages.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What crossed of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub calls: u64,
    /// Bytes of the bodies of requests, and of answers.
    pub up: u64,
    pub down: u64,
}

/// By path.
pub type Counts = BTreeMap<String, Count>;

/// Stands between parties and a SuperLink, and lasts as long as the process.
pub struct Proxy {
    port: u16,
    counts: Arc<Mutex<Counts>>,
}

impl Proxy {
    pub fn before(server: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Mutex::new(Counts::new()));
        let shared = Arc::clone(&counts);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let counts = Arc::clone(&shared);
                // A connection that breaks is the business of those who had it.
                thread::spawn(move || forward(&client, &server, &counts).ok());
            }
        });
        Self { port, counts }
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn counts(&self) -> Counts {
        self.counts.lock().unwrap().clone()
    }
}

/// Passes on requests and their answers, in turn, until one side closes the connection.
fn forward(client: &TcpStream, server: &TcpStream, counts: &Mutex<Counts>) -> std::io::Result<()> {
    let (mut requests, mut answers) = (BufReader::new(client), BufReader::new(server));
    while let Some((line, up)) = pass(&mut requests, server)? {
        let Some((_, down)) = pass(&mut answers, client)? else {
            break;
        };
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(path).or_default();
        count.calls += 1;
        (count.up, count.down) = (count.up + up, count.down + down);
    }
    Ok(())
}

/// Passes on one message. Gives its first line, and how many bytes its body has.
fn pass(
    from: &mut BufReader<&TcpStream>,
    mut to: &TcpStream,
) -> std::io::Result<Option<(String, u64)>> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        if from.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        let line = head[start..].trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        assert!(!line.starts_with("transfer-encoding:"), "{head}");
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    to.write_all(head.as_bytes())?;
    to.write_all(&body)?;
    let first = head.lines().next().unwrap_or_default().to_owned();
    Ok(Some((first, length as u64)))
}
