//! Handles the signals that ask a run to stop: Ctrl-C, and those that a system sends before it shuts down
//! or when a terminal is closed.

use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::tell;

static RECEIVED: AtomicI32 = AtomicI32::new(0);

/// A signal that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(i32);

/// From now on a signal asks the run to stop after its round; a second one ends the process, SIGHUP aside.
pub(crate) fn listen() {
    // Where no handler can be installed, signals end the process as they always do.
    let _ = install();
}

/// The signal that asked the process to stop.
pub(crate) fn signal() -> Option<Signal> {
    match RECEIVED.load(Ordering::SeqCst) {
        0 => None,
        number => Some(Signal(number)),
    }
}

/// Whether a signal asked the process to stop.
pub(crate) fn stop_requested() -> bool {
    signal().is_some()
}

impl Signal {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self.0 {
            SIGINT => "Ctrl-C",
            SIGTERM => "SIGTERM",
            _ => "SIGHUP",
        }
    }

    /// The exit code of a process that the signal stopped, as shells have it.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(self.status())
    }

    fn status(self) -> u8 {
        128 + u8::try_from(self.0).unwrap_or_default()
    }
}

#[cfg(unix)]
fn install() -> std::io::Result<()> {
    use std::sync::Once;

    use signal_hook::iterator::Signals;

    static ONCE: Once = Once::new();
    let mut installed = Ok(());
    ONCE.call_once(|| {
        let mut signals = vec![SIGINT, SIGTERM];
        if !ignores_hangups() {
            signals.push(SIGHUP);
        }
        installed = Signals::new(signals).and_then(|mut signals| {
            let wait = move || signals.forever().for_each(receive);
            let thread = std::thread::Builder::new().name("signals".to_owned());
            thread.spawn(wait).map(drop)
        });
    });
    installed
}

/// One event may send two signals: if a terminal is closed, its shell and the system each send SIGHUP, and a system
/// that stops a service may send SIGTERM and SIGHUP, which come here in any order. So SIGHUP is no reason to end the
/// process, neither as the second signal nor as the one before it.
#[cfg(unix)]
fn receive(number: i32) {
    let signal = Signal(number);
    match (RECEIVED.load(Ordering::SeqCst), number) {
        (0, _) => {}
        (_, SIGHUP) => return,
        (SIGHUP, _) => {}
        _ => std::process::exit(i32::from(signal.status())),
    }
    RECEIVED.store(number, Ordering::SeqCst);
    match number {
        SIGHUP => tell!("stopping after this round"),
        _ => tell!(
            "stopping after this round ({} again stops at once)",
            signal.name()
        ),
    }
}

/// Whether the process was started by `nohup`, whose runs outlive their terminal. Systems that do not
/// say so are taken at their default.
#[cfg(unix)]
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}

/// Windows knows Ctrl-C alone, and its handler can say nothing.
#[cfg(not(unix))]
fn install() -> std::io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::flag;

    let again = Arc::new(AtomicBool::new(false));
    for number in [SIGINT, SIGTERM] {
        let status = i32::from(Signal(number).status());
        flag::register_conditional_shutdown(number, status, again.clone())?;
        flag::register(number, again.clone())?;
    }
    let wait = move || {
        while !again.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        RECEIVED.store(SIGINT, Ordering::SeqCst);
        tell!("stopping after this round (Ctrl-C again stops at once)");
    };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(wait).map(drop)
}
