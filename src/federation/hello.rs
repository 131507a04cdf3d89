//! What a coordinator asks a party that it does not know yet: which clients it hosts, and whether it takes
//! part in the program.

use fedround_flower::{Config, ConfigValue, Payload};

use super::error::MessageError;
use super::message::SETTINGS;

/// The types of our messages.
pub(super) const HELLO: &str = "query.hello";
pub(super) const REGION: &str = "query.region";

const GRAPH: &str = "graph";
const CLIENTS: &str = "clients";

/// Which program a coordinator runs.
pub(super) fn question(graph: &str) -> Payload {
    let graph = (GRAPH.to_owned(), ConfigValue::Text(graph.to_owned()));
    Payload::new().with(SETTINGS, Config::from_iter([graph]))
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

/// The clients in an answer.
pub(super) fn clients(content: &Payload) -> Result<Vec<usize>, MessageError> {
    let lacks = || MessageError::Record {
        record: SETTINGS,
        expected: "the numbers `clients`",
    };
    let number = |n: u64| usize::try_from(n).map_err(|_| lacks());
    match content.config(SETTINGS).and_then(|all| all.get(CLIENTS)) {
        Some(ConfigValue::Uints(clients)) => clients.iter().map(|n| number(*n)).collect(),
        Some(ConfigValue::Ints(clients)) => {
            let clients = clients
                .iter()
                .map(|n| u64::try_from(*n).map_err(|_| lacks()));
            clients.map(|n| number(n?)).collect()
        }
        _ => Err(lacks()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_read_what_the_other_writes() {
        assert_eq!(graph(&question("ab12")).unwrap(), "ab12");
        let answer = answer("ab12", &[0, 7]);
        assert_eq!(graph(&answer).unwrap(), "ab12");
        assert_eq!(clients(&answer).unwrap(), [0, 7]);
        assert!(clients(&question("ab12")).is_err());
        assert!(graph(&Payload::new()).is_err());
    }
}
