//! Step sizes round by round.

use fedround::optim::schedule::{cosine, exponential, inverse_sqrt, inverse_time, step, warmup};
use fedround::prelude::*;

use super::{client, server};
use crate::common::{run, weights};

/// What a schedule is in each of the first rounds, on the server and on a client.
fn rates(
    on_server: impl Fn(&Server<Scalar>) -> Server<Scalar> + 'static,
    on_client: impl Fn(&Scalar) -> Scalar + 'static,
) -> Vec<f32> {
    let mut server = server(move |server, w| {
        let rate = on_server(&server.round());
        w.zeros_like().add_scalar(rate)
    });
    let mut client = client(move |k, w| w.zeros_like().add_scalar(on_client(&k.round())));
    let mut rates = Vec::new();
    for _ in 0..8 {
        run(&mut server, 1);
        run(&mut client, 1);
        rates.push(weights(&server)[0]);
        assert_eq!(weights(&client)[0], weights(&server)[0]);
    }
    rates
}

macro_rules! assert_rates {
    (|$t:ident| $schedule:expr, $expected:expr) => {
        for (i, rate) in rates(|$t| $schedule, |$t| $schedule)
            .into_iter()
            .enumerate()
        {
            let expected: f64 = $expected(i as f64);
            assert!(
                (f64::from(rate) - expected).abs() < 1e-6,
                "round {i}: {rate}, expected {expected}"
            );
        }
    };
}

#[test]
fn schedules_follow_their_formulas() {
    assert_rates!(|t| step(0.8, t, 3.0, 0.5), |t: f64| 0.8
        * 0.5f64.powf((t / 3.0).floor()));
    assert_rates!(|t| exponential(0.8, t, 0.9), |t: f64| 0.8 * 0.9f64.powf(t));
    assert_rates!(|t| inverse_sqrt(0.1, t), |t: f64| 0.1 / (t + 1.0).sqrt());
    assert_rates!(|t| inverse_time(0.1, t, 0.5), |t: f64| 0.1
        / (1.0 + 0.5 * t));
    assert_rates!(|t| cosine(0.8, t, 5.0), |t: f64| 0.4
        * (1.0 + (std::f64::consts::PI * t.min(5.0) / 5.0).cos()));
    assert_rates!(|t| warmup(0.8, t, 4.0), |t: f64| 0.8
        * ((t + 1.0) / 4.0).min(1.0));
    assert_rates!(|t| warmup(inverse_sqrt(0.8, t), t, 4.0), |t: f64| 0.8
        / (t + 1.0).sqrt()
        * ((t + 1.0) / 4.0).min(1.0));
}
