//! The place, the effect and the direction of each `fed.*` operation, whether it is collective, and the
//! state that it uses.

use super::super::Place;
use super::choice::Choice;
use super::direction::Direction;
use super::effect::Effect;
use super::fed::FedOp;
use super::state_access::{Access, StateUse};

/// What passes ask about an op, besides its types. The methods of [`OpKind`](super::OpKind) of the same
/// names document the fields.
#[derive(Debug)]
pub(super) struct Properties<'a> {
    pub place: Option<Place>,
    pub effect: Effect,
    pub direction: Option<Direction>,
    pub is_collective: bool,
    pub state: Option<StateUse<'a>>,
}

impl<'a> Properties<'a> {
    /// A pure op that may run anywhere.
    const ANYWHERE: Self = Properties {
        place: None,
        effect: Effect::Pure,
        direction: None,
        is_collective: false,
        state: None,
    };

    /// A pure op of one place.
    const fn at(place: Place) -> Self {
        Properties {
            place: Some(place),
            ..Self::ANYWHERE
        }
    }

    /// A pure op of the server on a whole cohort.
    const COLLECTIVE: Self = Properties {
        is_collective: true,
        ..Self::at(Place::Server)
    };

    fn with(self, effect: Effect) -> Self {
        Properties { effect, ..self }
    }

    /// An op that draws at random under a condition.
    fn draws_if(self, random: bool) -> Self {
        match random {
            true => self.with(Effect::Draws),
            false => self,
        }
    }

    fn sending(self, direction: Direction) -> Self {
        Properties {
            direction: Some(direction),
            ..self
        }
    }

    /// An op that uses a state of a place.
    fn state(place: Place, access: Access, name: &'a str) -> Self {
        Properties {
            state: Some(StateUse {
                name,
                place,
                access,
            }),
            effect: match access {
                Access::Read | Access::ReadOr => Effect::Reads,
                Access::Set => Effect::Writes,
            },
            ..Self::at(place)
        }
    }
}

impl FedOp {
    /// Its properties. All are answered here, so that whoever adds an op decides about each of them.
    pub(super) fn properties(&self) -> Properties<'_> {
        match self {
            Self::AllClients
            | Self::Within
            | Self::Outside
            | Self::CurrentCohort
            | Self::Rotating
            | Self::Reshuffled
            | Self::Choose(Choice::Top | Choice::Where | Choice::Union)
            | Self::Members
            | Self::CohortSize
            | Self::Restrict
            | Self::NthLargest
            | Self::Staleness
            | Self::Concat
            | Self::Positions
            | Self::Pairwise(_)
            | Self::Split(_)
            | Self::Consensus => Properties::COLLECTIVE,
            Self::Sample | Self::Arrivals | Self::Choose(Choice::Bernoulli | Choice::SampleBy) => {
                Properties::COLLECTIVE.with(Effect::Draws)
            }
            Self::Map | Self::InTurn => Properties::COLLECTIVE.with(Effect::Regions),
            Self::Broadcast | Self::Dispatch | Self::Scatter => {
                Properties::COLLECTIVE.sending(Direction::Down)
            }
            Self::Reduce(_) | Self::Gather => Properties::COLLECTIVE.sending(Direction::Up),
            Self::Mix(topology) => {
                let sent = Properties::COLLECTIVE.sending(Direction::Across);
                sent.draws_if(topology.is_random())
            }
            Self::Seconds
            | Self::InitialParams(_)
            | Self::Matrix(..)
            | Self::StartParams
            | Self::ClientLabels => Properties::at(Place::Server),
            Self::NumExamples | Self::GlobalParams | Self::LocalClasses | Self::LabelCounts => {
                Properties::at(Place::Client)
            }
            Self::Encode(encoding) => Properties::at(Place::Client).draws_if(encoding.is_random()),
            Self::ServerState(name, _) => Properties::state(Place::Server, Access::Read, name),
            Self::ServerStateOr(name) => Properties::state(Place::Server, Access::ReadOr, name),
            Self::SetServerState(name) => Properties::state(Place::Server, Access::Set, name),
            Self::ClientState(name, _) => Properties::state(Place::Client, Access::Read, name),
            Self::Personal(name, _) => Properties::state(Place::Client, Access::ReadOr, name),
            Self::SetClientState(name) => Properties::state(Place::Client, Access::Set, name),
            // Once it is linked, it may set a state.
            Self::Call(hook) | Self::Super(hook) => {
                Properties::at(hook.place()).with(Effect::Writes)
            }
            Self::Hyper(_)
            | Self::RoundIndex
            | Self::NumClients
            | Self::ClientNumber
            | Self::EveryClass
            | Self::ZeroInputs
            | Self::Public(..) => Properties::ANYWHERE,
            Self::Uniform(_) | Self::Normal(_) | Self::Permutation(_) => {
                Properties::ANYWHERE.with(Effect::Draws)
            }
        }
    }
}
