//! Attempts a round, and repeats it without the clients that have to be left out: those whose updates are not
//! finite, and those of parties that failed.

use std::collections::BTreeSet;

use fedround_ir::fed::{FedOp, Module, OpKind, Place};
use fedround_passes::fed::mechanisms;
use fedround_passes::schedule::{Block, Control, Item};

use super::Simulation;
use crate::error::RunError;
use crate::faults::Attendance;
use crate::non_finite::{Diverged, OnNan};
use crate::regions::ClientRunner;
use crate::round::{NonFiniteClients, Observer, RoundInput, RoundStats, run_round};

impl Simulation {
    /// Runs the next round with up to `max_group` clients in one graph. A round that fails leaves the simulation
    /// as it was. The observer is shown the first attempt only.
    pub(crate) fn advance_without_failures(
        &mut self,
        max_group: usize,
        observer: Option<Observer<'_>>,
    ) -> Result<RoundStats, RunError> {
        let (nobody, mut attendance) = (BTreeSet::new(), Attendance::default());
        if self.round < self.told_until {
            self.state.in_flight.skip(self.round);
            return Ok(self.skip_round(&attendance));
        }
        match self.attempt(max_group, &nobody, observer, None, &mut attendance) {
            Err(RunError::Diverged { .. }) if !self.next_round_tells_noise() => {
                self.repeat_with_finite(max_group)
            }
            Err(error @ RunError::Diverged { .. }) if self.on_nan == OnNan::Stop => Err(error),
            Err(RunError::TooFew { .. } | RunError::Diverged { .. } | RunError::Lost { .. }) => {
                Ok(self.skip_round(&attendance))
            }
            ended => ended,
        }
    }

    /// Repeats a round that diverged without the clients whose updates are not finite. Each repetition first finds
    /// them, and then runs without them, until the results are finite.
    fn repeat_with_finite(&mut self, max_group: usize) -> Result<RoundStats, RunError> {
        let round = self.round + 1;
        let diverged = |what| RunError::Diverged { round, what };
        let in_flight = self.state.in_flight.clone();
        let mut not_finite = BTreeSet::new();
        loop {
            // Each client runs in a graph of its own, so that every loss belongs to one client.
            let mut non_finite = NonFiniteClients::default();
            let mut attendance = Attendance::default();
            let mut ended =
                self.attempt(1, &not_finite, None, Some(&mut non_finite), &mut attendance);
            if let Err(RunError::Diverged { .. }) = ended {
                let found = non_finite.clients;
                if found.is_empty() {
                    return Err(diverged(Diverged::Server));
                }
                if self.on_nan == OnNan::Stop {
                    return Err(diverged(Diverged::Clients(found.into_iter().collect())));
                }
                not_finite.extend(found);
                attendance = Attendance::default();
                ended = self.attempt(max_group, &not_finite, None, None, &mut attendance);
            }
            let stats = match ended {
                Err(RunError::Diverged { .. }) => continue,
                // An empty cohort, such as one that `restrict` gives, does not mean that all clients diverged.
                Err(RunError::TooFew {
                    called: 1..,
                    responded: 0,
                    ..
                }) => {
                    self.state.in_flight = in_flight;
                    return Err(diverged(Diverged::EveryClient(not_finite.len())));
                }
                Err(RunError::TooFew { .. }) => self.skip_round(&attendance),
                ended => ended?,
            };
            let not_finite = not_finite.into_iter().collect();
            return Ok(RoundStats {
                not_finite,
                ..stats
            });
        }
    }

    /// Runs the next round without the `absent` clients. If a party fails after the server has used what it sent,
    /// the round is repeated without the party's clients.
    fn attempt(
        &mut self,
        max_group: usize,
        absent: &BTreeSet<usize>,
        mut observer: Option<Observer<'_>>,
        mut non_finite: Option<&mut NonFiniteClients>,
        attendance: &mut Attendance,
    ) -> Result<RoundStats, RunError> {
        let mut absent = absent.clone();
        loop {
            let observer = observer.take();
            let found = non_finite.as_deref_mut();
            let ran = self.attempt_once(max_group, &absent, observer, found, attendance);
            let Err(RunError::Lost { clients }) = ran else {
                return ran;
            };
            if self.next_round_tells_noise() {
                return Err(RunError::Lost { clients });
            }
            absent.extend(clients);
            if let Some(non_finite) = &mut non_finite {
                **non_finite = NonFiniteClients::default();
            }
        }
    }

