//! A SuperLink on a free port of this machine, in a folder of its own.

use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use fedround_flower::{Connection, ConnectionSettings, Control, Coordinator, Fab, RunId};
use tempfile::TempDir;

/// What no step of a test takes longer than.
pub const LONG: Duration = Duration::from_secs(300);

/// The folder with Flower's programs, or nothing, said loudly.
pub fn flower() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("FEDROUND_FLWR") else {
        // Past the test harness, which hides what tests that pass print.
        let why = "FEDROUND_FLWR does not name a folder with Flower's programs";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
        return None;
    };
    let folder = PathBuf::from(folder);
    assert!(
        folder.join("flower-superlink").is_file(),
        "FEDROUND_FLWR is {}, where no flower-superlink is",
        folder.display()
    );
    Some(folder)
}

pub struct SuperLink {
    child: Child,
    programs: PathBuf,
    dir: TempDir,
    port: u16,
    args: Vec<String>,
    tls: bool,
    /// Whether its state is in a file, and outlives it.
    file: bool,
}

impl SuperLink {
    /// Parties register themselves, and nothing is encrypted.
    pub fn open(programs: &Path) -> Self {
        Self::start(
            programs,
            tempfile::tempdir().unwrap(),
            &["--isolation", "process", "--insecure"],
            false,
        )
    }

    /// The same, with its state in memory alone.
    pub fn in_memory(programs: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut server = Self::new(
            programs,
            dir,
            &["--isolation", "process", "--insecure"],
            false,
        );
        server.file = false;
        server.spawn();
        server
    }

    pub fn start(programs: &Path, dir: TempDir, args: &[&str], tls: bool) -> Self {
        let mut server = Self::new(programs, dir, args, tls);
        server.spawn();
        server
    }

    fn new(programs: &Path, dir: TempDir, args: &[&str], tls: bool) -> Self {
        let port = free_port();
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self {
            child: Command::new("true").spawn().unwrap(),
            programs: programs.to_owned(),
            dir,
            port,
            args,
            tls,
            file: true,
        }
    }

    fn spawn(&mut self) {
        let mut command = self.command("flower-superlink");
        command.args(["--host", "127.0.0.1", "--port", &self.port.to_string()]);
        if self.file {
            let file = self.dir.path().join("state.db");
            command.arg("--database").arg(file);
        }
        self.child = command.args(&self.args).spawn().unwrap();
        // Until it answers.
        self.connect();
    }

    /// One of Flower's programs, which writes to a file here.
    pub fn command(&self, program: &str) -> Command {
        let log = self.dir.path().join(format!("{program}.log"));
        let log = File::options().create(true).append(true).open(log).unwrap();
        let mut command = Command::new(self.programs.join(program));
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .env("FLWR_HOME", self.dir.path().join("home"))
            .env("FLWR_TELEMETRY_ENABLED", "0")
            .env("FLWR_DISABLE_UPDATE_CHECK", "1")
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        command
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn settings(&self) -> ConnectionSettings {
        let scheme = if self.tls { "https" } else { "http" };
        let settings = ConnectionSettings::new(format!("{scheme}://{}", self.address()));
        let settings = settings.with_patience(LONG);
        if self.tls {
            settings.with_ca(self.dir.path().join("ca.pem"))
        } else {
            settings
        }
    }

    pub fn connect(&self) -> Connection {
        Connection::open(self.settings()).unwrap_or_else(|error| panic!("{error}\n{}", self.log()))
    }

    fn log(&self) -> String {
        self.log_of("flower-superlink")
    }

    /// The end of what a program wrote.
    pub fn log_of(&self, program: &str) -> String {
        let log = self.dir.path().join(format!("{program}.log"));
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The same port, the same database.
    pub fn restart(&mut self) {
        self.spawn();
    }

    pub fn start_run(&self) -> RunId {
        let fab = Fab::stub("rounds", "0.1.0").unwrap();
        Control::new(&self.connect()).start_run(&fab, "").unwrap()
    }

    /// A coordinator with a run of its own.
    pub fn coordinator(&self) -> Coordinator {
        let run = self.start_run();
        Coordinator::acquire(&self.connect(), run, None, LONG).unwrap()
    }
}

impl Drop for SuperLink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the end of the SuperLink's log:\n{}", self.log());
        }
    }
}

/// Waits until something holds, and fails after [`LONG`].
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what}: not in {LONG:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A port that nobody uses, and that no other test of this process was given. Below the ports that the system
/// gives to connections, and with room between processes that start one after the other.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 10_000 + (std::process::id() % 1_250 * 16) as u16;
    loop {
        let port = start + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
