//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::advice::INTERRUPTED;
use crate::output::tell;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the run to stop after its round; a second one ends the process.
pub(crate) fn listen() -> &'static AtomicBool {
    // Where no handler can be installed, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        tell!("stopping after this round (Ctrl-C again stops at once)");
    });
    &STOP
}
