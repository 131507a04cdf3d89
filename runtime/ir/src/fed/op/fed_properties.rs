//! The place, the effect and the direction of each `fed.*` operation, and whether it is collective.

use super::super::Place;
use super::choice::Choice;
use super::direction::Direction;
use super::effect::Effect;
use super::fed::FedOp;

impl FedOp {
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            Self::Sample
            | Self::AllClients
            | Self::Within
            | Self::Outside
            | Self::CurrentCohort
            | Self::Rotating
            | Self::Reshuffled
            | Self::Choose(_)
            | Self::Members
            | Self::CohortSize
            | Self::Restrict
            | Self::NthLargest
            | Self::Seconds
            | Self::InitialParams(_)
            | Self::Arrivals
            | Self::Dispatch
            | Self::Staleness
            | Self::Broadcast
            | Self::Map
            | Self::InTurn
            | Self::Matrix(..)
            | Self::Mix(_)
            | Self::Consensus
            | Self::Reduce(_)
            | Self::Gather
            | Self::Scatter
            | Self::Concat
            | Self::Positions
            | Self::Pairwise(_)
            | Self::Split(_)
            | Self::StartParams
            | Self::ClientLabels
            | Self::ServerState(..)
            | Self::ServerStateOr(_)
            | Self::SetServerState(_) => Some(Place::Server),
            Self::NumExamples
            | Self::GlobalParams
            | Self::ClientState(..)
            | Self::SetClientState(_)
            | Self::Personal(..)
            | Self::Encode(_)
            | Self::LocalClasses
            | Self::LabelCounts => Some(Place::Client),
            Self::Call(hook) | Self::Super(hook) => Some(hook.place()),
            Self::Hyper(_)
            | Self::RoundIndex
            | Self::NumClients
            | Self::Uniform(_)
            | Self::Normal(_)
            | Self::Permutation(_)
            | Self::ClientNumber
            | Self::EveryClass
            | Self::ZeroInputs
            | Self::Public(..) => None,
        }
    }

    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::SetServerState(_) | Self::SetClientState(_) | Self::Call(_) | Self::Super(_) => {
                Effect::Writes
            }
            Self::ServerState(..)
            | Self::ServerStateOr(_)
            | Self::ClientState(..)
            | Self::Personal(..) => Effect::Reads,
            Self::Sample
            | Self::Arrivals
            | Self::Choose(Choice::Bernoulli | Choice::SampleBy)
            | Self::Uniform(_)
            | Self::Normal(_)
            | Self::Permutation(_) => Effect::Draws,
            Self::Mix(topology) if topology.is_random() => Effect::Draws,
            Self::Encode(encoding) if encoding.is_random() => Effect::Draws,
            Self::Map | Self::InTurn => Effect::Regions,
            Self::Hyper(_)
            | Self::RoundIndex
            | Self::NumClients
            | Self::AllClients
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
            | Self::Seconds
            | Self::InitialParams(_)
            | Self::Dispatch
            | Self::Staleness
            | Self::Broadcast
            | Self::Reduce(_)
            | Self::Gather
            | Self::Scatter
            | Self::Concat
            | Self::Positions
            | Self::EveryClass
            | Self::LocalClasses
            | Self::LabelCounts
            | Self::ZeroInputs
            | Self::Public(..)
            | Self::ClientLabels
            | Self::NumExamples
            | Self::ClientNumber
            | Self::Pairwise(_)
            | Self::Split(_)
            | Self::StartParams
            | Self::GlobalParams
            | Self::Encode(_)
            | Self::Matrix(..)
            | Self::Mix(_)
            | Self::Consensus => Effect::Pure,
        }
    }

    pub(super) fn direction(&self) -> Option<Direction> {
        match self {
            Self::Broadcast | Self::Dispatch | Self::Scatter => Some(Direction::Down),
            Self::Reduce(_) | Self::Gather => Some(Direction::Up),
            Self::Mix(_) => Some(Direction::Across),
            Self::Hyper(_)
            | Self::RoundIndex
            | Self::NumClients
            | Self::Sample
            | Self::AllClients
            | Self::Within
            | Self::Outside
            | Self::CurrentCohort
            | Self::Rotating
            | Self::Reshuffled
            | Self::Choose(_)
            | Self::Members
            | Self::CohortSize
            | Self::Restrict
            | Self::NthLargest
            | Self::Seconds
            | Self::Uniform(_)
            | Self::Normal(_)
            | Self::Permutation(_)
            | Self::InitialParams(_)
            | Self::Arrivals
            | Self::Staleness
            | Self::Map
            | Self::InTurn
            | Self::Concat
            | Self::Positions
            | Self::Pairwise(_)
            | Self::Split(_)
            | Self::ClientLabels
            | Self::EveryClass
            | Self::LocalClasses
            | Self::LabelCounts
            | Self::ZeroInputs
            | Self::Public(..)
            | Self::NumExamples
            | Self::ClientNumber
            | Self::StartParams
            | Self::GlobalParams
            | Self::ServerState(..)
            | Self::ServerStateOr(_)
            | Self::SetServerState(_)
            | Self::ClientState(..)
            | Self::SetClientState(_)
            | Self::Personal(..)
            | Self::Encode(_)
            | Self::Matrix(..)
            | Self::Consensus
            | Self::Call(_)
            | Self::Super(_) => None,
        }
    }

    pub(in crate::fed) fn is_collective(&self) -> bool {
        match self {
            Self::Sample
            | Self::AllClients
            | Self::Within
            | Self::Outside
            | Self::CurrentCohort
            | Self::Rotating
            | Self::Reshuffled
            | Self::Choose(_)
            | Self::Members
            | Self::CohortSize
            | Self::Restrict
            | Self::NthLargest
            | Self::Arrivals
            | Self::Dispatch
            | Self::Staleness
            | Self::Broadcast
            | Self::Map
            | Self::InTurn
            | Self::Mix(_)
            | Self::Consensus
            | Self::Reduce(_)
            | Self::Gather
            | Self::Scatter
            | Self::Concat
            | Self::Pairwise(_)
            | Self::Split(_)
            | Self::Positions => true,
            Self::Hyper(_)
            | Self::RoundIndex
            | Self::NumClients
            | Self::Seconds
            | Self::Uniform(_)
            | Self::Normal(_)
            | Self::Permutation(_)
            | Self::InitialParams(_)
            | Self::ClientLabels
            | Self::EveryClass
            | Self::LocalClasses
            | Self::LabelCounts
            | Self::ZeroInputs
            | Self::Public(..)
            | Self::NumExamples
            | Self::ClientNumber
            | Self::StartParams
            | Self::GlobalParams
            | Self::ServerState(..)
            | Self::ServerStateOr(_)
            | Self::SetServerState(_)
            | Self::ClientState(..)
            | Self::SetClientState(_)
            | Self::Personal(..)
            | Self::Encode(_)
            | Self::Matrix(..)
            | Self::Call(_)
            | Self::Super(_) => false,
        }
    }
}
