//! Attempts a round, checks that its results are finite, and repeats it without the clients whose
//! updates are not.

use std::collections::BTreeSet;

use super::Simulation;
use crate::error::RunError;
use crate::faults::Attendance;
use crate::non_finite::{Diverged, OnNan};
use crate::regions::RunRegion;
use crate::round::{NonFiniteClients, Observer, RoundStats, run_round};

impl Simulation {
    /// Runs the next round with up to `most` clients in one graph; one that fails leaves everything as
    /// it was. An observer is shown the first attempt alone.
    pub(crate) fn advance_without_failures(
        &mut self,
        most: usize,
        look: Option<Observer<'_>>,
    ) -> Result<RoundStats, RunError> {
        let absent = BTreeSet::new();
        let mut attendance = Attendance::default();
        match self.attempt(most, &absent, look, None, &mut attendance) {
            Err(RunError::Diverged { .. }) => self.repeat_with_finite(most, absent),
            Err(RunError::TooFew { .. }) => Ok(self.skip_round(&attendance)),
            ended => ended,
        }
    }

    /// Repeats a round that diverged, without those whose updates are not finite.
    fn repeat_with_finite(
        &mut self,
        most: usize,
        mut absent: BTreeSet<usize>,
    ) -> Result<RoundStats, RunError> {
        let round = self.round + 1;
        let diverged = |what| RunError::Diverged { round, what };
        let mut not_finite = BTreeSet::new();
        loop {
            // One client in a graph: then every loss is its own client's.
            let mut suspects = NonFiniteClients::default();
            let mut attendance = Attendance::default();
            let mut ended = self.attempt(1, &absent, None, Some(&mut suspects), &mut attendance);
            if let Err(RunError::Diverged { .. }) = ended {
                let found = suspects.clients;
                if found.is_empty() {
                    return Err(diverged(Diverged::Server));
                }
                if self.on_nan == OnNan::Stop {
                    return Err(diverged(Diverged::Clients(found.into_iter().collect())));
                }
                absent.extend(&found);
                not_finite.extend(found);
                attendance = Attendance::default();
                ended = self.attempt(most, &absent, None, None, &mut attendance);
            }
            match ended {
                Err(RunError::Diverged { .. }) => {}
                Err(RunError::TooFew { there: 0, .. }) => {
                    return Err(diverged(Diverged::EveryClient(not_finite.len())));
                }
                Err(RunError::TooFew { .. }) => {
                    let stats = self.skip_round(&attendance);
                    let not_finite = not_finite.into_iter().collect();
                    return Ok(RoundStats {
                        not_finite,
                        ..stats
                    });
                }
                ended => {
                    let not_finite = not_finite.into_iter().collect();
                    return ended.map(|stats| RoundStats {
                        not_finite,
                        ..stats
                    });
                }
            }
        }
    }

    /// Runs the next round without some clients, and without parties that fail in it: where the server has
    /// used what a party sent before it failed, the round is repeated without the party.
    fn attempt(
        &mut self,
        most: usize,
        absent: &BTreeSet<usize>,
        mut look: Option<Observer<'_>>,
        mut suspects: Option<&mut NonFiniteClients>,
        attendance: &mut Attendance,
    ) -> Result<RoundStats, RunError> {
        let mut absent = absent.clone();
        loop {
            let look = look.take();
            let found = suspects.as_deref_mut();
            let ran = self.attempt_once(most, &absent, look, found, attendance);
            let Err(RunError::Lost { clients }) = ran else {
                return ran;
            };
            absent.extend(clients);
            if let Some(suspects) = &mut suspects {
                **suspects = NonFiniteClients::default();
            }
        }
    }

    /// Runs the next round without some clients. One that fails, or whose results are not finite,
    /// leaves everything as it was.
    fn attempt_once(
        &mut self,
        most: usize,
        absent: &BTreeSet<usize>,
        look: Option<Observer<'_>>,
        suspects: Option<&mut NonFiniteClients>,
        attendance: &mut Attendance,
    ) -> Result<RoundStats, RunError> {
        self.load_examples()?;
        let round = self.round + 1;
        let params = self.params.clone();
        let mut state = std::mem::take(&mut self.state);
        let server = (state.server.clone(), state.in_flight.clone());
        // Borrowed for as long as this function's own values.
        let look = look.map(|look| look as Observer<'_>);
        let mut parties = self.parties.take();
        let (cx, beside) = self.contexts(round, most, absent);
        // Kept here while the round is borrowed for as long as its observer.
        let mut came = Attendance {
            failed: attendance.failed.clone(),
            late: attendance.late.clone(),
            ..Attendance::default()
        };
        let phase = (self.program().phase_of(cx.scheduled).0, cx.scheduled);
        let ran = self.guarded(|| {
            let (workers, state, came) = (&self.workers, &mut state, &mut came);
            if let Some(parties) = &mut parties {
                parties.begin(round, phase, (cx.clients(), most))?;
            }
            let remote = parties
                .as_mut()
                .map(|parties| parties as &mut dyn RunRegion);
            let (watch, who) = ((suspects, came), (workers, remote));
            run_round(cx, &beside, who, state, params, look, watch)
        });
        *attendance = came;
        if let (Ok(_), Some(parties)) = (&ran, &mut parties) {
            parties.commit();
        }
        self.parties = parties;
        match &ran {
            Ok(_) => state.commit(),
            Err(_) => state.undo(server),
        }
        self.state = state;
        let (params, stats) = ran?;
        (self.params, self.round) = (params, round);
        Ok(self.attended(stats, attendance))
    }
}
