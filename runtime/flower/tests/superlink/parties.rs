//! Parties on threads, and what they compute.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fedround_flower::{
    Array, Arrays, Connection, Coordinator, Dtype, FlowerError, MessageKind, MetricValue, Metrics,
    NodeId, Party, PartyError, PartySettings, Payload, Reply, Request, Ticket,
};

use crate::server::LONG;

/// A party that answers requests until it is stopped.
pub struct PartyThread {
    pub id: NodeId,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

pub fn settings(dir: &Path) -> PartySettings {
    let mut settings = PartySettings::new(dir);
    settings.heartbeat = Duration::from_secs(10);
    settings.linger = LONG;
    settings
}

impl PartyThread {
    pub fn start(
        connection: &Connection,
        settings: PartySettings,
        work: impl Fn(&Request) -> Result<Payload, String> + Send + 'static,
    ) -> Self {
        let mut party = Party::join(connection, settings).unwrap();
        let id = party.node_id();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let request = match party.wait(Duration::from_millis(300)) {
                    Ok(Some(request)) => request,
                    // The coordinator was told.
                    Ok(None) | Err(FlowerError::Object(_)) => continue,
                    Err(error) => panic!("{error}"),
                };
                match work(&request) {
                    Ok(payload) => party.reply(&request, &payload).unwrap(),
                    Err(reason) => party.fail(&request, &reason).unwrap(),
                };
            }
            party.leave().unwrap()
        });
        Self {
            id,
            stop,
            thread: Some(thread),
        }
    }

    /// Stops it; gives the number of replies that were lost.
    pub fn leave(mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

pub fn floats(values: impl IntoIterator<Item = f32>) -> Array {
    let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
    Array::new(Dtype::F32, vec![bytes.len() / 4], bytes).unwrap()
}

pub fn numbers(array: &Array) -> Vec<f32> {
    let elements = array.bytes().chunks_exact(4);
    elements
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

pub fn model(arrays: impl IntoIterator<Item = (&'static str, Array)>) -> Payload {
    let arrays = arrays
        .into_iter()
        .map(|(name, array)| (name.to_owned(), array));
    Payload::new().with("arrays", arrays.collect::<Arrays>())
}

/// Adds a number to each parameter, as training would.
pub fn plus(step: f32) -> impl Fn(&Request) -> Result<Payload, String> + Send + 'static {
    move |request| {
        let arrays = request.payload.arrays("arrays").ok_or("no arrays")?;
        let mut changed = Arrays::new();
        for (name, array) in arrays {
            let values = numbers(array).into_iter().map(|value| value + step);
            let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
            let array = Array::new(Dtype::F32, array.shape().to_vec(), bytes);
            changed.insert(name.clone(), array.map_err(|error| error.to_string())?);
        }
        let examples = MetricValue::Int(100);
        let metrics: Metrics = [("num-examples".to_owned(), examples)].into();
        Ok(Payload::new()
            .with("arrays", changed)
            .with("metrics", metrics))
    }
}

/// Adds the step after a time.
pub fn slowly(
    time: Duration,
    step: f32,
) -> impl Fn(&Request) -> Result<Payload, String> + Send + 'static {
    let work = plus(step);
    move |request| {
        std::thread::sleep(time);
        work(request)
    }
}

pub fn train() -> MessageKind {
    MessageKind::new("train").unwrap()
}

/// All replies, in the order of the tickets.
pub fn collect(
    coordinator: &mut Coordinator,
    tickets: &[Ticket],
) -> Vec<Result<Payload, PartyError>> {
    let mut open = tickets.to_vec();
    let mut replies: Vec<Reply> = vec![];
    while !open.is_empty() {
        let reply = coordinator.wait(&open, LONG).unwrap();
        let reply = reply.unwrap_or_else(|| panic!("no reply to {open:?} in {LONG:?}"));
        open.retain(|ticket| *ticket != reply.ticket);
        replies.push(reply);
    }
    let place = |reply: &Reply| tickets.iter().position(|ticket| *ticket == reply.ticket);
    replies.sort_by_key(place);
    replies.into_iter().map(|reply| reply.content).collect()
}

/// The average of the parties' arrays.
pub fn average(replies: &[Payload]) -> Payload {
    let first = replies[0].arrays("arrays").unwrap();
    let averaged = first.keys().map(|name| {
        let mut sum = vec![0.; first[name].shape().iter().product()];
        for reply in replies {
            let values = numbers(&reply.arrays("arrays").unwrap()[name]);
            sum.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += value);
        }
        let count = replies.len() as f32;
        (name.clone(), floats(sum.into_iter().map(|sum| sum / count)))
    });
    Payload::new().with("arrays", averaged.collect::<Arrays>())
}
