use super::super::testing::{Round, averaged, broken, round};
use super::*;
use crate::fed::{ArithOp, Reduce, Topology, TreeOp};

/// DP-FedAvg: the mean of clipped updates, with what is left out by the flags.
fn dp_fed_avg(claim: Option<Dp>, clip: bool, local: bool, central: bool) -> Module {
    round(|b, w| {
        if let Some(dp) = claim {
            b.claim(dp);
        }
        let sent = b.everyone(w);
        let update_k = b.map(sent, |b, k, w| {
            let trained = b.train(k, w);
            let mut update = b.op(OpKind::Tree(TreeOp::Sub), &[trained, w]);
            if clip {
                update = b.clip(update);
            }
            if local { b.noise(update) } else { update }
        });
        let mut update = b.mean(update_k);
        if central {
            update = b.noise(update);
        }
        b.op(OpKind::Tree(TreeOp::Add), &[w, update])
    })
}

#[test]
fn i14_noise_follows_clip() {
    for (local, central) in [(true, false), (false, true)] {
        assert_eq!(broken(&dp_fed_avg(None, true, local, central)), []);
        assert_eq!(
            broken(&dp_fed_avg(None, false, local, central)),
            [("priv.noise".to_owned(), Broken::NoiseWithoutClip)]
        );
    }
}

#[test]
fn i14_a_clipped_value_stays_bounded_under_sums_and_constant_factors_only() {
    let noised = |change: fn(&mut Round<'_>, Value) -> Value| {
        averaged(|b, k, w| {
            let trained = b.train(k, w);
            let clipped = b.clip(trained);
            let changed = change(b, clipped);
            b.noise(changed)
        })
    };
    assert_eq!(
        broken(&noised(|b, x| {
            let half = b.number(0.5);
            let scaled = b.op(OpKind::Tree(TreeOp::Scale), &[half, x]);
            b.op(OpKind::Tree(TreeOp::Add), &[scaled, x])
        })),
        []
    );
    let by_its_norm = broken(&noised(|b, x| {
        let norm = b.op(OpKind::Tree(TreeOp::SqNorm), &[x]);
        b.op(OpKind::Tree(TreeOp::Scale), &[norm, x])
    }));
    assert_eq!(by_its_norm[0].1, Broken::NoiseWithoutClip);
}

#[test]
fn i14_a_bound_derived_from_data_is_none() {
    let module = averaged(|b, k, w| {
        let trained = b.train(k, w);
        let norm = b.op(OpKind::Tree(TreeOp::SqNorm), &[trained]);
        let clipped = b.op(OpKind::Privacy(PrivacyOp::Clip), &[trained, norm]);
        b.noise(clipped)
    });
    assert_eq!(broken(&module)[0].1, Broken::NoiseWithoutClip);
}

#[test]
fn i15_local_noise_is_added_by_the_clients() {
    assert_eq!(broken(&dp_fed_avg(Some(Dp::Local), true, true, false)), []);
    let errors = broken(&dp_fed_avg(Some(Dp::Local), true, false, true));
    let [(op, Broken::LocalDp { after: Some(_), .. })] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    assert_eq!(op, "fed.mean");
    let errors = broken(&dp_fed_avg(Some(Dp::Local), true, false, false));
    assert!(matches!(errors[0].1, Broken::LocalDp { after: None, .. }));
}

#[test]
fn i15_central_noise_covers_what_the_next_round_is_told() {
    assert_eq!(
        broken(&dp_fed_avg(Some(Dp::Central), true, false, true)),
        []
    );
    let errors = broken(&dp_fed_avg(Some(Dp::Central), true, false, false));
    let [(op, Broken::CentralDp { reaches, .. })] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    assert_eq!(
        (op.as_str(), *reaches),
        ("fed.mean", "the next global parameters")
    );
}

#[test]
fn i15_a_state_beside_the_noise_is_told_too() {
    let module = round(|b, w| {
        b.claim(Dp::Central);
        let sent = b.everyone(w);
        let w_k = b.map(sent, |b, k, w| {
            let trained = b.train(k, w);
            b.clip(trained)
        });
        let mean = b.mean(w_k);
        let _ = b.op(OpKind::Fed(FedOp::SetServerState("v".into())), &[mean]);
        b.noise(mean)
    });
    let errors = broken(&module);
    assert!(
        matches!(
            &errors[..],
            [(
                _,
                Broken::CentralDp {
                    reaches: "a server state",
                    ..
                }
            )]
        ),
        "{errors:?}"
    );
}

