//! A party of a federation: answers the coordinator's requests.

use std::time::Duration;

use fedround_flower::{Delivery, FlowerError, Party, Request};
use fedround_simulation::parties::PartyHost;

use super::durable_host::DurableHost;
use super::error::ParticipantError;
use super::hello;
use super::message::{SharedRecord, from_flower, to_flower};
use super::terms::Terms;

/// A process that hosts clients and answers a coordinator through a SuperLink.
pub struct Participant {
    party: Party,
    host: DurableHost,
    terms: Option<Terms>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A coordinator asked which clients are here, and runs the same program.
    Greeted,
    /// A coordinator runs another program, of this hash. It gets no answer but that.
    OtherProgram(String),
    /// A request was answered.
    Replied,
    /// A request could not be carried out, and why. The coordinator is told, but no names of files here.
    Failed(String),
    /// The request had expired before the reply was ready.
    TooLate,
    /// A message that could not be read, or a coordinator with other terms, and why. The coordinator is
    /// told, but no names of columns here.
    Refused(String),
}

impl Participant {
    /// A party that is online, with its clients.
    pub fn new(party: Party, host: DurableHost) -> Self {
        let terms = None;
        Self { party, host, terms }
    }

    /// Takes part with a coordinator of the same terms alone.
    #[must_use]
    pub fn with_terms(mut self, terms: Terms) -> Self {
        self.terms = Some(terms);
        self
    }

    /// The clients with their states.
    pub fn host(&self) -> &PartyHost {
        self.host.host()
    }

    /// Answers the next request, if one comes in this time.
    ///
    /// # Errors
    ///
    /// See [`ParticipantError`]. Bad messages are no errors.
    pub fn answer_next(&mut self, time: Duration) -> Result<Option<Answer>, ParticipantError> {
        match self.party.wait(time) {
            Ok(Some(request)) => self.answer(&request).map(Some),
            Ok(None) => Ok(None),
            Err(FlowerError::Object(error)) => Ok(Some(Answer::Refused(error.to_string()))),
            Err(error) => Err(error.into()),
        }
    }

    fn answer(&mut self, request: &Request) -> Result<Answer, ParticipantError> {
        match request.kind.as_str() {
            hello::HELLO => self.greet(request),
            hello::REGION => self.region(request),
            kind => self.refuse(
                request,
                &format!("expected a request of fedround, found one of `{kind}`"),
            ),
        }
    }

    fn greet(&mut self, request: &Request) -> Result<Answer, ParticipantError> {
        let found = match hello::graph(&request.payload) {
            Ok(found) => found.to_owned(),
            Err(error) => return self.refuse(request, &error.to_string()),
        };
        let own = self.host.host().graph_hash();
        if found != own {
            let text = format!("this party takes part in the program {own}, not in {found}");
            self.party.fail(request, &text)?;
            return Ok(Answer::OtherProgram(found));
        }
        let terms = self.terms.as_ref();
        if let Some(other) = terms.and_then(|own| hello::other_terms(&request.payload, own)) {
            self.party.fail(request, &other.told)?;
            return Ok(Answer::Refused(other.in_full()));
        }
        let answer = hello::answer(own, self.host.host().clients());
        Ok(match self.party.reply(request, &answer)? {
            Delivery::Sent => Answer::Greeted,
            Delivery::TooLate => Answer::TooLate,
        })
    }

    fn region(&mut self, request: &Request) -> Result<Answer, ParticipantError> {
        let payload = match from_flower(&request.payload) {
            Ok(payload) => payload,
            Err(error) => return self.refuse(request, &error.to_string()),
        };
        let reply = self.host.answer(&payload)?;
        // The operator may know more than the coordinator.
        let failure = self.host.host().last_failure().map(str::to_owned);
        match to_flower(&reply, &mut SharedRecord::default()) {
            Ok(reply) => Ok(match (self.party.reply(request, &reply)?, failure) {
                (_, Some(why)) => Answer::Failed(why),
                (Delivery::Sent, None) => Answer::Replied,
                (Delivery::TooLate, None) => Answer::TooLate,
            }),
            Err(error) => self.refuse(request, &error.to_string()),
        }
    }

    fn refuse(&mut self, request: &Request, why: &str) -> Result<Answer, ParticipantError> {
        self.party.fail(request, why)?;
        Ok(Answer::Refused(why.to_owned()))
    }

    /// Waits until the coordinator has the last replies, and goes offline. Gives how many it has not.
    ///
    /// # Errors
    ///
    /// The SuperLink cannot be reached.
    pub fn leave(self) -> Result<usize, FlowerError> {
        self.party.leave()
    }
}
