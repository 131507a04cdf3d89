//! How long rounds take: `cargo test -p fedround-flower --release --test superlink cost -- --ignored --nocapture`.

use std::time::Instant;

use fedround_flower::{Array, Dtype};

use crate::parties::{PartyThread, collect, model, settings, train};
use crate::server::{LONG, SuperLink, flower};

#[test]
#[ignore = "a measurement"]
fn cost_of_a_model_of_100_mb_for_two_parties() {
    let Some(programs) = flower() else { return };
    let server = SuperLink::open(&programs);
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let connection = server.connect();
    let echo = || |request: &fedround_flower::Request| Ok(request.payload.clone());
    let parties = [
        PartyThread::start(&connection, settings(dirs[0].path()), echo()),
        PartyThread::start(&connection, settings(dirs[1].path()), echo()),
    ];
    let to = parties.each_ref().map(|party| party.id);
    let mut coordinator = server.coordinator();
    for megabytes in [0, 10, 100] {
        for round in 0..3_u8 {
            // Other parameters each round, as in training: nothing is there already.
            let bytes: Vec<u8> = (0..megabytes * 1_000_000 + 4_u32)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 ^ round)
                .collect();
            let shape = vec![bytes.len() / 4];
            let array = Array::new(Dtype::F32, shape, bytes).unwrap();
            let content = model([("w", array)]);
            let start = Instant::now();
            let tickets = coordinator.send(&to, &train(), &content, LONG).unwrap();
            let sent = start.elapsed();
            let replies = collect(&mut coordinator, &tickets);
            assert!(replies.iter().all(|reply| reply.as_ref() == Ok(&content)));
            eprintln!(
                "{megabytes} MB: sent in {:.2} s, both replies after {:.2} s",
                sent.as_secs_f64(),
                start.elapsed().as_secs_f64()
            );
        }
    }
    assert_eq!(parties.map(PartyThread::leave), [0, 0]);
}
