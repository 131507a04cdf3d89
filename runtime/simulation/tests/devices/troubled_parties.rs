//! Parties of which one is offline, late, failing or wrong in a round.

use std::sync::Arc;

use fedround_simulation::parties::{
    Host, HostId, Loopback, Parties, PartyError, PartyHost, Payload, Replies, Ticket, Unreachable,
};
use fedround_store::TensorBytes;

/// What happens to the messages of host 1 in the second round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    None,
    /// It is not there when the round begins.
    Offline,
    /// It does not reply to its n-th request of the round.
    Expires(usize),
    /// It cannot be sent its n-th request.
    Unsent(usize),
    /// Its reply has a tensor too many, a tensor of another shape, or a value that is not finite.
    Extra,
    Reshaped,
    NotFinite,
    /// The n-th reply comes twice, as if the request had come twice.
    Twice,
}

/// A host for each client, and the trouble of one of them.
pub struct Troubled {
    inner: Loopback,
    trouble: Trouble,
    /// How often the coordinator asked who is online, which it does once for each attempt.
    attempts: usize,
    rounds: usize,
    requests: usize,
    expired: Vec<Ticket>,
    wrong: Vec<Ticket>,
}

impl Troubled {
    pub fn new(hosts: Vec<PartyHost>, trouble: Trouble) -> Self {
        Self {
            inner: Loopback::new(hosts),
            trouble,
            attempts: 0,
            rounds: 0,
            requests: 0,
            expired: vec![],
            wrong: vec![],
        }
    }
}

/// The round of a region; none of an evaluation.
fn round_of(request: &Payload) -> Option<usize> {
    request.round().unwrap()
}

impl Parties for Troubled {
    fn online(&mut self) -> Result<Vec<Host>, Unreachable> {
        self.attempts += 1;
        let mut hosts = self.inner.online()?;
        if self.trouble == Trouble::Offline && self.attempts == 2 {
            hosts.remove(1);
        }
        Ok(hosts)
    }

    fn send(&mut self, to: HostId, request: &Payload) -> Result<Ticket, PartyError> {
        let Some(round) = round_of(request) else {
            return self.inner.send(to, request);
        };
        if round != self.rounds {
            (self.rounds, self.requests) = (round, 0);
        }
        if to != HostId(1) || self.rounds != 2 {
            return self.inner.send(to, request);
        }
        self.requests += 1;
        if self.trouble == Trouble::Unsent(self.requests) {
            return Err(PartyError::Offline);
        }
        if self.trouble == Trouble::Twice {
            // Its reply is one that nobody waits for.
            self.inner.send(to, request)?;
        }
        let ticket = self.inner.send(to, request)?;
        match self.trouble {
            Trouble::Expires(n) if n == self.requests => self.expired.push(ticket),
            Trouble::Extra | Trouble::Reshaped | Trouble::NotFinite => self.wrong.push(ticket),
            _ => {}
        }
        Ok(ticket)
    }

    fn poll(&mut self) -> Result<Replies, Unreachable> {
        let mut replies = self.inner.poll()?;
        for (ticket, reply) in &mut replies {
            if self.expired.contains(ticket) {
                *reply = Err(PartyError::Expired);
            } else if self.wrong.contains(ticket)
                && let Ok(payload) = reply
            {
                let tensor = payload.tensors.iter_mut();
                let mut tensors = tensor.filter(|(name, _)| !name.ends_with("losses"));
                let Some((_, tensor)) = tensors.next() else {
                    continue;
                };
                let values = tensor.floats().unwrap();
                match self.trouble {
                    Trouble::Extra => {
                        let own = Arc::clone(tensor);
                        payload.tensors.push(("client1/example".to_owned(), own));
                    }
                    Trouble::Reshaped => {
                        let wrong = TensorBytes::of_floats(&values[1..], &[values.len() - 1]);
                        *tensor = Arc::new(wrong);
                    }
                    _ => {
                        let values = vec![f32::NAN; values.len()];
                        *tensor = Arc::new(TensorBytes::of_floats(&values, &tensor.shape));
                    }
                }
            }
        }
        Ok(replies)
    }
}