/// A weighted mean of clipped updates with noise, where the closure makes the weights.
fn weighted(weight: fn(&mut Round<'_>, Value) -> Value) -> Module {
    reduced(Reduce::WeightedMean, weight)
}

/// The same of a mean or a sum.
fn reduced(reduce: Reduce, weight: fn(&mut Round<'_>, Value) -> Value) -> Module {
    round(|b, w| {
        b.claim(Dp::Central);
        let sent = b.everyone(w);
        let w_k = b.map(sent, |b, k, w| {
            let trained = b.train(k, w);
            b.clip(trained)
        });
        let n_k = b.map(sent, |b, k, _| weight(b, k));
        let mean = b.op(OpKind::Fed(FedOp::Reduce(reduce)), &[w_k, n_k]);
        b.noise(mean)
    })
}

#[test]
fn i15_a_weight_without_a_bound_is_not_hidden() {
    let examples = |b: &mut Round<'_>, k: Value| b.op(OpKind::Fed(FedOp::NumExamples), &[k]);
    let names =
        |module: &Module| -> Vec<String> { broken(module).into_iter().map(|(op, _)| op).collect() };
    assert_eq!(
        names(&weighted(examples)),
        ["priv.noise", "fed.weighted_mean"]
    );
    assert_eq!(broken(&weighted(|b, _| b.number(1.0))), []);
    // min(n, 100), as it is written in the language.
    assert_eq!(
        broken(&weighted(|b, k| {
            let n = b.op(OpKind::Fed(FedOp::NumExamples), &[k]);
            let most = b.number(100.0);
            let above = b.op(OpKind::Arith(ArithOp::Sub), &[n, most]);
            b.op(OpKind::Arith(ArithOp::Select), &[above, most, n])
        })),
        []
    );
    // max(n, 100) is no bound.
    let most = weighted(|b, k| {
        let n = b.op(OpKind::Fed(FedOp::NumExamples), &[k]);
        let least = b.number(100.0);
        let above = b.op(OpKind::Arith(ArithOp::Sub), &[n, least]);
        b.op(OpKind::Arith(ArithOp::Select), &[above, n, least])
    });
    assert_eq!(names(&most), ["priv.noise", "fed.weighted_mean"]);
}

/// A client whose weight is near the sum of all is all of the mean, and weights may cancel.
#[test]
fn i15_a_weight_made_of_data_is_not_hidden() {
    let clipped = |b: &mut Round<'_>, k: Value| {
        let of = FedOp::ClientState("loss".into(), crate::fed::Kind::Scalar);
        let loss = b.op(OpKind::Fed(of), &[k]);
        let kept = OpKind::Fed(FedOp::SetClientState("loss".into()));
        b.op(kept, &[k, loss]);
        b.clip(loss)
    };
    for (reduce, name) in [
        (Reduce::WeightedMean, "fed.weighted_mean"),
        (Reduce::WeightedSum, "fed.weighted_sum"),
    ] {
        let found = broken(&reduced(reduce, clipped)).into_iter();
        let names: Vec<String> = found.map(|(op, _)| op).collect();
        assert_eq!(names, ["priv.noise", name]);
        assert_eq!(broken(&reduced(reduce, |b, _| b.number(1.0))), []);
    }
}

/// Counts of labels are made of data: the sum of a cohort needs noise of its own.
#[test]
fn i15_counts_of_labels_are_not_hidden() {
    let counted = |clip: bool| {
        round(|b, w| {
            b.claim(Dp::Central);
            let sent = b.everyone(w);
            let counts_k = b.map(sent, |b, k, _| {
                let counts = b.op(OpKind::Fed(FedOp::LabelCounts), &[k]);
                let counts = if clip { b.clip(counts) } else { counts };
                let release = PrivacyOp::Release("counts".into());
                b.op(OpKind::Privacy(release), &[counts])
            });
            let mut counts = b.op(OpKind::Fed(FedOp::Reduce(Reduce::Sum)), &[counts_k]);
            if clip {
                counts = b.noise(counts);
            }
            b.op(
                OpKind::Fed(FedOp::SetServerState("counts".into())),
                &[counts],
            );
            w
        })
    };
    assert_eq!(broken(&counted(true)), []);
    let errors = broken(&counted(false));
    assert!(
        matches!(&errors[..], [(op, Broken::CentralDp { .. })] if op == "fed.sum"),
        "{errors:?}"
    );
}

/// The noised sum of clipped updates, divided by the size of a cohort.
fn over_size(cohort: fn(&mut Round<'_>) -> Value, noised: bool) -> Vec<String> {
    let module = round(|b, w| {
        b.claim(Dp::Central);
        let cohort = cohort(b);
        let sent = b.op(OpKind::Fed(FedOp::Broadcast), &[w, cohort]);
        let w_k = b.map(sent, |b, k, w| {
            let trained = b.train(k, w);
            b.clip(trained)
        });
        let sum = b.op(OpKind::Fed(FedOp::Reduce(Reduce::Sum)), &[w_k]);
        let sum = b.noise(sum);
        let mut size = b.op(OpKind::Fed(FedOp::CohortSize), &[cohort]);
        if noised {
            size = b.noise(size);
        }
        let one = b.number(1.0);
        let share = b.op(OpKind::Arith(ArithOp::Div), &[one, size]);
        b.op(OpKind::Tree(TreeOp::Scale), &[share, sum])
    });
    broken(&module).into_iter().map(|(op, _)| op).collect()
}

#[test]
fn i15_the_size_of_a_cohort_of_chance_is_noised() {
    let fixed = |b: &mut Round<'_>| {
        let half = b.number(0.5);
        let some = b.op(OpKind::Fed(FedOp::Sample), &[half]);
        b.op(OpKind::Fed(FedOp::Sample), &[half, some])
    };
    let chance = |b: &mut Round<'_>| {
        let half = b.number(0.5);
        let some = OpKind::Fed(FedOp::Choose(crate::fed::Choice::Bernoulli));
        let some = b.op(some, &[half]);
        b.op(OpKind::Fed(FedOp::Sample), &[half, some])
    };
    assert_eq!(over_size(fixed, false), [""; 0]);
    assert_eq!(over_size(chance, false), ["fed.cohort_size"]);
    assert_eq!(over_size(chance, true), [""; 0]);
}

