mod golden;
mod mutation;
mod round_trip;

use bytes::Bytes;

use super::{Encoded, ObjectId, ReceivedObjects};

/// What the other side would have after it pulled these objects.
fn received<'a>(objects: impl IntoIterator<Item = (&'a str, Bytes)>) -> ReceivedObjects {
    let mut set = ReceivedObjects::new(1 << 30);
    for (id, bytes) in objects {
        set.insert(ObjectId::parse(id).unwrap(), bytes).unwrap();
    }
    set
}

fn all<'a>(sets: &[&'a Encoded]) -> Vec<(&'a str, Bytes)> {
    let objects = sets.iter().flat_map(|set| &set.objects);
    objects
        .map(|(id, bytes)| (id.as_str(), bytes.clone()))
        .collect()
}
