//! Captures kernel launches as a graph, through burn, and replays it. This file has the only unsafe block of
//! the library.

use std::thread::{self, ThreadId};

use burn_backend::{Backend, BackendGraph};
use burn_dispatch::{Dispatch, DispatchDevice};

use super::buffer::lost_buffer;
use crate::device::{ExecError, with_exclusive_gpu_access, with_gpu_access};

/// The number of runs before the captured one. In them, burn tunes its kernels, burn-fusion settles which ops
/// become one kernel, and memory is allocated that the captured run uses again.
const WARM_UP: usize = 3;

/// Captured kernel launches. They name the buffers that they read and write by address.
pub(super) struct Graph {
    device: DispatchDevice,
    /// The graph; `None` only while it is dropped.
    graph: Option<BackendGraph<Dispatch>>,
    /// The thread that captured the graph. burn has one stream for each thread, and a graph is replayed on
    /// the stream that captured it.
    thread: ThreadId,
}

impl Drop for Graph {
    fn drop(&mut self) {
        // The driver waits for the last replay before it frees a graph, which it may not do while another
        // thread captures. The request is queued here, with access to the GPU; a thread that captures gets the
        // access to itself once the queue is empty.
        let graph = self.graph.take();
        with_gpu_access(|| drop(graph));
    }
}

/// Ends a capture when it is dropped, if the capture was left by an error or a panic.
struct CaptureGuard<'a> {
    device: &'a DispatchDevice,
    /// Whether the stream is prepared for a capture, or captures.
    open: bool,
}

impl Drop for CaptureGuard<'_> {
    fn drop(&mut self) {
        if self.open {
            // This ends a capture that has not begun, too: a warm-up run that fails leaves the stream
            // prepared. The error is ignored: the caller already reports the one that led here.
            _ = Dispatch::graph_stop_capture(self.device);
        }
    }
}

impl Graph {
    /// Captures the kernel launches of `run`. It is called a few times to warm up, and once to be captured;
    /// in that last call, no kernel runs and no buffer changes. `run` must read and write the same buffers in
    /// each call.
    ///
    /// # Errors
    ///
    /// The error of `run`, or the reason why the device cannot capture it.
    pub fn record(
        device: &DispatchDevice,
        mut run: impl FnMut() -> Result<(), ExecError>,
    ) -> Result<Self, ExecError> {
        Dispatch::graph_prepare(device).map_err(ExecError::from)?;
        let guard = CaptureGuard { device, open: true };
        for _ in 0..WARM_UP {
            run()?;
            Dispatch::sync(device).map_err(ExecError::from)?;
        }
        let graph = with_exclusive_gpu_access(move || {
            let mut guard = guard;
            Dispatch::graph_start_capture(device).map_err(ExecError::from)?;
            run()?;
            guard.open = false;
            Dispatch::graph_stop_capture(device).map_err(ExecError::from)
        })?;
        Ok(Self {
            device: device.clone(),
            graph: Some(graph),
            thread: thread::current().id(),
        })
    }

    /// Whether the present thread captured the graph, and so may replay it.
    pub fn is_from_this_thread(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Launches the captured kernels again.
    ///
    /// # Errors
    ///
    /// Another thread captured the graph, in which case nothing is launched, or the device does not accept
    /// the launch. The next read from the device reports a failure of the kernels themselves.
    #[allow(
        unsafe_code,
        reason = "burn's graphs name buffers by address and track none of them"
    )]
    pub fn replay(&self) -> Result<(), ExecError> {
        if !self.is_from_this_thread() {
            return Err(ExecError::NotReplayed(
                "recorded by another thread".to_owned(),
            ));
        }
        let Some(graph) = &self.graph else {
            return Err(lost_buffer());
        };
        // SAFETY: `burn::tensor::graph::Graph::replay` has three conditions.
        // - Liveness: every buffer that the captured run read or wrote must still exist at its address. The
        //   graph is a field of the `CapturedStep` that owns these buffers, and the backend pins the others
        //   (intermediate results) to the graph. The step never exchanges a buffer: `Buffer::write` writes in
        //   place, because no handle leaves the step; it gives out copies only. The examples of an
        //   `ExampleColumn` are held by the step, and nobody writes them. As a check, the first replays are
        //   compared with a plain run, which would differ if a buffer had been exchanged.
        // - No concurrent use: for the same reason nobody else has a handle to these buffers, and the step
        //   is borrowed mutably while it replays.
        // - Same stream: burn has one stream for each thread, and this is the thread that captured the graph
        //   (checked above). The step allocated its buffers on this thread, and writes and reads them on it.
        unsafe { Dispatch::graph_replay(&self.device, graph) }.map_err(ExecError::from)
    }
}

/// The reason why a step is not captured, as the device or driver gave it.
pub(super) fn reason(error: ExecError) -> String {
    match error {
        ExecError::Device(why) | ExecError::NotReplayed(why) => why,
        error => error.to_string(),
    }
}