#[test]
fn i14_a_factor_without_a_bound_undoes_a_clip() {
    let module = averaged(|b, k, w| {
        let trained = b.train(k, w);
        let clipped = b.clip(trained);
        let n = b.op(OpKind::Fed(FedOp::NumExamples), &[k]);
        let scaled = b.op(OpKind::Tree(TreeOp::Scale), &[n, clipped]);
        b.noise(scaled)
    });
    assert_eq!(broken(&module)[0].1, Broken::NoiseWithoutClip);
}

#[test]
fn i15_noise_of_zero_keeps_no_claim() {
    for dp in [Dp::Local, Dp::Central] {
        for (sigma, kept) in [(0.0, false), (-1.0, false), (0.5, true)] {
            let module = round(|b, w| {
                b.claim(dp);
                let sent = b.everyone(w);
                let local = dp == Dp::Local;
                let w_k = b.map(sent, |b, k, w| {
                    let trained = b.train(k, w);
                    let clipped = b.clip(trained);
                    match local {
                        true => noise_of(b, clipped, sigma),
                        false => clipped,
                    }
                });
                let mean = b.mean(w_k);
                match local {
                    true => mean,
                    false => noise_of(b, mean, sigma),
                }
            });
            let errors = broken(&module);
            let none = |(op, why): &(String, Broken)| {
                op == "priv.noise"
                    && matches!(why, Broken::NoNoise { scale, .. } if *scale == sigma.to_string())
            };
            assert_eq!(errors.len(), usize::from(!kept));
            assert!(errors.iter().all(none), "{errors:?}");
        }
    }
}

/// Noise that may be left out does not break a claim which other noise keeps.
#[test]
fn i15_noise_of_zero_beside_other_noise_is_fine() {
    let module = round(|b, w| {
        b.claim(Dp::Central);
        let sent = b.everyone(w);
        let w_k = b.map(sent, |b, k, w| {
            let trained = b.train(k, w);
            let clipped = b.clip(trained);
            noise_of(b, clipped, 0.0)
        });
        let mean = b.mean(w_k);
        noise_of(b, mean, 0.5)
    });
    assert_eq!(broken(&module), []);
}

fn noise_of(b: &mut Round<'_>, x: Value, sigma: f64) -> Value {
    let sigma = b.number(sigma);
    b.op(OpKind::Privacy(PrivacyOp::Noise), &[x, sigma])
}

#[test]
fn i15_a_gradient_leaves_running_statistics_from_there_on() {
    let judged = |told_later: bool| {
        round(|b, w| {
            b.claim(Dp::Central);
            let sent = b.everyone(w);
            let w_k = b.map(sent, |b, k, w| b.train(k, w));
            let mean = b.mean(w_k);
            b.gradient_on_server(w, mean);
            // Noised, but for what the gradient has left in `w`.
            let zero = b.number(0.0);
            let nothing = b.op(OpKind::Tree(TreeOp::Scale), &[zero, mean]);
            let clipped = b.clip(nothing);
            let noised = b.noise(clipped);
            match told_later {
                true => b.op(OpKind::Tree(TreeOp::Add), &[w, noised]),
                false => noised,
            }
        })
    };
    // It was sent before.
    assert_eq!(broken(&judged(false)), []);
    let errors = broken(&judged(true));
    assert!(
        matches!(&errors[..], [(op, Broken::CentralDp { .. })] if op == "fed.mean"),
        "{errors:?}"
    );
}

#[test]
fn i15_what_clients_send_to_each_other_passes_no_server() {
    for dp in [Dp::Central, Dp::Local] {
        let module = round(|b, w| {
            b.claim(dp);
            let sent = b.everyone(w);
            let w_k = b.map(sent, |b, k, w| b.train(k, w));
            let mixed = b.op(OpKind::Fed(FedOp::Mix(Topology::Ring)), &[w_k]);
            b.op(OpKind::Fed(FedOp::Consensus), &[mixed])
        });
        let errors = broken(&module);
        assert!(errors.iter().any(|(op, _)| op == "fed.mix"), "{errors:?}");
    }
}
