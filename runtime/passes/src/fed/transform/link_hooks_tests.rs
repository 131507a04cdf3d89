//! Binding, inlining, and what cannot be bound.

use fedround_ir::fed::{Builder, FedOp, Place, TreeOp, Type, print, verify_linked};

use super::*;
use crate::testing::{FedAvg, FedProx, Fill, layers, loc};

fn errors(module: &Module) -> Vec<String> {
    let Err(PassError::Link(errors)) = link_hooks(module) else {
        panic!("expected link errors")
    };
    errors.iter().map(ToString::to_string).collect()
}

fn call(kind: OpKind) -> impl Fn(&mut Builder, &[Value]) -> Vec<Value> {
    move |b, args| b.push(kind.clone(), args, loc())
}

/// `round`: everyone maps by `client_update`, then a mean of the results.
fn round(b: &mut Builder, w: &[Value]) -> Vec<Value> {
    let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
    let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
    let args = b.open(
        &[Type::client(Kind::Client), Type::client(Kind::Params)],
        Place::Client,
    );
    let trained = b.push(OpKind::Fed(FedOp::Call(Hook::ClientUpdate)), &args, loc());
    let region = b.close(trained, loc());
    let w_k = b.push_with(OpKind::Fed(FedOp::Map), &sent, vec![region], loc());
    b.push(OpKind::Fed(FedOp::Call(Hook::Aggregate)), &w_k, loc())
}

fn mean(b: &mut Builder, w_k: &[Value]) -> Vec<Value> {
    b.push(
        OpKind::Fed(FedOp::Reduce(fedround_ir::fed::Reduce::Mean)),
        w_k,
        loc(),
    )
}

#[test]
fn fed_prox_over_fed_avg() {
    let module = fedround::stage(&FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    })
    .unwrap();
    let linked = link_hooks(&module).unwrap();
    verify_linked(&linked).unwrap();
    assert_eq!(
        print(&linked),
        "\
// fedround fed v1
fed.algorithm @fedprox(%fraction: f32, %epochs: index, %batch: index, %lr: f32, %mu: f32) {
  fed.round(%w: params@server) {
    %0 = fed.sample %fraction : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = opt.for_batches %k, %epochs, %batch with(%5, %6 = %3) {
        %7, %8 = opt.grad(%9 = %6) {
          %10 = batch.x %5 : tensor
          %11 = nn.forward %9, %10 : tensor
          %12 = batch.y %5 : labels
          %13 = loss.cross_entropy %11, %12 : f32
          %14 = arith.const 0.0 : f32
          %15 = tree.sub %9, %3 : params
          %16 = tree.sq_norm %15 : f32
          %17 = arith.const 0.5 : f32
          %18 = arith.mul %17, %mu : f32
          %19 = arith.mul %18, %16 : f32
          %20 = arith.add %14, %19 : f32
          %21 = arith.add %13, %20 : f32
          opt.yield %21 : f32
        } : params, f32
        %22 = tree.scale %lr, %7 : params
        %23 = tree.sub %6, %22 : params
        opt.yield %23 : params
      } : params
      fed.yield %4 : params
    } : {params}@clients
    %24 = fed.map(%k, %25 = %2) {
      %26 = fed.num_examples %k : f32
      fed.yield %26 : f32
    } : {f32}@clients
    %27 = fed.weighted_mean %2 by %24 : params@server
    fed.yield %27 : params@server
  }
}
"
    );
}

#[test]
fn undefined_hooks_name_the_hook_and_its_caller() {
    let regularizer = call(OpKind::Fed(FedOp::Super(Hook::Regularizer)));
    let base: &[(Hook, Fill)] = &[(Hook::Round, &round)];
    let found = errors(&layers(&[
        ("base", base),
        ("plug_in", &[(Hook::Regularizer, &regularizer)]),
    ]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("base calls `client_update`, which no layer defines"),
        "{}",
        found[0]
    );
    assert!(found[1].contains("base calls `aggregate`"), "{}", found[1]);
}

#[test]
fn a_base_without_the_hook_is_an_error() {
    let update = call(OpKind::Fed(FedOp::Super(Hook::ClientUpdate)));
    let base: &[(Hook, Fill)] = &[(Hook::Round, &round), (Hook::Aggregate, &mean)];
    let found = errors(&layers(&[
        ("base", base),
        ("plug_in", &[(Hook::ClientUpdate, &update)]),
    ]));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("plug_in calls its base's `client_update`"),
        "{}",
        found[0]
    );
}

