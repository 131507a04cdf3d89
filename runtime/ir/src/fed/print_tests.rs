//! Tests of the text form that the printer writes.

use super::super::{Builder, Hook, HyperValue, Type};
use super::*;
use crate::Loc;
use crate::fed::{ArithOp, ExternalOp, FedOp, OptOp, PrivacyOp, TreeOp};

fn regularizer() -> Module {
    let mut b = Builder::new();
    b.layer("fedprox");
    let args = b.begin(Hook::Regularizer);
    let inner = b.open(&[Type::client(Kind::Params)], Place::Client);
    let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &inner, Loc::caller());
    let mu = b.hyper("mu", HyperValue::Float(0.123), Loc::caller());
    let half = b.push(OpKind::Arith(ArithOp::Const(0.5)), &[], Loc::caller());
    let scaled = b.push(
        OpKind::Arith(ArithOp::Mul),
        &[half[0], mu[0]],
        Loc::caller(),
    );
    let product = b.push(
        OpKind::Arith(ArithOp::Mul),
        &[scaled[0], norm[0]],
        Loc::caller(),
    );
    let region = b.close(product, Loc::caller());
    let grad = b.push_with(
        OpKind::Opt(OptOp::Grad),
        &args[1..],
        vec![region],
        Loc::caller(),
    );
    let state = OpKind::Fed(FedOp::SetClientState("g".into()));
    let _ = b.push(state, &[args[0], grad[0]], Loc::caller());
    b.end(Hook::Regularizer, vec![grad[1]], Loc::caller());
    b.finish().unwrap()
}

#[test]
fn prints_names_types_and_constants_but_no_hyper_values() {
    let expected = r#"// fedround fed v1
fed.algorithm @fedprox(%mu: f32) {
  fed.func @fedprox::regularizer(%k: client, %w: params) {
    %0, %1 = opt.grad(%2 = %w) {
      %3 = tree.sq_norm %2 : f32
      %4 = arith.const 0.5 : f32
      %5 = arith.mul %4, %mu : f32
      %6 = arith.mul %5, %3 : f32
      opt.yield %6 : f32
    } : params, f32
    fed.set_client_state "g" %k, %0
    fed.yield %1 : f32
  }
}
"#;
    assert_eq!(print(&regularizer()), expected);
}

#[test]
fn a_broken_module_prints() {
    let mut module = regularizer();
    module.funcs[0].body.yields[0] = Value(99);
    assert!(print(&module).contains("fed.yield %undefined99 : ?"));
}

#[test]
fn names_of_states_and_parts_and_reasons_are_quoted() {
    let mut b = Builder::new();
    b.layer("test");
    let args = b.begin(Hook::ClientUpdate);
    let head = vec!["head".to_owned(), "neck".to_owned()];
    let own = OpKind::Fed(FedOp::Personal("v".into(), head.clone()));
    let own = b.push(own, &args, Loc::caller());
    let whole = b.push(
        OpKind::Tree(TreeOp::ReplaceParts(head)),
        &[args[1], own[0]],
        Loc::caller(),
    );
    let bound = b.push(OpKind::Arith(ArithOp::Const(1.0)), &[], Loc::caller());
    let clipped = b.push(
        OpKind::Privacy(PrivacyOp::Clip),
        &[whole[0], bound[0]],
        Loc::caller(),
    );
    let noised = b.push(
        OpKind::Privacy(PrivacyOp::Noise),
        &[clipped[0], bound[0]],
        Loc::caller(),
    );
    let size = b.push(OpKind::Arith(ArithOp::IndexConst(10)), &[], Loc::caller());
    let batch = b.push(
        OpKind::Opt(OptOp::OneBatch),
        &[args[0], size[0]],
        Loc::caller(),
    );
    let x = b.push(
        OpKind::External(ExternalOp::Column("x".into(), Kind::Tensor)),
        &batch,
        Loc::caller(),
    );
    let _ = b.push(
        OpKind::Privacy(PrivacyOp::Release("\"public\"".into())),
        &x,
        Loc::caller(),
    );
    b.end(Hook::ClientUpdate, noised, Loc::caller());
    let text = print(&b.finish().unwrap());
    let lines: Vec<&str> = text.lines().skip(3).map(str::trim).collect();
    assert_eq!(
        lines[..9],
        [
            r#"%0 = fed.personal "v" ["head", "neck"] %k, %w : params"#,
            r#"%1 = tree.replace_parts ["head", "neck"] %w, %0 : params"#,
            "%2 = arith.const 1.0 : f32",
            "%3 = priv.clip %1, %2 : params",
            "%4 = priv.noise %3, %2 : params",
            "%5 = arith.index_const 10 : index",
            "%6 = opt.batch %k, %5 : batch",
            "%7 = batch.x %6 : tensor",
            r#"%8 = priv.release "\"public\"" %7 : tensor"#,
        ]
    );
}
