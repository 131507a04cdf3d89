//! One breach per invariant of [`verify`](super::verify), each the only one in its module.

use super::super::{
    ArithOp, Builder, FedOp, HyperValue, Kind, OpKind, OptOp, Reduce, TreeOp, Type,
};
use super::*;

pub(in crate::fed) fn loc() -> Loc {
    Loc::caller()
}

/// A module with one function, whose body `fill` writes from the hook's arguments.
pub(in crate::fed) fn module(
    hook: Hook,
    fill: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Module {
    let mut b = Builder::new();
    b.layer("test");
    let args = b.begin(hook);
    let yields = fill(&mut b, &args);
    b.end(hook, yields, loc());
    b.finish().unwrap()
}

/// `round` with one map over the broadcast parameters.
pub(in crate::fed) fn mapped(
    fill: impl FnOnce(&mut Builder, Value, &[Value]) -> Vec<Value>,
) -> Module {
    module(Hook::Round, |b, w| {
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
        let args = b.open(
            &[Type::client(Kind::Client), Type::client(Kind::Params)],
            Place::Client,
        );
        let yields = fill(b, w[0], &args);
        let region = b.close(yields, loc());
        let w_k = b.push_with(OpKind::Fed(FedOp::Map), &sent, vec![region], loc());
        b.push(OpKind::Fed(FedOp::Reduce(Reduce::Mean)), &w_k[..1], loc())
    })
}

pub(in crate::fed) fn only(module: &Module) -> VerifyError {
    let errors = verify(module).unwrap_err().0;
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors[0].clone()
}

pub(in crate::fed) fn regularizer() -> Module {
    module(Hook::Regularizer, |b, args| {
        b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc())
    })
}

#[test]
fn sound_modules_pass() {
    verify(&regularizer()).unwrap();
    verify_linked(&mapped(|_, _, args| vec![args[1]])).unwrap();
}

#[test]
fn i1_hyper_names_are_unique_and_values_numeric() {
    let mut twice = module(Hook::Regularizer, |b, _| {
        b.hyper("mu", HyperValue::Float(0.1), loc())
    });
    twice.hypers.push(twice.hypers[0].clone());
    assert!(matches!(only(&twice).broken, Broken::Hyper { .. }));
    let text = module(Hook::Regularizer, |b, _| {
        b.hyper("mu", HyperValue::Text("big".into()), loc())
    });
    assert!(matches!(only(&text).broken, Broken::Hyper { .. }));
    let unknown = module(Hook::Regularizer, |b, _| {
        b.push(OpKind::Fed(FedOp::Hyper(7)), &[], loc())
    });
    assert!(only(&unknown).to_string().contains("number 7 of 0"));
}

#[test]
fn i2_a_layer_defines_a_hook_once() {
    let mut b = Builder::new();
    b.layer("test");
    for _ in 0..2 {
        let _ = b.begin(Hook::Regularizer);
        let zero = b.push(OpKind::Arith(ArithOp::Const(0.0)), &[], loc());
        b.end(Hook::Regularizer, zero, loc());
    }
    let mut module = b.finish().unwrap();
    assert!(only(&module).to_string().contains("a second `regularizer`"));
    module.funcs[1].layer = 3;
    assert!(only(&module).to_string().contains("layer 3 of 1"));
}

#[test]
fn i3_a_function_has_its_hooks_signature() {
    let error = only(&module(Hook::Regularizer, |_, args| vec![args[1]]));
    assert_eq!(error.op, "test::regularizer");
    assert!(
        error
            .to_string()
            .contains("expected yields (f32), found (params)"),
        "{error}"
    );
}

#[test]
fn i4_every_value_has_a_type() {
    let mut module = regularizer();
    module.funcs[0].body.ops[0].operands[0] = Value(99);
    assert!(matches!(
        only(&module).broken,
        Broken::Untyped { value: 99, .. }
    ));
}

#[test]
fn i5_a_value_is_defined_once() {
    let mut module = regularizer();
    let again = module.funcs[0].body.ops[0].clone();
    module.funcs[0].body.ops.push(again);
    assert!(matches!(only(&module).broken, Broken::Redefined { .. }));
}

#[test]
fn i6_an_operand_is_defined_before_its_use() {
    let mut module = module(Hook::Regularizer, |b, args| {
        let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc());
        b.push(OpKind::Arith(ArithOp::Neg), &norm, loc())
    });
    module.funcs[0].body.ops.reverse();
    assert!(matches!(only(&module).broken, Broken::Undefined { .. }));
}

#[test]
fn i6_a_regions_value_ends_with_the_region() {
    let module = module(Hook::Regularizer, |b, args| {
        let inner = b.open(&[Type::client(Kind::Params)], Place::Client);
        let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &inner, loc());
        let region = b.close(norm.clone(), loc());
        let _ = b.push_with(OpKind::Opt(OptOp::Grad), &args[1..], vec![region], loc());
        norm
    });
    assert!(matches!(only(&module).broken, Broken::Undefined { .. }));
}

#[test]
fn i7_client_code_captures_constants_only() {
    let captured = mapped(|b, w, args| b.push(OpKind::Tree(TreeOp::Add), &[w, args[1]], loc()));
    let error = only(&captured);
    assert_eq!(error.op, "tree.add");
    assert!(matches!(&error.broken, Broken::Captured { found } if found == "params@server"));
}

#[test]
fn i7_a_map_reads_no_aggregate_of_its_own() {
    // Its mean is a value of the server, and not there yet.
    let mut module = mapped(|b, w, args| b.push(OpKind::Tree(TreeOp::Add), &[args[1], w], loc()));
    let mean = module.funcs[0].body.yields[0];
    module.funcs[0].body.ops[2].regions[0].ops[0].operands[1] = mean;
    assert!(matches!(only(&module).broken, Broken::Undefined { .. }));
}

#[test]
fn i7_a_hyper_may_be_captured() {
    let module = module(Hook::Round, |b, w| {
        let lr = b.hyper("lr", HyperValue::Float(0.1), loc());
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
        let args = b.open(
            &[Type::client(Kind::Client), Type::client(Kind::Params)],
            Place::Client,
        );
        let scaled = b.push(OpKind::Tree(TreeOp::Scale), &[lr[0], args[1]], loc());
        let region = b.close(scaled, loc());
        let w_k = b.push_with(OpKind::Fed(FedOp::Map), &sent, vec![region], loc());
        b.push(OpKind::Fed(FedOp::Reduce(Reduce::Mean)), &w_k, loc())
    });
    verify(&module).unwrap();
}

#[test]
fn all_breaches_are_reported() {
    let module = module(Hook::Regularizer, |b, args| {
        let _ = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let _ = b.push(OpKind::Tree(TreeOp::SqNorm), &args[..1], loc());
        vec![args[1]]
    });
    assert_eq!(verify(&module).unwrap_err().0.len(), 3);
}

#[test]
fn i22_an_evaluation_sets_no_states() {
    let setting = |hook| {
        module(hook, |b, args| {
            let set = OpKind::Fed(FedOp::SetClientState("own".into()));
            b.push(set, &args[..2], loc());
            vec![args[1]]
        })
    };
    verify(&setting(Hook::ClientUpdate)).unwrap();
    let (state, hook) = ("own".to_owned(), Hook::Personalize);
    let found = only(&setting(hook)).broken;
    assert_eq!(found, Broken::SetInEvaluation { state, hook });
}