    /// Whether the next round, in the course of it, tells values with noise to another side: the server what clients
    /// add noise to, or parties what the server does. It is not repeated then: the same noise on values of fewer
    /// clients would tell what the others sent, and other noise would tell a second time. A round that fails, or in
    /// which the process ends, is skipped, and counts as a round in which noise was added.
    pub fn next_round_tells_noise(&self) -> bool {
        if self.parties.is_none() {
            return false;
        }
        let program = self.program().at(self.scheduled(self.round + 1));
        let found = mechanisms(program.linked());
        let by_clients = found.known.iter().any(|mechanism| !mechanism.central);
        let has_noise = !found.known.is_empty() || !found.unknown.is_empty();
        let schedule = program.schedule();
        // Clients of the first map were told nothing of this round.
        by_clients || has_noise && maps_of_clients(&schedule.module, &schedule.round) > 1
    }

    /// Skips the rounds up to this one that are still to come, because another process has begun them and
    /// [may have told noise](Self::next_round_tells_noise) in them.
    pub fn skip_until(&mut self, round: usize) {
        self.told_until = round;
    }

    /// Runs the next round once, without the `absent` clients. A round that fails, or whose results are not finite,
    /// leaves the simulation as it was. In one with too few clients, those in flight have gone on.
    fn attempt_once(
        &mut self,
        max_group: usize,
        absent: &BTreeSet<usize>,
        observer: Option<Observer<'_>>,
        non_finite: Option<&mut NonFiniteClients>,
        attendance: &mut Attendance,
    ) -> Result<RoundStats, RunError> {
        self.load_examples()?;
        let round = self.round + 1;
        let tells_noise = self.next_round_tells_noise();
        let params = self.params.clone();
        let mut state = std::mem::take(&mut self.state);
        let before = (state.server.clone(), state.in_flight.clone());
        // The cast shortens the observer's lifetime to that of this function's own values.
        let observer = observer.map(|observer| observer as Observer<'_>);
        let mut parties = self.parties.take();
        let devices = self.contexts(round, max_group, absent);
        // A copy, because the round borrows its attendance for as long as its observer.
        let mut attended = Attendance {
            failed: attendance.failed.clone(),
            late: attendance.late.clone(),
            ..Attendance::default()
        };
        let main = devices[0];
        let phase = (main.phase, main.scheduled);
        let ran = self.guarded(|| {
            if let Some(parties) = &mut parties {
                parties.begin(round, phase, (main.clients(), max_group))?;
                if tells_noise {
                    parties.before_noise()?;
                }
            }
            run_round(RoundInput {
                devices: &devices,
                workers: &self.workers,
                parties: parties
                    .as_mut()
                    .map(|parties| parties as &mut dyn ClientRunner),
                state: &mut state,
                params,
                observer,
                non_finite,
                attendance: &mut attended,
            })
        });
        *attendance = attended;
        if let (Ok(_), Some(parties)) = (&ran, &mut parties) {
            parties.commit();
        }
        self.parties = parties;
        match &ran {
            Ok(_) => state.commit(),
            Err(RunError::TooFew { .. }) => {
                let mut in_flight = std::mem::take(&mut state.in_flight);
                in_flight.skip(self.round);
                state.roll_back((before.0, in_flight));
            }
            Err(_) => state.roll_back(before),
        }
        self.state = state;
        let (params, stats) = ran?;
        (self.params, self.round) = (params, round);
        Ok(self.attended(stats, attendance))
    }
}

/// How many maps on clients a round runs. Those in loops count twice.
fn maps_of_clients(module: &Module, block: &Block) -> usize {
    let of = |control: &Control| {
        let place = control
            .op
            .operands
            .first()
            .map(|v| module.type_of(*v).place);
        match (&control.op.kind, &control.body) {
            (OpKind::Fed(FedOp::Map), _) => usize::from(place == Some(Place::Clients)),
            (_, Some(body)) => 2 * maps_of_clients(module, body),
            (_, None) => 0,
        }
    };
    let items = block.items.iter().map(|(item, _)| match item {
        Item::Control(control) => of(control),
        Item::Compute(_) => 0,
    });
    items.sum()
}
