//! Breaches of invariants 8 to 13.

use super::super::verify::tests::{loc, mapped, module, only, regularizer};
use super::super::{Builder, Hook, Module, Reduce, verify, verify_linked};
use super::*;
use crate::fed::{ArithOp, Encoding, ExternalOp, FedOp, OptOp, PrivacyOp, TreeOp};

#[test]
fn i8_ops_are_at_their_place() {
    let on_client = module(Hook::Regularizer, |b, args| {
        let _ = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc())
    });
    let error = only(&on_client);
    assert!(
        error
            .to_string()
            .contains("runs on the server only, found in code of a client"),
        "{error}"
    );
}

#[test]
fn i8_the_server_draws_outside_of_a_map() {
    let name = || "coin".to_owned();
    let draws = [
        (FedOp::Uniform(name()), 0),
        (FedOp::Normal(name()), 0),
        (FedOp::Permutation(name()), 1),
    ];
    for (op, counts) in draws {
        let drawn = |clients: usize| {
            mapped(|b, _, args| {
                let count = b.push(OpKind::Arith(ArithOp::IndexConst(3)), &[], loc());
                let operands = [&count[..counts], &args[..clients]].concat();
                b.push(OpKind::Fed(op.clone()), &operands, loc());
                vec![args[1]]
            })
        };
        verify(&drawn(1)).unwrap();
        let error = only(&drawn(0)).to_string();
        let expected = "found in code of a `fed.map`; draw before the `map`";
        assert!(error.contains(expected), "{error}");
    }
    let of_the_server = module(Hook::Round, |b, w| {
        b.push(OpKind::Fed(FedOp::Uniform(name())), &[], loc());
        w.to_vec()
    });
    verify(&of_the_server).unwrap();
}

#[test]
fn i8_a_loop_over_rows_has_as_many_operands_as_it_says() {
    let looping = |rows: usize| {
        module(Hook::Round, |b, w| {
            let count = b.push(OpKind::Arith(ArithOp::IndexConst(3)), &[], loc())[0];
            b.open(
                &vec![Type::server(Kind::Tensor); rows.min(3)],
                Place::Server,
            );
            let body = b.close(vec![], loc());
            let op = OpKind::Opt(OptOp::ForRows(rows));
            b.push_with(op, &[count, count], vec![body], loc());
            w.to_vec()
        })
    };
    verify(&looping(0)).unwrap();
    for rows in [2, i32::MAX as usize] {
        let error = only(&looping(rows)).to_string();
        let expected =
            "expected operands (index@server, index@server, tensor@server, tensor@server";
        assert!(error.contains(expected), "{error}");
    }
}

/// The mean of features of a batch, as `release` makes them.
fn features(release: fn(&mut Builder, Value) -> Value) -> Module {
    module(Hook::Round, |b, w| {
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
        let types = [Type::client(Kind::Client), Type::client(Kind::Params)];
        let args = b.open(&types, Place::Client);
        let size = b.push(OpKind::Arith(ArithOp::IndexConst(10)), &[], loc());
        let batch = b.push(OpKind::Opt(OptOp::OneBatch), &[args[0], size[0]], loc());
        let x = b.push(
            OpKind::External(ExternalOp::Column("x".into(), Kind::Tensor)),
            &batch,
            loc(),
        );
        let logits = b.push(
            OpKind::External(ExternalOp::Apply("forward".into())),
            &[args[1], x[0]],
            loc(),
        );
        let released = release(b, logits[0]);
        let region = b.close(vec![released], loc());
        let x_k = b.push_with(OpKind::Fed(FedOp::Map), &sent, vec![region], loc());
        let _ = b.push(OpKind::Fed(FedOp::Reduce(Reduce::Mean)), &x_k, loc());
        w.to_vec()
    })
}

#[test]
fn i9_features_leave_a_client_by_release_only() {
    let error = only(&features(|_, x| x));
    assert_eq!(error.op, "fed.map");
    let Broken::Release { found, from } = &error.broken else {
        panic!("{error}");
    };
    assert_eq!(found, "tensor");
    assert!(from.starts_with("`nn.forward` at "), "{from}");
    let released = features(|b, x| {
        b.push(
            OpKind::Privacy(PrivacyOp::Release("test".into())),
            &[x],
            loc(),
        )[0]
    });
    verify_linked(&released).unwrap();
}