#[test]
fn recursion_is_shown_as_a_path() {
    let inner = call(OpKind::Fed(FedOp::Call(Hook::ClientUpdate)));
    let outer = call(OpKind::Fed(FedOp::Super(Hook::ClientUpdate)));
    let base: &[(Hook, Fill)] = &[
        (Hook::Round, &round),
        (Hook::Aggregate, &mean),
        (Hook::ClientUpdate, &inner),
    ];
    let found = errors(&layers(&[
        ("base", base),
        ("plug_in", &[(Hook::ClientUpdate, &outer)]),
    ]));
    let path = "plug_in::client_update → base::client_update → plug_in::client_update";
    assert!(found[0].contains(path), "{}", found[0]);
}

#[test]
fn no_round() {
    assert!(errors(&Module::default())[0].contains("no layer defines `round`"));
}

#[test]
fn a_map_over_trained_values_gets_what_was_received() {
    let update = |_: &mut Builder, args: &[Value]| vec![args[1]];
    let aggregate = |b: &mut Builder, w_k: &[Value]| {
        let args = b.open(
            &[Type::client(Kind::Client), Type::client(Kind::Params)],
            Place::Client,
        );
        let received = b.push(OpKind::Fed(FedOp::GlobalParams), &args[..1], loc());
        let change = b.push(OpKind::Tree(TreeOp::Sub), &[args[1], received[0]], loc());
        let region = b.close(change, loc());
        let changes = b.push_with(OpKind::Fed(FedOp::Map), w_k, vec![region], loc());
        mean(b, &changes)
    };
    let hooks: &[(Hook, Fill)] = &[
        (Hook::Round, &round),
        (Hook::ClientUpdate, &update),
        (Hook::Aggregate, &aggregate),
    ];
    let linked = link_hooks(&layers(&[("base", hooks)])).unwrap();
    verify_linked(&linked).unwrap();
    assert!(
        print(&linked).contains("fed.map(%k, %5 = %2, %6 = %1)"),
        "{}",
        print(&linked)
    );
}

#[test]
fn nothing_received_is_an_error() {
    let update = |b: &mut Builder, args: &[Value]| {
        b.push(OpKind::Fed(FedOp::GlobalParams), &args[..1], loc())
    };
    // A scalar is broadcast, no parameters are.
    let round = |b: &mut Builder, w: &[Value]| {
        let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
        let norm = b.push(OpKind::Tree(TreeOp::SqNorm), w, loc());
        let sent = b.push(
            OpKind::Fed(FedOp::Broadcast),
            &[norm[0], everyone[0]],
            loc(),
        );
        let args = b.open(
            &[Type::client(Kind::Client), Type::client(Kind::Scalar)],
            Place::Client,
        );
        let received = b.push(OpKind::Fed(FedOp::GlobalParams), &args[..1], loc());
        let region = b.close(received, loc());
        let w_k = b.push_with(OpKind::Fed(FedOp::Map), &sent, vec![region], loc());
        mean(b, &w_k)
    };
    let found = errors(&layers(&[(
        "base",
        &[(Hook::Round, &round), (Hook::ClientUpdate, &update)],
    )]));
    assert!(
        found[0].contains("no parameters were broadcast"),
        "{}",
        found[0]
    );
}

#[test]
fn a_plug_in_goes_on_with_the_cohort_that_its_base_drew() {
    let outer = |b: &mut Builder, w: &[Value]| {
        let next = b.push(OpKind::Fed(FedOp::Super(Hook::Round)), w, loc());
        let drawn = b.push(OpKind::Fed(FedOp::CurrentCohort), &[], loc());
        b.push(OpKind::Fed(FedOp::Broadcast), &[next[0], drawn[0]], loc());
        next
    };
    let update = |_: &mut Builder, args: &[Value]| vec![args[1]];
    let base: &[(Hook, Fill)] = &[
        (Hook::Round, &round),
        (Hook::ClientUpdate, &update),
        (Hook::Aggregate, &mean),
    ];
    let over = |outer: Fill<'_>| layers(&[("base", base), ("plug_in", &[(Hook::Round, outer)])]);
    let linked = link_hooks(&over(&outer)).unwrap();
    verify_linked(&linked).unwrap();
    let text = print(&linked);
    assert!(text.contains("%0 = fed.all_clients"), "{text}");
    assert!(text.contains("fed.broadcast %4 to %0"), "{text}");
    let before = |b: &mut Builder, w: &[Value]| {
        b.push(OpKind::Fed(FedOp::CurrentCohort), &[], loc());
        b.push(OpKind::Fed(FedOp::Super(Hook::Round)), w, loc())
    };
    let found = errors(&over(&before));
    assert!(found[0].contains("before any cohort"), "{}", found[0]);
}

