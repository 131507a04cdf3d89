//! The kinds of values that an operation accepts. For the kind that was found, it gives that kind if the
//! operation allows it, and the usual one otherwise.

use super::{Kind, Type};

/// The kinds that may be sent: parameters and scalars, and features and labels that were released. The
/// verifier checks the release.
pub(super) fn wire_kind(found: Kind) -> Kind {
    match found {
        Kind::Labels => Kind::Labels,
        found => reduced_kind(found),
    }
}

/// The kinds that can be averaged, and that a loop may carry: all but labels.
pub(super) fn reduced_kind(found: Kind) -> Kind {
    match found {
        Kind::Tensor => Kind::Tensor,
        found => carried_kind(found),
    }
}

/// The kinds with one row per example.
pub(super) fn rows_kind(found: Kind) -> Kind {
    match found {
        Kind::Labels => Kind::Labels,
        _ => Kind::Tensor,
    }
}

/// The kinds of some values with one row per example, of which there is at least one.
pub(super) fn rows(found: &[Type]) -> impl Iterator<Item = Kind> {
    let first = found.first().map_or(Kind::Tensor, |ty| ty.kind);
    let rest = found.iter().skip(1).map(|ty| ty.kind);
    std::iter::once(first).chain(rest).map(rows_kind)
}

/// The kinds that a client or the server may keep from round to round.
pub(super) fn kept_kind(found: Kind) -> Kind {
    if found.has_rows() {
        found
    } else {
        carried_kind(found)
    }
}

/// Parameters or numbers.
pub(super) fn carried_kind(found: Kind) -> Kind {
    if found == Kind::Scalar {
        Kind::Scalar
    } else {
        Kind::Params
    }
}
