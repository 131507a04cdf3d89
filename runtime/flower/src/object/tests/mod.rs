mod golden;
mod mutation;
mod round_trip;

use bytes::Bytes;

use super::{ContentEncoder, ObjectId, ReceivedObjects};

/// What the other side would have after it pulled these objects.
fn received<'a>(objects: impl IntoIterator<Item = (&'a str, Bytes)>) -> ReceivedObjects {
    let mut set = ReceivedObjects::new(1 << 30);
    for (id, bytes) in objects {
        set.insert(ObjectId::parse(id).unwrap(), bytes).unwrap();
    }
    set
}

/// All objects that were encoded.
fn all<'a>(encoder: &'a ContentEncoder<'_>) -> Vec<(&'a str, Bytes)> {
    let objects = encoder.objects().iter();
    objects
        .map(|(id, bytes)| (id.as_str(), bytes.clone()))
        .collect()
}
