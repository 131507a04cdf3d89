//! The manager: what runs, what is said, what is kept.

use std::sync::{Arc, Mutex};

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType};

use super::*;

fn twice() -> Graph {
    let mut graph = Graph::default();
    let x = graph.input("x", TensorType::f32([2]));
    let a = graph.push(Op::Exp, &[x], Loc::caller()).unwrap();
    let b = graph.push(Op::Exp, &[x], Loc::caller()).unwrap();
    let y = graph.push(Op::Add, &[a, b], Loc::caller()).unwrap();
    graph.outputs.push(("y".into(), y));
    graph
}

#[test]
fn runs_are_timed_counted_and_seen() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut graph = twice();
    let all = Arc::clone(&seen);
    let observer = PassObserver::new(move |event| match event {
        PassEvent::Starts(_, ir) => assert_eq!(ir.name(), "twice"),
        PassEvent::Ran(run) => {
            let differs = run.before.text() != run.after.text();
            all.lock().unwrap().push((run.pass, run.changed, differs));
        }
    });
    let mut manager = PassManager::observed_by(Some(observer));
    for request in Request::<Graph>::list("dce, cse,dce,").unwrap() {
        manager.run(&request, "twice", &mut graph).unwrap();
    }
    let timings = manager.timings();
    let counts: Vec<_> = timings
        .iter()
        .map(|timing| (timing.dialect, timing.step, timing.runs, timing.changed))
        .collect();
    assert_eq!(counts, [("tensor", "dce", 2, 0), ("tensor", "cse", 1, 1)]);
    let table = timing_table(&timings);
    assert!(
        table.contains("tensor dce") && table.lines().count() == 4,
        "{table}"
    );
    assert_eq!(
        *seen.lock().unwrap(),
        [
            ("dce", false, false),
            ("cse", true, true),
            ("dce", false, false)
        ]
    );
}

#[test]
fn a_pass_that_breaks_the_graph_is_named() {
    let mut graph = twice();
    let error = PassManager::new().apply("dce", "twice", &mut graph, |graph| {
        graph.nodes.remove(0);
        Ok(true)
    });
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("after dce: `tensor.add` reads value %1 before"),
        "{error}"
    );
}

#[test]
fn passes_with_a_number_get_it() {
    let mut graph = twice();
    let request = Request::named("batch-clients=3").unwrap();
    PassManager::new()
        .run(&request, "twice", &mut graph)
        .unwrap();
    assert_eq!(graph.shape(graph.outputs[0].1), [3, 2]);
}

#[test]
fn a_wrong_request_says_what_is_right() {
    let error = |text: &str| Request::<Graph>::named(text).unwrap_err().to_string();
    assert_eq!(
        error("fuze"),
        "unknown tensor pass `fuze` (did you mean `fuse`?); the passes are pool-first, fold, \
         cse, dce, batch-clients, sink-views, unfold-convolutions, split-convolutions, one-hot, parametrize-constants, mixed-bf16, mixed-f16, lift-expands, join-products, fuse, fuse-elementwise, plane-sums, \
         early-updates, rematerialize, scale-first, join-sums, channel-rows, known-sums, channel-sums, sink-reshapes, recompute, fusion-order"
    );
    assert_eq!(error("cse=2"), "pass `cse`: expected no number, found `2`");
    assert_eq!(
        error("batch-clients"),
        "pass `batch-clients`: expected `batch-clients=N` with the number of clients K, 1 to 4096, found none"
    );
    for wrong in ["0", "4097", "999999999", "-1", "x"] {
        let error = error(&format!("batch-clients={wrong}"));
        assert!(error.ends_with(&format!("found `{wrong}`")), "{error}");
    }
}
