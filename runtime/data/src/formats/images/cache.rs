//! A cache of decoded images.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A slot for each image, of which a bounded number is filled. Reads take no lock.
pub(super) struct Cache {
    slots: Vec<OnceLock<Box<[u8]>>>,
    free: AtomicUsize,
}

impl Cache {
    /// A cache of at most `room` of `images` images.
    pub fn new(images: usize, room: usize) -> Self {
        let slots = if room == 0 { 0 } else { images };
        Self {
            slots: std::iter::repeat_with(OnceLock::new).take(slots).collect(),
            free: AtomicUsize::new(room),
        }
    }

    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.slots.get(index)?.get().map(|image| &**image)
    }

    /// Keeps the image if there is room for it.
    pub fn offer(&self, index: usize, image: &[u8]) {
        let Some(slot) = self.slots.get(index) else {
            return;
        };
        let take = |free: usize| free.checked_sub(1);
        let room = self
            .free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        if room.is_ok() && slot.set(image.into()).is_err() {
            // Another thread filled the slot first and has taken room for its copy.
            self.free.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("slots", &self.slots.len())
            .field("free", &self.free)
            .finish()
    }
}
