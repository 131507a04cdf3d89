//! The typing rules of ops with regions over a cohort, and of loops.

use super::{RegionSignature, Signature};
use crate::fed::operand_kinds::{reduced_kind, wire_kind};
use crate::fed::{Kind, Place, Type};

/// Where the values of a cohort are: on the clients, unless they were gathered.
pub(super) fn side(operands: &[Type]) -> Place {
    match operands {
        [first, ..] if first.place == Place::Gathered => Place::Gathered,
        _ => Place::Clients,
    }
}

/// A map over values of a cohort.
pub(super) fn map(operands: &[Type], yields: &[Type]) -> Signature {
    let mapped: Vec<Kind> = match operands {
        // Without an operand a map knows no cohort.
        [] => vec![Kind::Params],
        some => some.iter().map(|ty| wire_kind(ty.kind)).collect(),
    };
    let released: Vec<Kind> = yields.iter().map(|ty| wire_kind(ty.kind)).collect();
    let side = side(operands);
    let place = match side {
        Place::Gathered => Place::Server,
        _ => Place::Client,
    };
    let at = |place: Place, kinds: &[Kind]| -> Vec<Type> {
        kinds.iter().map(|&kind| Type { kind, place }).collect()
    };
    Signature {
        operands: at(side, &mapped),
        results: at(side, &released),
        regions: vec![RegionSignature {
            args: at(place, &[&[Kind::Client], mapped.as_slice()].concat()),
            yields: at(place, &released),
            place,
        }],
    }
}

/// A loop: operands `control… ++ T…`, region arguments `inner… ++ T…`, yields and results `T…`.
pub(super) fn carried(
    place: Place,
    control: &[Type],
    inner: &[Type],
    operands: &[Type],
) -> Signature {
    let carried: Vec<Type> = operands
        .iter()
        .skip(control.len())
        .map(|ty| Type {
            kind: reduced_kind(ty.kind),
            place,
        })
        .collect();
    Signature {
        operands: [control, &carried].concat(),
        results: carried.clone(),
        regions: vec![RegionSignature {
            args: [inner, &carried].concat(),
            yields: carried,
            place,
        }],
    }
}
