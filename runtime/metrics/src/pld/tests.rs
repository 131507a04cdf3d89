use super::*;
use crate::accountant::Sampling;
use crate::privacy::gaussian_epsilon;

fn steps(sampling: Sampling, rate: f64, noise: f64, count: u64) -> Steps {
    Steps {
        sampling,
        rate,
        noise,
        count,
    }
}

#[test]
fn everyone_in_every_step_is_the_exact_mechanism() {
    for sampling in [Sampling::Poisson, Sampling::Fixed] {
        for (noise, count) in [(0.7, 1), (2.0, 1), (2.0, 10), (40.0, 1000)] {
            let exact = gaussian_epsilon((count as f64).sqrt(), noise, 1e-5).unwrap();
            let found = steps(sampling, 1.0, noise, count);
            let found = found.epsilon_by_losses(1e-5).unwrap();
            assert!(
                (found - exact).abs() < 2e-4 * exact.max(1.0),
                "{found} {exact}"
            );
            assert!(found > exact - 1e-7, "{found} {exact}");
        }
    }
}

#[test]
fn one_step_is_what_is_known_of_it() {
    // δ of a drawn client is q times that without sampling, at ε' with e^ε = 1 + q (e^ε' − 1):
    // Balle, Barthe and Gaboardi 2018, Theorem 2.
    for (rate, noise) in [(0.01, 1.0), (0.2, 0.8), (0.6, 3.0)] {
        let delta = 1e-6;
        let without = gaussian_epsilon(1.0, noise, delta / rate).unwrap();
        let expected = (rate * without.exp_m1()).ln_1p();
        for sampling in [Sampling::Poisson, Sampling::Fixed] {
            let found = steps(sampling, rate, noise, 1);
            let found = found.epsilon_by_losses(delta).unwrap();
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
}

#[test]
fn it_is_below_renyi_accounting() {
    for sampling in [Sampling::Poisson, Sampling::Fixed] {
        for (rate, noise, count) in [(0.01, 1.0, 1000), (0.1, 2.0, 200), (0.05, 0.7, 50)] {
            let steps = steps(sampling, rate, noise, count);
            let (renyi, losses) = (
                steps.epsilon(1e-5).unwrap(),
                steps.epsilon_by_losses(1e-5).unwrap(),
            );
            assert!(losses < renyi, "{losses} {renyi}");
            assert!(losses > 0.3 * renyi, "{losses} {renyi}");
        }
    }
}

#[test]
fn more_noise_fewer_steps_and_fewer_clients_are_less() {
    let of = |rate, noise, count| {
        let steps = steps(Sampling::Poisson, rate, noise, count);
        steps.epsilon_by_losses(1e-5).unwrap()
    };
    let here = of(0.02, 1.0, 500);
    assert!(of(0.02, 1.5, 500) < here && of(0.02, 1.0, 100) < here && of(0.01, 1.0, 500) < here);
    assert_eq!(of(0.02, 1.0, 0), 0.0);
    assert_eq!(of(0.01, 1e3, 1), 0.0);
    assert!(
        steps(Sampling::Poisson, 0.1, 0.0, 1)
            .epsilon_by_losses(1e-5)
            .is_err()
    );
}

#[test]
fn little_noise_is_little_privacy() {
    // Losses of hundreds and more, where `exp` overflows and `erfc` has few digits.
    for noise in [0.05, 0.025, 0.01, 1e-4, 1e-6] {
        let exact = gaussian_epsilon(1.0, noise, 1e-5).unwrap();
        let found = steps(Sampling::Fixed, 1.0, noise, 1);
        let found = found.epsilon_by_losses(1e-5).unwrap();
        assert!(
            found >= exact && found < 1.01 * exact,
            "{noise}: {found} {exact}"
        );
    }
    let none = steps(Sampling::Poisson, 0.5, 1e-200, 1);
    assert_eq!(none.epsilon_by_losses(1e-5).unwrap(), f64::INFINITY);
}

#[test]
fn little_noise_on_sampled_clients_is_little_privacy() {
    for (noise, rate, count) in [(0.025, 0.1, 1), (0.012, 0.5, 1), (0.03, 0.1, 20)] {
        let steps = steps(Sampling::Poisson, rate, noise, count);
        let (renyi, losses) = (
            steps.epsilon(1e-5).unwrap(),
            steps.epsilon_by_losses(1e-5).unwrap(),
        );
        // That of one step, as above, where 1 is little beside e^ε.
        let drawn = gaussian_epsilon(1.0, noise, 1e-5 / rate).unwrap();
        let least = (drawn + rate.ln()) * (1.0 - 1e-9);
        assert!(
            losses >= least && losses < 1.1 * renyi,
            "{noise}, {rate}, {count}: {losses}, {least} to {renyi}"
        );
    }
}
