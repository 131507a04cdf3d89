//! Records kernel launches as a graph of burn's and launches it again. This is the one unsafe
//! place.

use std::thread::{self, ThreadId};

use burn_backend::{Backend, BackendGraph};
use burn_dispatch::{Dispatch, DispatchDevice};

use crate::device::{ExecError, alone};

/// Runs before the one that is recorded: of burn's fusion the first ones tune kernels and settle
/// which ops become one kernel, and they allocate what the recorded run takes again.
const WARM_UP: usize = 3;

/// Recorded launches, with the buffers that they read and write by address.
pub(super) struct Graph {
    device: DispatchDevice,
    graph: BackendGraph<Dispatch>,
    /// Its stream is that of the thread that recorded it.
    thread: ThreadId,
}

/// Ends what was begun, whatever happens in between.
struct Window<'a> {
    device: &'a DispatchDevice,
    prepared: bool,
    open: bool,
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        // A stream that was prepared leaves that state through a window alone. An error here
        // follows one that is reported.
        if self.prepared && !self.open {
            self.open = Dispatch::graph_start_capture(self.device).is_ok();
        }
        if self.open {
            _ = Dispatch::graph_stop_capture(self.device);
        }
    }
}

impl Graph {
    /// Records the launches of `run`, which runs a few times before that; while it is recorded it
    /// changes nothing. It must read from and write to the same buffers each time.
    ///
    /// # Errors
    ///
    /// What `run` says, or why the device records nothing.
    pub fn record(
        device: &DispatchDevice,
        mut run: impl FnMut() -> Result<(), ExecError>,
    ) -> Result<Self, ExecError> {
        let said = ExecError::from;
        let mut window = Window {
            device,
            prepared: false,
            open: false,
        };
        Dispatch::graph_prepare(device).map_err(said)?;
        window.prepared = true;
        for _ in 0..WARM_UP {
            run()?;
            Dispatch::sync(device).map_err(said)?;
        }
        let graph = alone(move || {
            let mut window = window;
            // A window that fails to open leaves the stream as it was before it was prepared.
            window.prepared = false;
            Dispatch::graph_start_capture(device).map_err(said)?;
            window.open = true;
            run()?;
            window.open = false;
            Dispatch::graph_stop_capture(device).map_err(said)
        })?;
        Ok(Self {
            device: device.clone(),
            graph,
            thread: thread::current().id(),
        })
    }

    /// Whether the present thread may replay it.
    pub fn is_of_this_thread(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Launches everything again. Nothing happens on a thread that did not record it.
    ///
    /// # Errors
    ///
    /// The device does not take it. What goes wrong later is seen by the next read.
    #[allow(
        unsafe_code,
        reason = "burn's graphs name buffers by address and track none of them"
    )]
    pub fn replay(&self) -> Result<(), ExecError> {
        if !self.is_of_this_thread() {
            return Err(ExecError::NotReplayed(
                "recorded by another thread".to_owned(),
            ));
        }
        // SAFETY: the three conditions of `burn::tensor::graph::Graph::replay`.
        // - Liveness: a graph is a field of the `Step` that owns every buffer which the recorded
        //   run read or wrote, beside those that the backend pins to the graph. These buffers are
        //   dropped with the graph; they are only ever written in place (`Buffer::write`), because
        //   no handle of them leaves the step, of which copies alone are given out. The first
        //   replays are compared with a plain run, which a buffer that was exchanged fails.
        // - No concurrent use: for the same reason nobody else can name these buffers, and a step
        //   is borrowed mutably while it replays.
        // - Same stream: a thread is a stream, and this is the thread that recorded. The buffers
        //   were made on it, and `Step` refreshes and reads them where it replays.
        unsafe { Dispatch::graph_replay(&self.device, &self.graph) }.map_err(ExecError::from)
    }
}

/// Why a step is not recorded, in the words of who refuses.
pub(super) fn reason(error: ExecError) -> String {
    match error {
        ExecError::Device(why) | ExecError::NotReplayed(why) => why,
        error => error.to_string(),
    }
}
