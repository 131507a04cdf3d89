//! Names and signatures of the slots.

use super::{Kind, Place, Slot, Type};

impl Slot {
    /// Every slot, from the server's loop body inwards.
    pub const ALL: [Self; 8] = [
        Self::Round,
        Self::ClientUpdate,
        Self::Aggregate,
        Self::Direction,
        Self::DataLoss,
        Self::Penalty,
        Self::Personalize,
        Self::ServerDirection,
    ];

    /// Its name in specs and in text, such as `client_update`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::ClientUpdate => "client_update",
            Self::Aggregate => "aggregate",
            Self::Direction => "direction",
            Self::DataLoss => "data_loss",
            Self::Penalty => "penalty",
            Self::Personalize => "personalize",
            Self::ServerDirection => "server_direction",
        }
    }

    /// Types of its arguments and of its results.
    pub const fn signature(self) -> (&'static [Type], &'static [Type]) {
        const CLIENT: Type = Type::client(Kind::Client);
        const PARAMS: Type = Type::client(Kind::Params);
        const BATCH: Type = Type::client(Kind::Batch);
        const SCALAR: Type = Type::client(Kind::Scalar);
        const GLOBAL: Type = Type::server(Kind::Params);
        const ROWS: Type = Type::server(Kind::Tensor);
        const LABELS: Type = Type::server(Kind::Labels);
        const TRAINED: Type = Type::clients(Kind::Params);
        match self {
            Self::Round => (&[GLOBAL], &[GLOBAL]),
            Self::ClientUpdate | Self::Personalize => (&[CLIENT, PARAMS], &[PARAMS]),
            Self::Aggregate => (&[TRAINED], &[GLOBAL]),
            Self::Direction => (&[CLIENT, PARAMS, BATCH], &[PARAMS]),
            Self::DataLoss => (&[CLIENT, PARAMS, BATCH], &[SCALAR]),
            Self::Penalty => (&[CLIENT, PARAMS], &[SCALAR]),
            Self::ServerDirection => (&[GLOBAL, ROWS, LABELS], &[GLOBAL]),
        }
    }

    /// Names of its arguments in text, one for each type of [`Slot::signature`].
    pub const fn arg_names(self) -> &'static [&'static str] {
        match self {
            Self::Round => &["w"],
            Self::ClientUpdate | Self::Penalty | Self::Personalize => &["k", "w"],
            Self::Aggregate => &["w_k"],
            Self::Direction | Self::DataLoss => &["k", "w", "b"],
            Self::ServerDirection => &["w", "x", "y"],
        }
    }

    /// Whether a slot has an argument of this name.
    pub fn names_argument(name: &str) -> bool {
        Self::ALL
            .iter()
            .any(|slot| slot.arg_names().contains(&name))
    }

    /// Where its code runs: [`Place::Server`] or [`Place::Client`].
    pub const fn place(self) -> Place {
        match self {
            Self::Round | Self::Aggregate | Self::ServerDirection => Place::Server,
            Self::ClientUpdate
            | Self::Direction
            | Self::DataLoss
            | Self::Penalty
            | Self::Personalize => Place::Client,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_names_its_arguments() {
        for slot in Slot::ALL {
            assert_eq!(
                slot.signature().0.len(),
                slot.arg_names().len(),
                "{}",
                slot.name()
            );
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names = Slot::ALL.map(Slot::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
