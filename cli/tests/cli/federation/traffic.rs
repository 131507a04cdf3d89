//! The measured bytes between parties and a SuperLink.

use super::processes::{Process, rounds};
use super::proxy::Proxy;
use crate::superlink::SuperLink;
use crate::support::{Place, stderr};

/// The bytes of the messages and objects that cross are those that the run counts.
pub fn what_crosses_is_what_is_counted(server: &SuperLink) {
    let (place, proxy) = (Place::new(), Proxy::before(server.address()));
    let same = "--data mnist --data-dir data --clients 2 --model 2nn --rounds 2 --set fraction=1";
    let party = |host: usize| {
        let link = format!("--superlink http://{} --heartbeat 10", proxy.address());
        let line = format!("party fedavg {link} {same} --state {host} --host {host} --approve any");
        Process::start(&place, &line)
    };
    let _parties = [party(0), party(1)];
    let link = format!("--superlink http://{}", server.address());
    let line = format!("coordinator fedavg {link} {same} --state run --min-parties 2 --quiet");
    let output = Process::start(&place, &line).end();
    assert!(output.status.success(), "{}", stderr(&output));

    let counted = |key: &str| {
        let rounds = rounds(&place, "run", &[key]);
        let bytes = rounds.iter().map(|round| round[0].as_u64().unwrap());
        bytes.sum::<u64>() as f64
    };
    let counts = proxy.counts();
    // Small values are in the messages, others are objects.
    let both = ["messages", "object"];
    let sent = both.map(|what| counts[&format!("/v1/fleet/push-{what}")].up as f64);
    let received = both.map(|what| counts[&format!("/v1/fleet/pull-{what}")].down as f64);
    let [sent, received] = [sent, received].map(|bytes| bytes.iter().sum::<f64>());
    let more = [sent / counted("bytes_up"), received / counted("bytes_down")].map(|x| x - 1.0);
    eprintln!("more than counted: up {:.4}, down {:.4}", more[0], more[1]);
    assert!(
        more.iter().all(|more| (0.0..0.02).contains(more)),
        "{more:?} {counts:?}"
    );
}
