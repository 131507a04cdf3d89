//! Parties that host blocks of clients and send sums over them.

use super::mixed::model;
use super::processes::{Process, rounds};
use crate::superlink::SuperLink;
use crate::support::{Place, stderr};

/// How many floats lie between two, at most.
fn apart(a: &[f32], b: &[f32]) -> i64 {
    let place = |x: &f32| match i64::from(x.to_bits()) {
        // Those below zero go the other way.
        bits if bits >= 1 << 31 => (1 << 31) - bits,
        bits => bits,
    };
    let apart = a.iter().zip(b).map(|(a, b)| (place(a) - place(b)).abs());
    apart.max().unwrap_or_default()
}

/// Twenty clients at four parties are a distributed simulation.
pub fn four_blocks_equal_one_machine(server: &SuperLink) {
    let place = Place::new();
    let same = "--data mnist --data-dir data --clients 20 --model logistic --partition iid \
                --rounds 1 --set fraction=1";
    for spec in ["fedavg", "scaffold"] {
        let simulated = format!("{spec}-simulated");
        place.success(&format!(
            "run {spec} {same} --cohort-batch off --quiet --out {simulated}"
        ));
        let link = format!("--superlink http://{}", server.address());
        let _parties = ["0-4", "5-9", "10-14", "15-19"].map(|host| {
            let own = format!("--state {spec}-{host} --host {host} --heartbeat 10 --approve any");
            Process::start(&place, &format!("party {spec} {link} {same} {own}"))
        });
        let own = format!("--partial-sums --min-parties 4 --state {spec} --quiet");
        let line = format!("coordinator {spec} {link} {same} {own}");
        let output = Process::start(&place, &line).end();
        assert!(output.status.success(), "{}", stderr(&output));

        let [found, expected] = [spec, &simulated].map(|dir| {
            let bytes = place.read(&format!("{dir}/model.safetensors"));
            let keys = ["train_loss", "failed", "bytes_up"];
            (model(&bytes), rounds(&place, dir, &keys).remove(0))
        });
        let apart = apart(&found.0, &expected.0);
        eprintln!("{spec} with partial sums: at most {apart} units in the last place");
        assert!(apart <= 1, "{spec}: {apart}");
        assert_eq!(found.1[..2], expected.1[..2], "{spec}");
        // A sum has 64 bits, and stands for five values of 32.
        let bytes = |of: &[serde_json::Value]| of[2].as_f64().unwrap();
        let share = bytes(&found.1) / bytes(&expected.1);
        assert!(share < 0.45, "{spec}: {share}");
    }
}
