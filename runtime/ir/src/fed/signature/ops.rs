//! The typing rules of single ops.

use std::iter;

use super::regions::{carried, map, side};
use super::{RegionSignature, Signature};
use crate::fed::operand_kinds::{
    carried_kind, kept_kind, reduced_kind, rows, rows_kind, wire_kind,
};
use crate::fed::{
    ArithOp, Choice, ExternalOp, FedOp, Kind, Module, OpKind, OptOp, Place, PrivacyOp, Reduce,
    Topology, TreeOp, Type,
};

/// The signature of an op in code that runs at `place`.
///
/// Variadic and generic ops (`fed.broadcast`, `fed.map`, the reductions, the loops) derive it from
/// `operands`, the types that were found, and from `yields`, the types that their region yields. The
/// result is always the *expected* signature, even if an operand has a wrong kind.
pub fn signature(
    module: &Module,
    kind: &OpKind,
    place: Place,
    operands: &[Type],
    yields: &[Type],
) -> Signature {
    use Kind::{Batch, Client, Cohort, Index, Labels, Params, Scalar, Tensor};
    let at = |kind| Type { kind, place };
    let plain = |operands: &[Type], results: &[Type]| Signature {
        operands: operands.to_vec(),
        results: results.to_vec(),
        regions: Vec::new(),
    };
    let found_count = operands.len();
    let found = |index: usize| operands.get(index).map_or(Params, |ty| ty.kind);
    // Parameters, or a tensor where one was found.
    let tree = |index: usize| match found(index) {
        Tensor => at(Tensor),
        _ => at(Params),
    };
    // What a function of the model or a loss takes: at least one tensor, labels or number.
    let inputs = |first: Option<Kind>| -> Vec<Type> {
        let fixed = first.is_some().into();
        let rest = (fixed..operands.len().max(fixed + 1)).map(|i| match found(i) {
            kind @ (Labels | Scalar) => kind,
            _ => Tensor,
        });
        first.into_iter().chain(rest).map(at).collect()
    };
    match kind {
        OpKind::Fed(FedOp::Hyper(index)) => {
            let kind = module
                .hypers
                .get(*index)
                .and_then(|hyper| hyper.value.kind());
            plain(&[], &[at(kind.unwrap_or(Scalar))])
        }
        OpKind::Arith(ArithOp::Const(_)) => plain(&[], &[at(Scalar)]),
        OpKind::Arith(ArithOp::IndexConst(_)) => plain(&[], &[at(Index)]),
        OpKind::Arith(ArithOp::Real) => plain(&[at(Index)], &[at(Scalar)]),
        OpKind::Arith(ArithOp::Add | ArithOp::Sub | ArithOp::Mul | ArithOp::Div | ArithOp::Pow) => {
            plain(&[at(Scalar), at(Scalar)], &[at(Scalar)])
        }
        OpKind::Arith(ArithOp::Neg | ArithOp::Math(_)) => plain(&[at(Scalar)], &[at(Scalar)]),
        OpKind::Arith(ArithOp::Select) => plain(&[at(Scalar); 3], &[at(Scalar)]),
        OpKind::Fed(FedOp::RoundIndex | FedOp::NumClients) => plain(&[], &[at(Scalar)]),

        OpKind::Fed(FedOp::Sample) => {
            let operands = [Type::server(Scalar), Type::server(Cohort)];
            let operands = &operands[..operands.len().min(found_count.max(1))];
            plain(operands, &[Type::server(Cohort)])
        }
        OpKind::Fed(FedOp::AllClients | FedOp::CurrentCohort) => {
            plain(&[], &[Type::server(Cohort)])
        }
        OpKind::Fed(FedOp::Within | FedOp::Outside | FedOp::Rotating | FedOp::Arrivals) => {
            plain(&[Type::server(Index); 2], &[Type::server(Cohort)])
        }
        OpKind::Fed(FedOp::Reshuffled) => plain(&[Type::server(Index)], &[Type::server(Cohort)]),
        OpKind::Fed(FedOp::Choose(choice)) => {
            let (each, number) = (Type::gathered(Scalar), Type::server(Scalar));
            let operands: &[Type] = match choice {
                Choice::Bernoulli if side(operands) == Place::Gathered => &[each],
                Choice::Bernoulli => &[number],
                Choice::SampleBy | Choice::Top => &[each, number],
                Choice::Where => &[each],
                Choice::Union => &[Type::server(Cohort); 2],
            };
            plain(operands, &[Type::server(Cohort)])
        }
        OpKind::Fed(FedOp::Members | FedOp::Staleness) => {
            plain(&[Type::server(Cohort)], &[Type::gathered(Scalar)])
        }
        OpKind::Fed(FedOp::CohortSize) => plain(&[Type::server(Cohort)], &[Type::server(Scalar)]),
        OpKind::Fed(FedOp::Restrict) => {
            let (kind, place) = (wire_kind(found(0)), side(operands));
            let each = Type { kind, place };
            plain(&[each, Type::server(Cohort)], &[each])
        }
        OpKind::Fed(FedOp::NthLargest) => plain(
            &[Type::gathered(Scalar), Type::server(Scalar)],
            &[Type::server(Scalar)],
        ),
        OpKind::Fed(FedOp::Seconds) => plain(&[at(Client)], &[at(Scalar)]),
        OpKind::Fed(FedOp::Uniform(_) | FedOp::Normal(_)) => {
            plain(&[at(Client)][..found_count.min(1)], &[at(Scalar)])
        }
        OpKind::Fed(FedOp::Permutation(_)) => {
            let operands = [at(Index), at(Client)];
            plain(&operands[..found_count.clamp(1, 2)], &[at(Labels)])
        }
        OpKind::Fed(FedOp::InitialParams(_)) => plain(&[], &[at(Params)]),
        OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch) => {
            let crosses = wire_kind(found(0));
            plain(
                &[Type::server(crosses), Type::server(Cohort)],
                &[Type::clients(crosses)],
            )
        }
        OpKind::Fed(FedOp::Map) => map(operands, yields),
        OpKind::Fed(FedOp::InTurn) => {
            let cohort = [Type::server(Cohort)];
            carried(Place::Server, &cohort, &cohort, operands)
        }
        OpKind::Fed(FedOp::Reduce(reduce)) => {
            let crosses = reduced_kind(found(0));
            let place = match reduce.is_sum() {
                true => side(operands),
                false => Place::Gathered,
            };
            let each = |kind| Type { kind, place };
            let rest = match reduce {
                Reduce::WeightedMean | Reduce::WeightedSum => Some(each(Scalar)),
                Reduce::TrimmedMean => Some(Type::server(Scalar)),
                Reduce::Sum | Reduce::Mean | Reduce::Median => None,
            };
            let operands: Vec<Type> = [each(crosses)].into_iter().chain(rest).collect();
            plain(&operands, &[Type::server(crosses)])
        }
        OpKind::Fed(FedOp::Pairwise(_)) => {
            let of = tree(0).kind;
            plain(&[Type::gathered(of)], &[Type::server(Tensor)])
        }
        OpKind::Fed(FedOp::Split(kind)) => {
            let whose = Type::gathered(wire_kind(found(1)));
            let row = match kind {
                Scalar => Scalar,
                _ => Tensor,
            };
            plain(&[Type::server(Tensor), whose], &[Type::gathered(row)])
        }
        OpKind::Fed(FedOp::Gather) if found_count > 1 => {
            let (crosses, visitor) = (reduced_kind(found(0)), wire_kind(found(1)));
            let operands = [Type::clients(crosses), Type::gathered(visitor)];
            plain(&operands, &[Type::gathered(crosses)])
        }
        OpKind::Fed(FedOp::Gather) => {
            let crosses = wire_kind(found(0));
            plain(&[Type::clients(crosses)], &[Type::gathered(crosses)])
        }
        OpKind::Fed(FedOp::Scatter) => {
            let crosses = wire_kind(found(0));
            let operands = [Type::gathered(crosses), Type::server(Cohort)];
            let operands = &operands[..found_count.clamp(1, 2)];
            plain(operands, &[Type::clients(crosses)])
        }
        OpKind::Fed(FedOp::Concat) if found(0) == Scalar => {
            plain(&[Type::gathered(Scalar)], &[Type::server(Tensor)])
        }
        OpKind::Fed(FedOp::Concat) => {
            let rows = rows_kind(found(0));
            plain(&[Type::gathered(rows)], &[Type::server(rows)])
        }
        OpKind::Fed(FedOp::Positions) => {
            let rows = rows_kind(found(0));
            plain(&[Type::gathered(rows)], &[Type::server(Labels)])
        }
        OpKind::Fed(FedOp::EveryClass) => plain(&[], &[at(Labels)]),
        OpKind::Fed(FedOp::LocalClasses) => plain(&[at(Client)], &[at(Labels)]),
        OpKind::Fed(FedOp::LabelCounts) => plain(&[at(Client)], &[at(Tensor)]),
        OpKind::Fed(FedOp::ZeroInputs) => plain(&[at(rows_kind(found(0)))], &[at(Tensor)]),
        OpKind::Fed(FedOp::ClientLabels) => plain(&[at(Client), at(Tensor)], &[at(Labels)]),
        OpKind::Fed(FedOp::NumExamples | FedOp::ClientNumber) => {
            plain(&[at(Client)], &[at(Scalar)])
        }
        OpKind::Fed(FedOp::StartParams) => plain(&[], &[Type::server(Params)]),
        OpKind::Fed(FedOp::GlobalParams) => plain(&[at(Client)], &[at(Params)]),
        OpKind::Fed(FedOp::ServerState(_, kind)) => {
            let client = [at(Client)];
            let client = &client[..operands.len().min(1)];
            plain(client, &[at(kept_kind(*kind))])
        }
        OpKind::Fed(FedOp::ServerStateOr(_)) => match operands {
            [_, first, ..] => {
                let kept = at(kept_kind(first.kind));
                plain(&[at(Client), kept], &[kept])
            }
            _ => plain(&[at(kept_kind(found(0)))], &[at(kept_kind(found(0)))]),
        },
        OpKind::Fed(FedOp::SetServerState(_)) => match operands {
            [_, kept, ..] => plain(&[at(Client), at(kept_kind(kept.kind))], &[]),
            _ => plain(&[at(kept_kind(found(0)))], &[]),
        },
        OpKind::Fed(FedOp::ClientState(_, kind)) => plain(&[at(Client)], &[at(kept_kind(*kind))]),
        OpKind::Fed(FedOp::SetClientState(_)) => plain(&[at(Client), at(kept_kind(found(1)))], &[]),
        OpKind::Fed(FedOp::Personal(_, parts)) => {
            let kept = match parts.as_slice() {
                [] => at(kept_kind(found(1))),
                _ => at(Params),
            };
            plain(&[at(Client), kept], &[kept])
        }
        OpKind::Fed(FedOp::Public(_, kind)) => {
            let count = [at(Index)];
            plain(&count[..found_count.min(1)], &[at(rows_kind(*kind))])
        }

        OpKind::Fed(FedOp::Matrix(..)) => plain(&[], &[Type::server(Tensor)]),
        OpKind::Fed(FedOp::Mix(topology)) => {
            let weights = (*topology == Topology::Matrix).then(|| Type::server(Tensor));
            let values = found_count.saturating_sub(weights.iter().len()).max(1);
            let mixed = (0..values).map(|i| Type::clients(carried_kind(found(i))));
            let mixed: Vec<Type> = mixed.collect();
            let operands: Vec<Type> = mixed.iter().copied().chain(weights).collect();
            plain(&operands, &mixed)
        }
        OpKind::Fed(FedOp::Consensus) => plain(&[Type::clients(Params)], &[Type::server(Params)]),
        OpKind::Fed(FedOp::Encode(encoding)) => {
            let setting = encoding.setting().into_iter();
            let operands: Vec<Type> = [Params].into_iter().chain(setting).map(at).collect();
            plain(&operands, &[at(Params)])
        }

        OpKind::Opt(OptOp::ForBatches) => carried(
            place,
            &[at(Client), at(Index), at(Index)],
            &[at(Batch)],
            operands,
        ),
        OpKind::Opt(OptOp::OneBatch) => plain(&[at(Client), at(Index)], &[at(Batch)]),
        OpKind::Opt(OptOp::Collect) => Signature {
            operands: vec![at(Client), at(Index)],
            results: rows(yields).map(at).collect(),
            regions: vec![RegionSignature {
                args: vec![at(Batch)],
                yields: rows(yields).map(at).collect(),
                place,
            }],
        },
        OpKind::Opt(OptOp::ForRows(n)) => {
            let found = rows(operands.get(2..).unwrap_or_default());
            // A count from a text may be any number: one row more than there are operands is too many as well.
            let most = operands.len() + 1;
            let each = found.chain(iter::repeat(Tensor)).take((*n).min(most));
            let each: Vec<Type> = each.map(at).collect();
            let control = [&[at(Index), at(Index)], each.as_slice()].concat();
            carried(place, &control, &each, operands)
        }
        OpKind::Opt(OptOp::SampleRows) => {
            let each = rows(operands.get(1..).unwrap_or_default());
            let each: Vec<Type> = each.map(at).collect();
            let size = match found(0) {
                Scalar => at(Scalar),
                _ => at(Index),
            };
            plain(&[&[size], each.as_slice()].concat(), &each)
        }
        OpKind::Opt(OptOp::SmallestRows) => {
            let each = rows(operands.get(2..).unwrap_or_default());
            let each: Vec<Type> = each.map(at).collect();
            let control = [&[at(Index), at(Tensor)], each.as_slice()].concat();
            plain(&control, &each)
        }
        OpKind::Opt(OptOp::Repeat) => carried(place, &[at(Index)], &[], operands),
        OpKind::Opt(OptOp::Grad) => Signature {
            operands: vec![tree(0)],
            results: vec![tree(0), at(Scalar)],
            regions: vec![RegionSignature {
                args: vec![tree(0)],
                yields: vec![at(Scalar)],
                place,
            }],
        },
        OpKind::External(ExternalOp::Column(_, Labels)) => plain(&[at(Batch)], &[at(Labels)]),
        OpKind::External(ExternalOp::Column(..)) => plain(&[at(Batch)], &[at(Tensor)]),
        OpKind::External(ExternalOp::Apply(_)) => plain(&inputs(Some(Params)), &[at(Tensor)]),
        OpKind::External(ExternalOp::Loss(_)) => plain(&inputs(None), &[at(Scalar)]),
        OpKind::External(ExternalOp::Function(_)) => plain(&inputs(None), &[at(Tensor)]),

        OpKind::Tree(
            TreeOp::Add | TreeOp::Sub | TreeOp::Mul | TreeOp::Div | TreeOp::ReplaceParts(_),
        ) => plain(&[tree(0); 2], &[tree(0)]),
        OpKind::Tree(TreeOp::Scale | TreeOp::AddScalar) => {
            plain(&[at(Scalar), tree(1)], &[tree(1)])
        }
        OpKind::Tree(TreeOp::Math(_)) => plain(&[tree(0)], &[tree(0)]),
        OpKind::Tree(TreeOp::LayerSum) => plain(&[at(Params)], &[at(Params)]),
        OpKind::Tree(TreeOp::Clamp) => plain(&[at(Scalar), at(Scalar), tree(2)], &[tree(2)]),
        OpKind::Tree(TreeOp::Choose) => plain(&[at(Scalar), tree(1), tree(1)], &[tree(1)]),
        OpKind::Tree(TreeOp::Select) => plain(&[tree(0); 3], &[tree(0)]),
        OpKind::Tree(TreeOp::Dot) => plain(&[tree(0); 2], &[at(Scalar)]),
        OpKind::Tree(TreeOp::SqNorm) => plain(&[tree(0)], &[at(Scalar)]),

        OpKind::Privacy(PrivacyOp::Release(_)) => {
            let released = rows_kind(found(0));
            plain(&[at(released)], &[at(released)])
        }
        OpKind::Privacy(PrivacyOp::ClipRows | PrivacyOp::Laplace) => {
            plain(&[at(Tensor), at(Scalar)], &[at(Tensor)])
        }
        OpKind::Privacy(PrivacyOp::Clip | PrivacyOp::Noise) => {
            let of = match found(0) {
                Scalar => at(Scalar),
                _ => tree(0),
            };
            plain(&[of, at(Scalar)], &[of])
        }
        OpKind::Privacy(PrivacyOp::TreeNoise) => plain(
            &[at(Params), at(Scalar), Type::server(Cohort)],
            &[at(Params)],
        ),
        OpKind::Privacy(PrivacyOp::L1Rows) => plain(&[at(Tensor)], &[at(Tensor)]),
        OpKind::Privacy(PrivacyOp::Claim(_)) => plain(&[], &[]),

        OpKind::Fed(FedOp::Call(hook) | FedOp::Super(hook)) => {
            let (args, results) = hook.signature();
            plain(args, results)
        }
    }
}