#[test]
fn i9_a_batch_never_leaves() {
    let leak = mapped(|b, _, args| {
        let size = b.push(OpKind::Arith(ArithOp::IndexConst(10)), &[], loc());
        let batch = b.push(OpKind::Opt(OptOp::OneBatch), &[args[0], size[0]], loc());
        vec![args[1], batch[0]]
    });
    let errors = verify(&leak).unwrap_err().0;
    let crossed = errors.iter().any(|error| {
        error.op == "fed.map"
            && matches!(&error.broken, Broken::Crosses { found } if found == "batch")
    });
    assert!(crossed, "{errors:#?}");
}

#[test]
fn i10_a_value_has_one_placement_and_a_broadcast_one_value() {
    let mixed = module(Hook::Round, |b, w| {
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
        b.push(OpKind::Tree(TreeOp::Add), &[w[0], sent[0]], loc())
    });
    let found = "found (params@server, {params}@clients)";
    assert!(only(&mixed).to_string().contains(found));
    let again = module(Hook::Round, |b, w| {
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
        let _ = b.push(
            OpKind::Fed(FedOp::Broadcast),
            &[sent[0], everyone[0]],
            loc(),
        );
        w.to_vec()
    });
    let found = "found ({params}@clients, cohort@server)";
    assert!(only(&again).to_string().contains(found));
}

#[test]
fn i10_labels_are_not_averaged() {
    let labels = module(Hook::Round, |b, w| {
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
        let types = [Type::client(Kind::Client), Type::client(Kind::Params)];
        let args = b.open(&types, Place::Client);
        let size = b.push(OpKind::Arith(ArithOp::IndexConst(10)), &[], loc());
        let batch = b.push(OpKind::Opt(OptOp::OneBatch), &[args[0], size[0]], loc());
        let y = b.push(
            OpKind::External(ExternalOp::Column("y".into(), Kind::Labels)),
            &batch,
            loc(),
        );
        let released = b.push(
            OpKind::Privacy(PrivacyOp::Release("test".into())),
            &y,
            loc(),
        );
        let region = b.close(released, loc());
        let y_k = b.push_with(OpKind::Fed(FedOp::Map), &sent, vec![region], loc());
        let _ = b.push(OpKind::Fed(FedOp::Reduce(Reduce::Mean)), &y_k, loc());
        w.to_vec()
    });
    assert!(
        verify(&labels)
            .unwrap_err()
            .to_string()
            .contains("fed.mean")
    );
}

#[test]
fn i10_operands_and_results_have_the_ops_types() {
    let operand = module(Hook::Regularizer, |b, args| {
        b.push(OpKind::Tree(TreeOp::SqNorm), &args[..1], loc())
    });
    assert!(
        only(&operand)
            .to_string()
            .contains("expected operands (params), found (client)")
    );
    let result = module(Hook::Regularizer, |b, args| {
        let params = [Type::client(Kind::Params)];
        let _ = b.push_typed(
            OpKind::Tree(TreeOp::SqNorm),
            &args[1..],
            &params,
            vec![],
            loc(),
        );
        b.push(OpKind::Arith(ArithOp::Const(0.0)), &[], loc())
    });
    assert!(
        only(&result)
            .to_string()
            .contains("expected results (f32), found (params)")
    );
}

#[test]
fn i10_a_call_has_its_hooks_types() {
    let call = module(Hook::Regularizer, |b, args| {
        b.push(
            OpKind::Fed(FedOp::Super(Hook::Regularizer)),
            &args[..1],
            loc(),
        )
    });
    let error = only(&call);
    assert_eq!(error.op, "fed.super");
    assert!(
        error
            .to_string()
            .contains("expected operands (client, params), found (client)"),
        "{error}"
    );
}

#[test]
fn i11_an_op_has_its_regions() {
    let module = module(Hook::Regularizer, |b, args| {
        let grad = b.push(OpKind::Opt(OptOp::Grad), &args[1..], loc());
        vec![grad[1]]
    });
    assert!(matches!(
        only(&module).broken,
        Broken::Regions {
            expected: 1,
            found: 0
        }
    ));
}

#[test]
fn i11_a_region_has_its_yields() {
    let module = module(Hook::Regularizer, |b, args| {
        let inner = b.open(&[Type::client(Kind::Params)], Place::Client);
        let region = b.close(inner, loc());
        let grad = b.push_with(OpKind::Opt(OptOp::Grad), &args[1..], vec![region], loc());
        vec![grad[1]]
    });
    assert!(
        only(&module)
            .to_string()
            .contains("expected yields (f32), found (params)")
    );
}