#[test]
fn the_start_of_the_round_is_its_argument() {
    let aggregate = |b: &mut Builder, w_k: &[Value]| {
        let start = b.push(OpKind::Fed(FedOp::StartParams), &[], loc());
        let mean = mean(b, w_k);
        b.push(TreeOp::Add, &[start[0], mean[0]], loc())
    };
    let train = |_: &mut Builder, args: &[Value]| args[1..].to_vec();
    let hooks: &[(Hook, Fill)] = &[
        (Hook::Round, &round),
        (Hook::ClientUpdate, &train),
        (Hook::Aggregate, &aggregate),
    ];
    let linked = link_hooks(&layers(&[("test", hooks)])).unwrap();
    verify_linked(&linked).unwrap();
    let text = print(&linked);
    assert!(!text.contains("fed.start_params"), "{text}");
    assert!(text.contains("tree.add %w, "), "{text}");
}

#[test]
fn a_cohort_of_a_loop_is_not_there_after_it() {
    use crate::testing::Closure;
    use fedround::__private::{for_each, range};
    use fedround::Definer;

    let module = |after: bool| {
        let own = Closure(move |m: &mut Definer| {
            m.round(|server, w| {
                let first = w.broadcast(&server.sample(0.5));
                let (w,) = for_each(range(2), (first.mean(),), |(), (w,)| {
                    (w.broadcast(&server.sample(0.5)).mean(),)
                });
                match after {
                    true => w.broadcast(&server.current_cohort()).mean(),
                    false => w,
                }
            });
        });
        fedround::stage(&own).unwrap()
    };
    verify_linked(&link_hooks(&module(false)).unwrap()).unwrap();
    verify_linked(&link_hooks(&module(true)).unwrap()).unwrap();
}

/// The operands of the first `tree.sub` of a linked round, as text.
fn subtracted(
    round: fn(
        &fedround::ServerCx,
        fedround::Server<fedround::Params>,
    ) -> fedround::Server<fedround::Params>,
) -> Result<Vec<String>, PassError> {
    let own = crate::testing::Closure(move |m: &mut fedround::Definer| m.round(round));
    let text = print(&link_hooks(&fedround::stage(&own).unwrap())?);
    let line = text
        .lines()
        .find(|line| line.contains("tree.sub "))
        .unwrap();
    let (_, operands) = line.split_once("tree.sub ").unwrap();
    let (operands, _) = operands.split_once(" : ").unwrap();
    Ok(operands.split(", ").map(str::to_owned).collect())
}

#[test]
fn of_several_broadcasts_the_argument_of_the_round_is_meant() {
    // `w − w`, whichever is sent first; and of none that is the argument, the one that is computed from it.
    let last = subtracted(|server, w| {
        let (s_t, v) = (server.all_clients(), server.initial_params(1));
        let sent = v.broadcast(&s_t).zip(&w.broadcast(&s_t));
        sent.map(|k, (v, w)| (w - k.global_params()) + v).mean()
    });
    let derived = subtracted(|server, w| {
        let (s_t, v) = (server.all_clients(), server.initial_params(1));
        let sent = v.broadcast(&s_t).zip(&(0.5 * w).broadcast(&s_t));
        sent.map(|k, (v, w)| (w - k.global_params()) + v).mean()
    });
    for operands in [last.unwrap(), derived.unwrap()] {
        assert_eq!(operands[0], operands[1]);
    }
}

#[test]
fn several_broadcasts_of_which_none_is_meant_are_an_error() {
    let error = subtracted(|server, _| {
        let (s_t, u) = (server.all_clients(), server.initial_params(1));
        let sent = u
            .broadcast(&s_t)
            .zip(&server.initial_params(2).broadcast(&s_t));
        sent.map(|k, (u, v)| (u - k.global_params()) + v).mean()
    });
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("several parameters were broadcast, at"),
        "{error}"
    );
    // The closure's line and those of both broadcasts.
    assert_eq!(error.matches("link_hooks_tests.rs").count(), 3, "{error}");
}
