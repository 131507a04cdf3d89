//! The first request to a party: which clients it hosts, and whether it takes part in the program.

use fedround_flower::{Config, ConfigValue, Payload};

use super::convention::{EXAMPLES, whole};
use super::error::MessageError;
use super::message::SETTINGS;
use super::terms::{Difference, Terms};

/// The types of our messages.
pub(super) const HELLO: &str = "query.hello";
pub(super) const REGION: &str = "query.region";

const GRAPH: &str = "graph";
const CLIENTS: &str = "clients";

/// What apps of Flower answer, which are one client each.
const SPEAKS: &str = "speaks";
const ARRAYS: &str = "arrays";
const CLIENT: &str = "client";

/// Which program a coordinator runs, and on which terms.
pub(super) fn question(graph: &str, terms: Option<&Terms>) -> Payload {
    let graph = (GRAPH.to_owned(), ConfigValue::Text(graph.to_owned()));
    let terms = terms.into_iter().flat_map(Terms::settings);
    Payload::new().with(SETTINGS, terms.chain([graph]).collect::<Config>())
}

/// How the terms of a question differ from a party's own.
pub(super) fn other_terms(question: &Payload, own: &Terms) -> Option<Difference> {
    own.difference(question.config(SETTINGS)?)
}

/// The program's hash in a question or an answer.
pub(super) fn graph(content: &Payload) -> Result<&str, MessageError> {
    match content.config(SETTINGS).and_then(|all| all.get(GRAPH)) {
        Some(ConfigValue::Text(graph)) => Ok(graph),
        _ => Err(MessageError::Record {
            record: SETTINGS,
            expected: "the hash `graph`",
        }),
    }
}

/// Which program a party takes part in, and with which clients.
pub(super) fn answer(graph: &str, clients: &[usize]) -> Payload {
    let clients = clients.iter().map(|client| *client as u64).collect();
    let settings = [
        (GRAPH.to_owned(), ConfigValue::Text(graph.to_owned())),
        (CLIENTS.to_owned(), ConfigValue::Uints(clients)),
    ];
    Payload::new().with(SETTINGS, Config::from_iter(settings))
}

/// Who answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    /// A party of fedround with these clients.
    Party(Vec<usize>),
    /// An app of Flower, which is one client, and how many examples it has.
    App { client: usize, examples: u64 },
}

/// Who answers, and for which clients.
pub(super) fn greeting(content: &Payload) -> Result<Greeting, MessageError> {
    let setting = |name: &str| content.config(SETTINGS).and_then(|all| all.get(name));
    match setting(SPEAKS) {
        Some(ConfigValue::Text(words)) if words == ARRAYS => {
            let client = setting(CLIENT).and_then(whole);
            let examples = setting(EXAMPLES).and_then(whole);
            Ok(Greeting::App {
                client: client.ok_or_else(|| lacks("the number `client`, from 0"))?,
                examples: examples.ok_or_else(|| lacks("the number `num-examples`"))?,
            })
        }
        Some(_) => Err(lacks("`speaks`, which is `arrays` for apps of Flower")),
        None => clients(content).map(Greeting::Party),
    }
}

fn lacks(expected: &'static str) -> MessageError {
    MessageError::Record {
        record: SETTINGS,
        expected,
    }
}

/// The clients in an answer.
fn clients(content: &Payload) -> Result<Vec<usize>, MessageError> {
    let clients: Option<Vec<usize>> =
        match content.config(SETTINGS).and_then(|all| all.get(CLIENTS)) {
            Some(ConfigValue::Uints(all)) => all.iter().map(|n| usize::try_from(*n).ok()).collect(),
            Some(ConfigValue::Ints(all)) => all.iter().map(|n| usize::try_from(*n).ok()).collect(),
            _ => None,
        };
    clients.ok_or_else(|| lacks("the numbers `clients`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_read_what_the_other_writes() {
        assert_eq!(graph(&question("ab12", None)).unwrap(), "ab12");
        let answer = answer("ab12", &[0, 7]);
        assert_eq!(graph(&answer).unwrap(), "ab12");
        assert_eq!(greeting(&answer).unwrap(), Greeting::Party(vec![0, 7]));
        assert!(greeting(&question("ab12", None)).is_err());
        assert!(graph(&Payload::new()).is_err());
    }

    #[test]
    fn apps_say_which_client_they_are() {
        let answer = |speaks: &str, client: i64| {
            let settings = [
                (SPEAKS.to_owned(), ConfigValue::Text(speaks.to_owned())),
                (CLIENT.to_owned(), ConfigValue::Int(client)),
                (EXAMPLES.to_owned(), ConfigValue::Int(30)),
            ];
            greeting(&Payload::new().with(SETTINGS, Config::from_iter(settings)))
        };
        let app = Greeting::App {
            client: 3,
            examples: 30,
        };
        assert_eq!(answer("arrays", 3).unwrap(), app);
        let error = answer("arrays", -1).unwrap_err().to_string();
        assert!(error.contains("`client`"), "{error}");
        let error = answer("tensors", 3).unwrap_err().to_string();
        assert!(error.contains("`speaks`"), "{error}");
    }
}
