//! Numbers that are clipped and noised, and bounds that rounds compute, as text: what comes back, and what is
//! refused.

use fedround_ir::fed::{Exposure, Module, Op, OpKind, Privacy, PrivacyOp, parse};

use crate::altered_text::{are_refused, comes_back};

const TEXT: &str = include_str!("texts/noised.fed");

#[test]
fn noised_numbers_come_back() {
    comes_back(TEXT);
}

#[test]
fn what_is_wrong_is_said() {
    let state = "central differential privacy is claimed";
    let cases = [
        (
            "priv.clip %13, %14 : f32",
            "priv.clip %13, %10 : f32",
            "expected operands (f32, f32)",
        ),
        (
            "priv.clip %13, %14 : f32",
            "priv.clip %13, %14 : params",
            "expected `params`, the value's type, found `f32`",
        ),
        (
            "priv.clip %13, %14",
            "priv.clip %k, %14",
            "expected operands (params, f32)",
        ),
        (
            "%17 = priv.noise %16, %sigma",
            "%17 = arith.mul %16, %sigma",
            state,
        ),
        (
            "priv.noise %19, %20 : params",
            "tree.scale %20, %19 : params",
            state,
        ),
        ("%z: f32 = 0.5", "%z: f32 = 0.0", state),
        ("%sigma: f32 = 1.0", "%sigma: f32 = 0.0", state),
        // A sum of numbers that may be arbitrarily large.
        (
            "fed.yield %11, %15",
            "fed.yield %11, %13",
            "noise hides nothing",
        ),
    ];
    are_refused(TEXT, cases);
}

#[test]
fn clipped_numbers_are_bounded_and_noised_ones_noised() {
    let module = parse(TEXT).unwrap();
    let privacy = Privacy::of(&module);
    let of = |kind: PrivacyOp| exposures(&module, &privacy, &OpKind::Privacy(kind));
    assert_eq!(of(PrivacyOp::Clip), [Exposure::Clipped; 2]);
    assert_eq!(of(PrivacyOp::Noise), [Exposure::Noised; 2]);
}

/// Of the results of all ops of a kind.
fn exposures(module: &Module, privacy: &Privacy, kind: &OpKind) -> Vec<Exposure> {
    let ops = module.all_ops().filter(|op: &&Op| op.kind == *kind);
    ops.map(|op| privacy.exposure(op.results[0])).collect()
}

const TREE: &str = include_str!("texts/tree.fed");

#[test]
fn noise_of_a_tree_is_over_the_passes_of_a_reshuffled_cohort() {
    comes_back(TREE);
    let module = parse(TREE).unwrap();
    let kind = OpKind::Privacy(PrivacyOp::TreeNoise);
    let privacy = Privacy::of(&module);
    assert_eq!(exposures(&module, &privacy, &kind), [Exposure::Noised]);
    let noise = "%9 = priv.tree_noise %8, %z, %0 : params@server\n    ";
    let looped = "%n = arith.index_const 3 : index@server\n    \
        %9 = opt.repeat %n with(%a = %8) {\n      \
        %b = priv.tree_noise %a, %z, %0 : params@server\n      \
        opt.yield %b : params@server\n    } : params@server\n    ";
    let cases = [
        (
            "fed.reshuffled %m",
            "fed.sample %z",
            "give it the cohort of `server.reshuffled(m)`",
        ),
        (
            "fed.reshuffled %m",
            "fed.reshuffled %z",
            "expected operands (index",
        ),
        (
            "%8, %z, %0",
            "%8, %m, %0",
            "expected operands (params@server, f32@server, cohort@server)",
        ),
        ("%8, %z, %0", "%8, %z, %z", "expected operands"),
        (
            "priv.clip %6, %2",
            "tree.scale %2, %6",
            "noise hides nothing",
        ),
        (
            "%z: f32 = 0.5",
            "%z: f32 = 0.0",
            "the standard deviation of this noise is 0",
        ),
        (
            "tree.add %w, %9",
            "tree.add %w, %8",
            "central differential privacy is claimed",
        ),
        (noise, looped, "take `tree_noise` out of the loop"),
    ];
    are_refused(TREE, cases);
}
