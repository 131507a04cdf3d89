//! Reading modules: what is printed comes back, what is wrong is said.

use super::super::{Builder, Hook, HyperValue, difference, print, print_exact};
use super::*;
use crate::fed::{ArithOp, TreeOp};

const TEXT: &str = r#"// fedround fed v1
fed.algorithm @fedprox(%fraction: f32 = 0.1, %epochs: index = 5, %fedavg.w: f32 = -1e-30) {
  fed.func @fedavg::round(%w: params@server) {
    %0 = fed.sample %fraction : cohort@server
    %1 = fed.broadcast %w to %0 : {params}@clients
    %2, %3 = fed.map(%k, %4 = %1) {
      %5 = fed.call @client_update(%k, %4) : params
      %6 = fed.num_examples %k : f32
      fed.yield %5, %6 : params, f32
    } : {params}@clients, {f32}@clients
    %7 = fed.weighted_mean %2 by %3 : params@server
    %8 = fed.server_state "v \"quoted\"" : params@server
    %9 = tree.add %7, %8 : params@server
    %10 = fed.server_state "n" : f32@server
    %11 = arith.sqrt %10 : f32@server
    fed.set_server_state "n" %11
    fed.set_server_state "v \"quoted\"" %9
    fed.yield %9 : params@server
  }
  fed.func @fedavg::client_update(%k: client, %w: params) {
    %0 = arith.index_const 10 : index
    %1 = opt.for_batches %k, %epochs, %0 with(%2, %3 = %w) {
      %4, %5 = opt.grad(%6 = %3) {
        %7 = batch.x %2 : tensor
        %8 = nn.forward %6, %7 : tensor
        %9 = batch.y %2 : labels
        %10 = loss.cross_entropy %8, %9 : f32
        %11 = arith.const 0.1 : f32
        %12 = arith.mul %fedavg.w, %11 : f32
        %13 = arith.add %10, %12 : f32
        opt.yield %13 : f32
      } : params, f32
      opt.yield %4 : params
    } : params
    fed.yield %1 : params
  }
  fed.func @fedprox::regularizer(%k: client, %w: params) {
    fed.yield %fraction : f32
  }
}
"#;

#[test]
fn what_is_printed_comes_back() {
    let module = parse(TEXT).unwrap();
    assert_eq!(print_exact(&module), TEXT);
    assert_eq!(module.layers.len(), 2);
    assert_eq!(module.hypers[2].value, HyperValue::Float(-1e-30));
    let again = parse(&print_exact(&module)).unwrap();
    assert_eq!(difference(&module, &again), None);
}

#[test]
fn the_place_of_a_hyper_parameter_is_not_kept() {
    let mut b = Builder::new();
    b.layer("test");
    let args = b.begin(Hook::Regularizer);
    let mu = b.hyper("mu", HyperValue::Float(0.1), Loc::caller());
    let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], Loc::caller());
    let term = b.push(
        OpKind::Arith(ArithOp::Mul),
        &[norm[0], mu[0]],
        Loc::caller(),
    );
    let twin = b.hyper("mu", HyperValue::Float(0.1), Loc::caller());
    let twice = b.push(
        OpKind::Arith(ArithOp::Mul),
        &[term[0], twin[0]],
        Loc::caller(),
    );
    b.end(Hook::Regularizer, twice, Loc::caller());
    let module = b.finish().unwrap();
    let again = parse(&print_exact(&module)).unwrap();
    assert_eq!(difference(&module, &again), None);
    assert_eq!(
        again.funcs[0].body.ops.len(),
        module.funcs[0].body.ops.len() - 1
    );
}

