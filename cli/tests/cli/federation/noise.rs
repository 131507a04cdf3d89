//! A coordinator that ends in a round in which clients tell noise.

use super::processes::{Process, coordinator, rounds};
use crate::superlink::{SuperLink, until};
use crate::support::{Place, SMALL, stderr};

/// ADCOL with Laplace noise on each representation. What was told in the round of the first process counts, and is not
/// told again.
pub fn a_coordinator_that_goes_on_tells_noise_once(server: &SuperLink) {
    let (place, noise) = (Place::new(), "--set noise=laplace --set epsilon=5");
    let link = format!("--superlink http://{}", server.address());
    let _parties = ["0-4", "5-9"].map(|host| {
        let own = format!("--state party-{host} --host {host} --heartbeat 10 --approve any");
        Process::start(&place, &format!("party adcol {link} {own} {SMALL} {noise}"))
    });
    let line = format!("{} {noise}", coordinator(server, "adcol"));
    let first = Process::start(&place, &line);
    let begun = "adcol/checkpoints/begun";
    until("a round is begun", || place.path(begun).exists());
    // It ends once everything that it sends is sent: of a message that is cut off, parties wait two minutes for the rest.
    first.kill("-TERM");
    let whole = (1..=4)
        .rev()
        .find(|round| {
            let name = format!("adcol/checkpoints/round-{round:06}.ckpt");
            place.path(&name).exists()
        })
        .unwrap_or(0);
    assert!(whole < 4, "no round was left when the process was stopped");
    // As if it had been killed in the next round.
    let next = whole + 1;
    place.write(begun, next.to_string().as_bytes());
    let output = Process::start(&place, &line).end();
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains(&format!("round {next} was begun before: what was told")),
        "{text}"
    );
    let skipped = rounds(&place, "adcol", &["round", "skipped"]);
    let skipped: Vec<bool> = skipped.iter().map(|round| round[1] == true).collect();
    let expected: Vec<bool> = (1..=4).map(|round| round == next).collect();
    assert_eq!(skipped, expected);
    let spent = &place.json("adcol/summary.json")["privacy"]["mechanisms"][0];
    assert_eq!(
        (&spent["rounds"], &spent["neighbours"]),
        (&4.into(), &"row-replaced".into())
    );
}