#[test]
fn i12_a_state_has_one_kind() {
    let set = |kind| {
        module(Hook::Regularizer, |b, args| {
            let c = b.push(
                OpKind::Fed(FedOp::ClientState("c".into(), kind)),
                &args[..1],
                loc(),
            );
            let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc());
            let operands = [args[0], norm[0]];
            b.push(
                OpKind::Fed(FedOp::SetClientState("c".into())),
                &operands,
                loc(),
            );
            if kind == Kind::Scalar { c } else { norm }
        })
    };
    verify(&set(Kind::Scalar)).unwrap();
    assert!(
        only(&set(Kind::Params))
            .to_string()
            .contains("state `c` was params at its first use and is f32 here")
    );
}

#[test]
fn i13_nothing_is_left_to_link() {
    let errors = verify_linked(&mapped(|b, _, args| {
        let received = b.push(OpKind::Fed(FedOp::GlobalParams), &args[..1], loc());
        let trained = b.push(
            OpKind::Fed(FedOp::Call(Hook::ClientUpdate)),
            &[args[0], received[0]],
            loc(),
        );
        vec![trained[0]]
    }));
    let ops: Vec<String> = errors
        .unwrap_err()
        .0
        .into_iter()
        .map(|error| error.op)
        .collect();
    assert_eq!(ops, ["fed.global_params", "fed.call"]);
    let error = verify_linked(&regularizer()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected one `round`, found regularizer"),
        "{error}"
    );
}

#[test]
fn i10_the_setting_of_an_encoding_is_known_and_in_range() {
    let encoded = |encoding: Encoding, setting: OpKind| {
        mapped(move |b, _, args| {
            let setting = b.push(
                setting.clone(),
                &args[..usize::from(of_client(&setting))],
                loc(),
            );
            b.push(
                OpKind::Fed(FedOp::Encode(encoding)),
                &[args[1], setting[0]],
                loc(),
            )
        })
    };
    let share = |x: f64| OpKind::Arith(ArithOp::Const(x));
    let count = |n: usize| OpKind::Arith(ArithOp::IndexConst(n));
    let good = [
        (Encoding::TopK, share(1.0)),
        (Encoding::RandomK, share(1e-3)),
        (Encoding::UnscaledRandomK, share(0.5)),
        (Encoding::Quantize, count(2)),
        (Encoding::LowRank, count(1)),
    ];
    for (encoding, setting) in good {
        verify(&encoded(encoding, setting)).unwrap();
    }
    let bad = [
        (Encoding::TopK, share(0.0), "0"),
        (Encoding::RandomK, share(1.5), "1.5"),
        (Encoding::UnscaledRandomK, share(f64::NAN), "NaN"),
        (Encoding::Quantize, count(17), "17"),
        (Encoding::LowRank, count(0), "0"),
        (
            Encoding::TopK,
            OpKind::Fed(FedOp::NumExamples),
            "computed in it",
        ),
    ];
    for (encoding, setting, value) in bad {
        let error = only(&encoded(encoding, setting));
        let Broken::Encoding { found, .. } = &error.broken else {
            panic!("{error}");
        };
        assert_eq!((error.op.as_str(), found.as_str()), ("fed.encode", value));
    }
}

#[test]
fn i10_a_cohort_is_drawn_by_a_fraction() {
    let drawn = |kind: OpKind| {
        module(Hook::Round, |b, args| {
            let fraction = b.push(kind.clone(), &[], loc());
            b.push(OpKind::Fed(FedOp::Sample), &fraction, loc());
            args.to_vec()
        })
    };
    let share = |x: f64| OpKind::Arith(ArithOp::Const(x));
    for c in [0.0, 0.1, 1.0] {
        verify(&drawn(share(c))).unwrap();
    }
    for (c, found) in [(10.0, "10"), (-0.1, "-0.1"), (f64::NAN, "NaN")] {
        let found = found.to_owned();
        assert_eq!(only(&drawn(share(c))).broken, Broken::Fraction { found });
    }
}

fn of_client(kind: &OpKind) -> bool {
    *kind == OpKind::Fed(FedOp::NumExamples)
}
