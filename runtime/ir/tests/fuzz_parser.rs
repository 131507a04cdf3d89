//! Texts that are nearly right: no input makes the parser or the verifier panic, and what it
//! accepts is sound and prints to a text that reads back.
//!
//! Runs for two seconds, or for `FEDROUND_FUZZ_SECONDS`. `FEDROUND_FUZZ_SEED` repeats a run; a
//! failure names its seed and leaves the text in the panic's message.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::support;
use fedround_ir::fed::{self, print_exact};
use fedround_ir::tensor;
use fedround_ir::text::{Document, parse};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Modules with every kind of region and attribute.
const SEEDS: [&str; 10] = [
    include_str!("texts/arith.fed"),
    include_str!("texts/peers.fed"),
    include_str!("texts/chosen.fed"),
    include_str!("texts/aggregated.fed"),
    include_str!("texts/gathered.fed"),
    include_str!("texts/linked.fed"),
    include_str!("texts/noised.fed"),
    include_str!("texts/staged.fed"),
    include_str!("texts/tree.fed"),
    include_str!("texts/turns.fed"),
];

/// What a mutation may put in besides pieces of the text itself.
const PIECES: [&str; 40] = [
    "%",
    "@",
    "\"",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "..",
    "-",
    "//",
    "\n",
    "%0",
    "%w",
    "@server",
    "{params}@clients",
    "f32",
    "bool[]",
    "[0x0]",
    "0",
    "-1",
    "2147483648",
    "99999999999999999999",
    "1e999",
    "NaN",
    "-inf",
    "fed.yield",
    "opt.grad(%0 = %w) {",
    "return",
    "fed.super @regularizer(%k, %w)",
    "fed.round",
    "tensor.where",
    "tensor.cat[dim 7]",
    "µ",
    "\u{0}",
    "\\u{110000}",
];

fn mutate(text: &str, random: &mut StdRng) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..random.random_range(0..6) {
        let at = random.random_range(0..=text.len());
        let end = (at + random.random_range(0..40)).min(text.len());
        match random.random_range(0..6) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            2 => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                text.splice(at..end, piece.chars());
            }
            // A piece, or whole lines, somewhere else too.
            3 => {
                let copy: Vec<char> = text[at..end].to_vec();
                let to = random.random_range(0..=text.len());
                text.splice(to..to, copy);
            }
            4 => {
                let all: String = text.iter().collect();
                let mut lines: Vec<&str> = all.lines().collect();
                let (from, to) = (
                    random.random_range(0..=lines.len()),
                    random.random_range(0..=lines.len()),
                );
                if from < lines.len() && to < lines.len() {
                    lines.swap(from, to);
                }
                text = lines.join("\n").chars().collect();
            }
            // Another digit: values, sizes and types change but stay well formed.
            _ => {
                if let Some(digit) = text[at..].iter_mut().find(|c| c.is_ascii_digit()) {
                    *digit = char::from(b'0' + random.random_range(0..10));
                }
            }
        }
    }
    text.into_iter().collect()
}

/// Gives whether the text was accepted.
fn check(text: &str) -> bool {
    let document = match parse(text) {
        Ok(document) => document,
        Err(error) => {
            let lines = text.lines().count().max(1);
            assert!((1..=lines).contains(&error.line()), "{error}");
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    match document {
        Document::Fed(module) => {
            fed::verify(&module).unwrap();
            let printed = print_exact(&module);
            let again = fed::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
            assert_eq!(fed::difference(&module, &again), None, "{printed}");
            assert_eq!(print_exact(&again), printed);
        }
        Document::Tensor(graphs) => {
            for (name, graph) in graphs {
                graph.verify().unwrap();
                let printed = format!("// fedround tensor v1\n{}", graph.exact_text(&name));
                let again = tensor::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
                assert_eq!(tensor::difference(&graph, &again[0].1), None, "{printed}");
            }
        }
    }
    true
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[test]
fn nothing_panics() {
    let seconds = variable("FEDROUND_FUZZ_SECONDS").unwrap_or(2);
    let first = variable("FEDROUND_FUZZ_SEED").unwrap_or_else(rand::random);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut tried, mut accepted) = (0_u64, 0_u64);
    let mut seed = first;
    while tried == 0 || Instant::now() < end {
        let mut random = StdRng::seed_from_u64(seed);
        let base = match random.random_range(0..4) {
            0 | 1 => {
                let graph = support::graph(random.random(), 12);
                format!("// fedround tensor v1\n{}", graph.exact_text("step"))
            }
            _ => SEEDS[random.random_range(0..SEEDS.len())].to_owned(),
        };
        let text = mutate(&base, &mut random);
        let ok = catch_unwind(AssertUnwindSafe(|| check(&text)));
        let ok = ok.unwrap_or_else(|_| panic!("FEDROUND_FUZZ_SEED={seed} fails on:\n{text}"));
        accepted += u64::from(ok);
        tried += 1;
        seed = seed.wrapping_add(1);
    }
    println!("{tried} texts from seed {first}, {accepted} accepted");
    if seconds > 1 {
        assert!(
            accepted > 0,
            "every text is refused: the mutations are too wild"
        );
    }
}

#[test]
fn the_unmutated_texts_are_accepted() {
    for text in SEEDS {
        assert!(check(text));
    }
}

#[test]
fn every_fed_op_is_tried() {
    let mut seen = BTreeSet::new();
    for text in SEEDS {
        let module = fed::parse(text).unwrap();
        seen.extend(module.all_ops().map(|op| op.kind.name()));
    }
    let names = [
        fed::FedOp::NAMES,
        fed::ArithOp::NAMES,
        fed::OptOp::NAMES,
        fed::ExternalOp::NAMES,
        fed::TreeOp::NAMES,
        fed::PrivacyOp::NAMES,
    ];
    // The name of a function or a column ends that of its op, such as `loss.`. Hyper-parameters are
    // written by name, where they are read.
    let found = |name: &str| match name.strip_suffix('.') {
        Some(_) => seen.iter().any(|op| op.starts_with(name)),
        None => seen.contains(name) || name == "fed.hyper",
    };
    let missing: Vec<&str> = names
        .concat()
        .into_iter()
        .filter(|name| !found(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