/// What is said about the text in which `from` is `to`.
fn error(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    parse(&TEXT.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let cases = [
        (
            "// fedround fed v1",
            "",
            "2:1: expected `// fedround fed v1`, found `fed.algorithm",
        ),
        (
            "fed v1",
            "fed v2",
            "1:1: version 2 of the fed dialect is newer than this fedround",
        ),
        (
            "fed.sample",
            "fed.smaple",
            "4:10: unknown op `fed.smaple` (did you mean `fed.sample`?)",
        ),
        ("fed.sample", "tensor.add", "4:10: unknown op `tensor.add`"),
        ("loss.cross_entropy", "loss", "27:15: unknown op `loss`"),
        (
            "@fedavg::round",
            "@fedavg",
            "3:12: expected `@layer::hook`, found `@fedavg`",
        ),
        (
            "fedavg::round",
            "fedavg::ruond",
            "unknown hook `ruond` (did you mean `round`?)",
        ),
        (
            "@client_update(",
            "@cliet_update(",
            "7:21: expected a hook (did you mean `@client_update`?) for `fed.call`",
        ),
        (
            "%0 = fed.sample",
            "%w = fed.sample",
            "4:5: value `%w` is defined twice",
        ),
        (
            "%w to %0",
            "%w to %1",
            "5:30: value `%1` is not defined here",
        ),
        ("%w to %0", "%w by %0", "5:27: expected `:`, found `by`"),
        (
            "cohort@server",
            "cohrt@server",
            "4:33: unknown type `cohrt` (did you mean `cohort`?)",
        ),
        (
            "{params}@clients",
            "{params}@client",
            "5:43: expected `@clients` or `@server`, found `@client`",
        ),
        (
            "(%k, %4 = %1)",
            "(%4 = %1)",
            "6:21: expected arguments for (client, params), found 1",
        ),
        (
            "    } : {params}@clients, {f32}@clients",
            "    } : {params}@clients",
            "11:5: expected `,`, found `%7`",
        ),
        (
            "%5, %6 : params, f32",
            "%5, %6 : params, params",
            "9:34: expected `f32`, the value's type, found `params`",
        ),
        (
            ": f32 = 0.1,",
            ": f32,",
            "2:38: expected `=` and the value (snapshots leave it out, `--exact` prints it), found `,`",
        ),
        (
            "fed.yield %1 : params\n  }",
            "opt.yield %1 : params\n  }",
            "expected an op or `fed.yield`, which ends this region, found `opt.yield`",
        ),
        (
            "= 5,",
            "= 5.5,",
            "2:63: expected a count below 2^31, found `5.5`",
        ),
        (
            "%epochs: index",
            "%w: index",
            "expected a name that no other value can have, found `%w`",
        ),
        (
            "index_const 10",
            "index_const \"10\"",
            "expected a count below 2^31 for `arith.index_const`, found `\"10\"`",
        ),
        (
            "tree.add %7, %8 : params@server",
            "tree.add %7, %0 : params@server",
            "13:5: tree.add: expected operands (params@server, params@server), found (params@server, cohort@server)",
        ),
        (
            "fed.yield %1 : params\n  }",
            "fed.yield %1 : params\n",
            "expected `}`, found `fed.func`",
        ),
    ];
    let wrong = cases.into_iter().filter_map(|(from, to, message)| {
        let error = error(from, to);
        (!error.contains(message)).then(|| format!("{from} -> {to}\nexpected {message}\n{error}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        parse("")
            .unwrap_err()
            .to_string()
            .starts_with("1:1: expected")
    );
}

#[test]
fn the_culprit_is_marked() {
    let error = error("fed.sample", "fed.smaple");
    let marked = "\
4:10: unknown op `fed.smaple` (did you mean `fed.sample`?)
  4 |     %0 = fed.smaple %fraction : cohort@server
    |          ^^^^^^^^^^";
    assert_eq!(error, marked);
}

#[test]
fn a_snapshot_lacks_the_values() {
    let error = parse(&print(&parse(TEXT).unwrap())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("snapshots leave it out, `--exact` prints it"),
        "{error}"
    );
}

#[test]
fn deep_regions_are_refused() {
    let mut text = String::from(
        "// fedround fed v1\nfed.algorithm @a() {\nfed.func @a::regularizer(%k: client, %w: params) {\n",
    );
    for depth in 0..100_u32 {
        let from = depth
            .checked_sub(1)
            .map_or("w".to_owned(), |d| format!("a{d}"));
        text += &format!("%g{depth}, %v{depth} = opt.grad(%a{depth} = %{from}) {{\n");
    }
    let error = parse(&text).unwrap_err().to_string();
    assert!(error.contains("regions nest deeper than 64"), "{error}");
}
