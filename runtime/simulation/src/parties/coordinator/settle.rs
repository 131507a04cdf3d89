//! Ends a run: lets parties commit the states of its last round.

use std::collections::HashMap;

use super::super::message::Task;
use super::super::payload::Payload;
use super::super::transport::PartyError;
use super::Coordinator;
use crate::error::RunError;

impl Coordinator {
    /// Tells the hosts that are online which attempt was committed, and waits for their replies. It does not wait for
    /// hosts that are offline. Does nothing if clients keep no states.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn settle(&mut self) -> Result<(), RunError> {
        if !self.table.sets_states() || self.committed.is_empty() {
            return Ok(());
        }
        let mut open = HashMap::new();
        for host in self.parties.online_now()? {
            if !self.committed.contains_key(&host.id) {
                continue;
            }
            let request = Payload::new(&self.head(host.id, Task::Settle))?;
            match self.parties.send(host.id, &request) {
                Ok(ticket) => _ = open.insert(ticket, host.id),
                Err(why) => self.parties.left_out(host.id, &why),
            }
        }
        while !open.is_empty() {
            for (ticket, reply) in self.parties.poll()? {
                let Some(host) = open.remove(&ticket) else {
                    continue;
                };
                let failed = match reply {
                    Ok(reply) => reply.failure().map(PartyError::Failed),
                    Err(why) => Some(why),
                };
                if let Some(why) = failed {
                    self.parties.left_out(host, &why);
                }
            }
        }
        Ok(())
    }
}
