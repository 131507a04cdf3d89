//! Methods that correct local steps: SCAFFOLD, FedNova, MOON, Per-FedAvg.

use burn::tensor::Device;
use fedround::algorithms::FedNovaSteps;
use fedround::models::DigitsConfig;

use super::*;
use crate::common::compile_model;

#[test]
fn one_client_has_no_drift_to_correct() {
    let data = digits(60, 1).train;
    let one = || dealt(&data, vec![(0..60).collect()], 3);
    let plain = after(&base(), one());
    for option in [1, 2] {
        let scaffold = Scaffold {
            option,
            ..scaffold()
        };
        // With one client c = c_1 in every round.
        assert_close(&after(&scaffold, one()), &plain, 1e-5);
    }
    assert_close(&after(&nova(), one()), &plain, 1e-5);
}

#[test]
fn the_first_round_of_scaffold_is_the_plain_mean() {
    let mut with = simulation(&scaffold(), "2nn", even());
    let mut plain = simulation(&base(), "2nn", even());
    run(&mut with, 1);
    run(&mut plain, 1);
    assert_close(&weights(&with), &weights(&plain), 1e-6);
    // And later ones are not.
    run(&mut with, 1);
    run(&mut plain, 1);
    let far = farthest(&weights(&with), &weights(&plain));
    assert!(far > 1e-4, "{far}");
}

#[test]
fn variates_of_clients_add_up_to_the_servers() {
    for fraction in [1.0, 0.5] {
        for option in [1, 2] {
            let scaffold = Scaffold {
                fraction,
                option,
                ..scaffold()
            };
            let mut simulation = simulation(&scaffold, "logistic", even());
            run(&mut simulation, 4);
            let server = simulation
                .server_state("scaffold.c")
                .unwrap()
                .unwrap()
                .concat();
            let mut mean = vec![0.0f32; server.len()];
            for k in 0..4 {
                let own = simulation.client_state(k, "scaffold.c_k").unwrap();
                let own = own.map_or_else(|| vec![0.0; mean.len()], |own| own.concat());
                mean.iter_mut().zip(own).for_each(|(m, c)| *m += c / 4.0);
            }
            assert_close(&server, &mean, 1e-5);
        }
    }
}

#[test]
fn a_variate_is_the_mean_gradient_of_the_round() {
    // Option II: c_k⁺ = c_k − c + (x − y)/(τ η), the mean of the τ gradients. In the first round
    // c = c_k = 0, so that x − y = τ η c_k⁺.
    let data = digits(30, 1).train;
    let one = || dealt(&data, vec![(0..30).collect()], 3);
    let mut simulation = simulation(&scaffold(), "logistic", one());
    let before = weights(&simulation);
    run(&mut simulation, 1);
    let c_k = simulation
        .client_state(0, "scaffold.c_k")
        .unwrap()
        .unwrap()
        .concat();
    let expected: Vec<f32> = before
        .iter()
        .zip(&c_k)
        .map(|(x, c)| x - 3.0 * LR * c)
        .collect();
    assert_close(&weights(&simulation), &expected, 1e-6);
}

#[test]
fn equal_steps_make_nova_the_mean() {
    assert_close(&after(&nova(), even()), &after(&base(), even()), 1e-5);
    // Of unequal steps it is not: clients with few steps count for more.
    let (nova, plain) = (after(&nova(), ragged()), after(&base(), ragged()));
    let far = farthest(&nova, &plain);
    assert!(far > 1e-4, "{far}");
    let prox = FedProx {
        base: base(),
        mu: 0.5,
    };
    let nova = FedNova {
        mu: 0.5,
        ..self::nova()
    };
    assert_close(&after(&nova, even()), &after(&prox, even()), 1e-5);
    let decayed = FedAvg {
        momentum: 0.5,
        weight_decay: 0.1,
        ..base()
    };
    let nova = FedNova {
        momentum: 0.5,
        weight_decay: 0.1,
        ..self::nova()
    };
    assert_close(&after(&nova, even()), &after(&decayed, even()), 1e-5);
}

