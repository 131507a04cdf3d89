//! A small step for tests: the state `[2]` plus a batch of two rows, which are gathered from the numbers 0, 1,
//! 2 and so on. It has no loss.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType};

use super::layout::{ExampleColumn, InputRole, LoopStart, StepLayout};
use crate::executor::{Plan, SegmentInputs};
use crate::program::Segment;
use crate::tensor::{from_floats, from_ints};

/// The CPU, which captures nothing.
pub fn cpu() -> DispatchDevice {
    DispatchDevice::Flex(Default::default())
}

/// The segment of the step.
pub fn segment() -> Arc<Segment> {
    let mut graph = Graph::default();
    let state = graph.input("w", TensorType::f32([2]));
    let batch = graph.input("x", TensorType::f32([2]));
    let next = graph.push(Op::Add, &[state, batch], Loc::caller()).unwrap();
    graph.outputs.push(("w".to_owned(), next));
    Arc::new(Segment {
        plan: Plan::new(&graph),
        hypers: vec![],
        supplies: SegmentInputs::new(vec![], &cpu()),
        losses: 0,
        rows: vec![],
    })
}

/// The layout of the step.
pub fn layout() -> StepLayout {
    StepLayout {
        inputs: vec![InputRole::State(0), InputRole::Example(0)],
        next: vec![Some(0)],
    }
}

/// A loop that starts from zeros, with blocks of `steps_per_capture` steps.
pub fn start(steps_per_capture: usize) -> LoopStart {
    let numbers = (0..8).map(|i| i as f32).collect();
    LoopStart {
        state: vec![from_floats(vec![0.0; 2], &[2], &cpu())],
        outer: vec![],
        examples: vec![ExampleColumn {
            all: from_floats(numbers, &[8], &cpu()),
            shape: vec![2],
        }],
        rows: 2,
        steps_per_capture,
    }
}

/// Row numbers of batches.
pub fn rows(rows: &[i32]) -> DispatchTensor {
    from_ints(rows.to_vec(), &[rows.len()], &cpu())
}
