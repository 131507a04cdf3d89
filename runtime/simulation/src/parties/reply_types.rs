//! The types of the values that a region sends, beyond their kinds: the number of classes of labels, the shape of a
//! row, and which numbers count examples. A reply with other values is refused, and its clients are lost. Without the
//! check, a wrong value from one party would end the round of all clients, or the coordinator's process.

use std::collections::{HashMap, HashSet};

use fedround_exec::{CompileError, Program};
use fedround_ir::fed::{
    Analysis, ExternalOp, FedOp, Kind, Module, Op, OpKind, OptOp, Reduce, Value, solve,
};
use fedround_passes::parties::{Region, Split};

use super::row_shapes::rows_sent;
use super::value_type::{NumberRange, ValueType};

/// The types of the outputs of each region of each phase.
pub(super) struct ReplyTypes(Vec<Vec<Vec<ValueType>>>);

impl ReplyTypes {
    /// The types of a program.
    ///
    /// # Errors
    ///
    /// A phase cannot run between a server and parties.
    pub fn of(program: &Program) -> Result<Self, CompileError> {
        let phases = program.phases().into_iter();
        let types = phases.map(|(_, phase)| Ok(of_phase(phase, &phase.parties()?)));
        types.collect::<Result<_, CompileError>>().map(Self)
    }

    /// The types of the outputs of a region of a phase.
    pub fn of_region(&self, phase: usize, region: usize) -> &[ValueType] {
        let region = self.0.get(phase).and_then(|regions| regions.get(region));
        region.map(Vec::as_slice).unwrap_or_default()
    }
}

/// The types of the outputs of each region of a phase.
fn of_phase(phase: &Program, split: &Split) -> Vec<Vec<ValueType>> {
    let module = phase.linked();
    let sources = solve(module, &mut LabelSources(module));
    let weights = example_weights(module);
    let of = |region: &Region| {
        let rows = rows_sent(phase, region);
        let outputs = region.outputs.iter().zip(&rows).enumerate();
        let types = outputs.map(|(k, (output, own))| {
            let is_weight = weights.contains(&output.value);
            let source = sources.get(&output.value).copied();
            let row = own.as_ref().map(|own| own.shape.clone());
            let examples = own.as_ref().and_then(|own| own.source.as_ref());
            let same = |i: &usize| match &rows[*i] {
                Some(other) => other.source.as_ref() == examples,
                None => false,
            };
            ValueType {
                as_many_rows_as: examples.and_then(|_| (0..k).find(same)),
                ..of_output(phase, output.kind, row, (source, is_weight))
            }
        });
        types.collect()
    };
    split.regions.iter().map(of).collect()
}

/// The type of an output. `row` is the shape of its rows, if it is known.
fn of_output(
    phase: &Program,
    kind: Kind,
    row: Option<Vec<usize>>,
    (labels, is_weight): (Option<Origin>, bool),
) -> ValueType {
    let none = ValueType::default();
    match kind {
        Kind::Scalar if is_weight => ValueType {
            number: NumberRange::Weight,
            ..none
        },
        Kind::Scalar => ValueType {
            number: NumberRange::Single,
            ..none
        },
        Kind::Labels if labels == Some(Origin::WANTED) => ValueType {
            row: Some(vec![]),
            classes: Some(phase.model().task().classes),
            ..none
        },
        Kind::Tensor | Kind::Labels => ValueType { row, ..none },
        Kind::Params | Kind::Index | Kind::Batch | Kind::Client | Kind::Cohort => none,
    }
}

/// The values that are weights of means over clients and numbers of examples. Weights that an algorithm computes may be
/// any numbers.
fn example_weights(module: &Module) -> HashSet<Value> {
    let is_mean = |op: &&Op| op.kind == OpKind::Fed(FedOp::Reduce(Reduce::WeightedMean));
    let means = module.all_ops().filter(is_mean);
    let weights = means.filter_map(|op| op.operands.get(1).copied());
    // `restrict` and `gather` pass numbers on, so a weight may be the result of such an operation.
    let passed_on = module.all_ops().filter_map(|op| match &op.kind {
        OpKind::Fed(FedOp::Restrict | FedOp::Gather) => {
            Some((*op.results.first()?, *op.operands.first()?))
        }
        _ => None,
    });
    let passed_on: HashMap<Value, Value> = passed_on.collect();
    let from = |weight| std::iter::successors(Some(weight), |v| passed_on.get(v).copied());
    let counts = solve(module, &mut ExampleCounts);
    let is_count = |v: &Value| counts.get(v) == Some(&Origin::WANTED);
    weights.flat_map(from).filter(is_count).collect()
}

/// What a value is made of. The default is of values that no operation has made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Origin {
    /// What an analysis looks for.
    wanted: bool,
    /// Anything else.
    other: bool,
}

impl Origin {
    const WANTED: Self = Self {
        wanted: true,
        other: false,
    };
    const OTHER: Self = Self {
        wanted: false,
        other: true,
    };

    /// The origin of a value that is one of two.
    fn or(self, other: Self) -> Self {
        Self {
            wanted: self.wanted || other.wanted,
            other: self.other || other.other,
        }
    }
}

/// Looks for numbers of examples, as clients count them.
struct ExampleCounts;

impl Analysis for ExampleCounts {
    type Fact = Origin;

    fn join(&self, a: &Origin, b: &Origin) -> Origin {
        a.or(*b)
    }

    fn transfer(&mut self, op: &Op, inputs: &[Origin]) -> Origin {
        match &op.kind {
            OpKind::Fed(FedOp::NumExamples) => Origin::WANTED,
            OpKind::Fed(FedOp::Restrict | FedOp::Gather) => {
                inputs.first().copied().unwrap_or_default()
            }
            _ => Origin::OTHER,
        }
    }
}

/// Looks for labels that are the classes of examples. Others are tokens, numbers of clients, or what a state holds.
struct LabelSources<'m>(&'m Module);

impl Analysis for LabelSources<'_> {
    type Fact = Origin;

    fn join(&self, a: &Origin, b: &Origin) -> Origin {
        a.or(*b)
    }

    fn transfer(&mut self, op: &Op, inputs: &[Origin]) -> Origin {
        let is_labels = |v: &Value| self.0.type_of(*v).kind == Kind::Labels;
        if !op.results.iter().any(is_labels) {
            return Origin::default();
        }
        match &op.kind {
            OpKind::External(ExternalOp::Column(name, Kind::Labels))
            | OpKind::Fed(FedOp::Public(name, Kind::Labels))
                if name == "y" =>
            {
                Origin::WANTED
            }
            OpKind::Fed(FedOp::EveryClass | FedOp::LocalClasses) => Origin::WANTED,
            // These operations pass rows on.
            OpKind::Fed(
                FedOp::Broadcast | FedOp::Scatter | FedOp::Gather | FedOp::Restrict | FedOp::Concat,
            )
            | OpKind::Opt(OptOp::Collect | OptOp::SampleRows | OptOp::SmallestRows)
            | OpKind::Privacy(_) => inputs
                .iter()
                .fold(Origin::default(), |all, one| all.or(*one)),
            _ => Origin::OTHER,
        }
    }
}