/// With `τ_eff = Σ p_k τ_k` a round moves in the same direction as with `Σ p_k ‖a_k‖₁`, by their ratio as far.
#[test]
fn effective_steps_scale_a_round() {
    let moves = |momentum| {
        [FedNovaSteps::Norm, FedNovaSteps::Steps].map(|tau_eff| {
            let nova = FedNova {
                momentum,
                tau_eff,
                ..nova()
            };
            let mut simulation = simulation(&nova, "2nn", ragged());
            let before = weights(&simulation);
            run(&mut simulation, 1);
            let moves = weights(&simulation).into_iter().zip(before);
            moves.map(|(x, y)| x - y).collect::<Vec<f32>>()
        })
    };
    let [norm, steps] = moves(0.0);
    assert_close(&steps, &norm, 1e-6);
    let [norm, steps] = moves(0.9);
    assert!(farthest(&steps, &norm) > 1e-4);
    // Clients of 10, 15, 35 and 40 examples take 1, 2, 4 and 4 steps; `a` is 1, 1.9, 2.71 and 3.439.
    let tau = 0.1 * 1.0 + 0.15 * 2.0 + 0.75 * 4.0;
    let ratio: f32 = tau / (0.1 * 1.0 + 0.15 * 2.9 + 0.75 * 9.049);
    let expected: Vec<f32> = norm.iter().map(|x| ratio * x).collect();
    assert_close(&steps, &expected, 1e-6);
}

/// A proximal term and weight decay pull what gradients train, and running statistics are averaged as they
/// are.
#[test]
fn running_statistics_are_not_pulled() {
    let after = |algorithm: &dyn Algorithm| {
        let config = DigitsConfig {
            channels: [2, 2, 2],
            units: [4, 4],
            ..DigitsConfig::default()
        };
        let model = Box::new(config.init(GREY, &Device::default()));
        let program = compile_model(algorithm, "normalised", model, GREY);
        let mut simulation = even().simulation(program, 2);
        run(&mut simulation, 2);
        weights(&simulation)
    };
    let nova = FedNova {
        mu: 0.5,
        weight_decay: 0.1,
        ..nova()
    };
    let prox = FedProx {
        base: FedAvg {
            weight_decay: 0.1,
            ..base()
        },
        mu: 0.5,
    };
    assert_close(&after(&nova), &after(&prox), 1e-4);
}

#[test]
fn a_first_contrast_is_the_same_for_both_models() {
    // In a client's first round its last model is the global one: ℓ_con = ln 2, without slope.
    let moon = Moon {
        base: base(),
        mu: 5.0,
        tau: 0.5,
    };
    // Representations are features of the one model, and projections of the other.
    for model in ["2nn", "moon-lenet5"] {
        let (mut with, mut plain) = (
            simulation(&moon, model, even()),
            simulation(&base(), model, even()),
        );
        let (with_loss, plain_loss) = (run(&mut with, 1).train_loss, run(&mut plain, 1).train_loss);
        assert_close(&weights(&with), &weights(&plain), 1e-5);
        let gap = with_loss - plain_loss - 5.0 * std::f64::consts::LN_2;
        assert!(gap.abs() < 1e-4, "{model}: {gap}");
        run(&mut with, 1);
        run(&mut plain, 1);
        let far = farthest(&weights(&with), &weights(&plain));
        assert!(far > 1e-4, "{model}: {far}");
    }
}

#[test]
fn no_inner_step_is_the_mean() {
    for variant in [
        PerFedAvgVariant::FirstOrder,
        PerFedAvgVariant::HessianFree,
        PerFedAvgVariant::Exact,
    ] {
        let per = PerFedAvg {
            fraction: 1.0,
            alpha: 0.0,
            lr: LR,
            variant,
            ..PerFedAvg::default()
        };
        assert_close(&after(&per, even()), &after(&base(), even()), 1e-5);
    }
}

#[test]
fn a_difference_of_gradients_is_the_hessians_product() {
    let step = |variant: PerFedAvgVariant| {
        let per = PerFedAvg {
            fraction: 1.0,
            alpha: 0.1,
            lr: 0.5,
            variant,
            ..PerFedAvg::default()
        };
        trained(&per, "logistic", even(), 2)
    };
    let (exact, free, first) = (
        step(PerFedAvgVariant::Exact),
        step(PerFedAvgVariant::HessianFree),
        step(PerFedAvgVariant::FirstOrder),
    );
    assert_close(&free, &exact, 1e-4);
    let far = farthest(&first, &exact);
    assert!(far > 5e-4, "the Hessian does nothing: {far}");
}
