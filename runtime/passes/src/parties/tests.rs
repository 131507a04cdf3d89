//! Rounds that are divided, and rounds that cannot be.

use fedround_ir::fed::parse;

use super::{Source, Split, SplitError, split};
use crate::schedule::{schedule, stream};
use crate::testing::{FedAvg, linked};

/// The split of a round's code, whose argument is `%w`.
fn of(code: &str) -> Result<Split, SplitError> {
    let text = format!(
        "// fedround fed v1\nfed.algorithm @test() {{\n  fed.round(%w: params@server) {{\n{code}\n  }}\n}}\n"
    );
    let module = parse(&text).unwrap();
    split(&module, &schedule(&module).unwrap())
}

#[test]
fn a_map_receives_and_sends() {
    let module = linked(&FedAvg::default());
    let mut scheduled = schedule(&module).unwrap();
    stream(&mut scheduled);
    let split = split(&module, &scheduled).unwrap();
    let first = &split.regions[0];
    assert_eq!(first.inputs[0].source, Source::Broadcast);
    assert!(
        first
            .outputs
            .iter()
            .all(|output| output.send || output.keep)
    );
    assert!(
        split
            .to_string()
            .starts_with("parties of fedavg\n\nregion 1\n")
    );
}

#[test]
fn what_was_received_is_not_sent_again() {
    let split = of("
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = tree.add %3, %3 : params
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.mean %2 : params@server
    %6 = fed.broadcast %5 to %0 : {params}@clients
    %7 = fed.map(%k, %8 = %1, %9 = %2, %10 = %6) {
      %11 = tree.add %8, %9 : params
      %12 = tree.add %11, %10 : params
      fed.yield %12 : params
    } : {params}@clients
    %13 = fed.mean %7 : params@server
    fed.yield %13 : params@server")
    .unwrap();
    let [first, second] = &split.regions[..] else {
        panic!("{split}");
    };
    assert!(first.inputs[0].keep && first.outputs[0].keep && first.outputs[0].send);
    let sources = second.inputs.iter();
    let sources: Vec<_> = sources.map(|input| (input.source, input.earlier)).collect();
    let expected = [
        (Source::Broadcast, Some(0)),
        (Source::Region(0), None),
        (Source::Broadcast, None),
    ];
    assert_eq!(sources, expected);
    assert!(
        second
            .outputs
            .iter()
            .all(|output| output.send && !output.keep)
    );
}

#[test]
fn a_value_that_a_region_is_given_twice_is_sent_once() {
    let split = of("
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1, %4 = %1) {
      %5 = tree.add %3, %4 : params
      fed.yield %5 : params
    } : {params}@clients
    %6 = fed.mean %2 : params@server
    fed.yield %6 : params@server")
    .unwrap();
    let region = &split.regions[0];
    assert_eq!([0, 1].map(|i| region.first_input(i)), [None, Some(0)]);
    let inputs = region.inputs.iter();
    let known: Vec<_> = inputs.map(|input| (input.earlier, input.keep)).collect();
    assert_eq!(known, [(None, false); 2]);
    let text = split.to_string();
    assert_eq!(text.matches("params1: params").count(), 1, "{text}");
}

#[test]
fn what_is_sent_before_a_loop_is_kept_for_its_repetitions() {
    let split = of("
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = arith.index_const 2 : index@server
    %3 = opt.repeat %2 with(%4 = %w) {
      %5 = fed.broadcast %4 to %0 : {params}@clients
      %6 = fed.map(%k, %7 = %1, %8 = %5) {
        %9 = tree.add %7, %8 : params
        fed.yield %9 : params
      } : {params}@clients
      %10 = fed.mean %6 : params@server
      opt.yield %10 : params@server
    } : params@server
    fed.yield %3 : params@server")
    .unwrap();
    let keeps = split.regions[0].inputs.iter().map(|input| input.keep);
    assert_eq!(keeps.collect::<Vec<_>>(), [true, false]);
}

/// The verifier refuses them, too: this is of programs that are made by other passes.
#[test]
fn values_that_are_not_sent_are_refused() {
    let text = "// fedround fed v1
fed.algorithm @test() {
  fed.round(%w: params@server) {
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2 = fed.map(%k, %3 = %1) {
      %4 = tree.add %3, %3 : params
      fed.yield %4 : params
    } : {params}@clients
    %5 = fed.mean %2 : params@server
    fed.yield %5 : params@server
  }
}
";
    let mut module = parse(text).unwrap();
    module.funcs[0].body.ops.remove(1);
    let error = split(&module, &schedule(&module).unwrap()).unwrap_err();
    assert!(matches!(error, SplitError::NotSent { .. }), "{error}");
}

#[test]
fn values_of_some_clients_are_those_that_their_parties_keep() {
    let split = of("
    %0 = fed.all_clients : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2, %3 = fed.map(%k, %4 = %1) {
      %5 = tree.add %4, %4 : params
      %6 = fed.uniform \"test.send\" %k : f32
      fed.yield %5, %6 : params, f32
    } : {params}@clients, {f32}@clients
    %7 = fed.gather %3 : {f32}@server
    %8 = fed.where %7 : cohort@server
    %9 = fed.restrict %2 of %8 : {params}@clients
    %10 = fed.map(%k, %11 = %9) {
      fed.yield %11 : params
    } : {params}@clients
    %12 = fed.mean %10 : params@server
    fed.yield %12 : params@server")
    .unwrap();
    let [first, second] = &split.regions[..] else {
        panic!("{split}");
    };
    // The model waits at the party until the server has chosen.
    let model = &first.outputs[0];
    assert_eq!((model.keep, model.send), (true, false));
    assert!(first.outputs[1].send);
    assert_eq!(second.inputs[0].source, Source::Region(0));
    assert_eq!(second.inputs[0].value, model.value);
    assert!(second.outputs[0].send);
}
