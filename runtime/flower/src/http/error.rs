//! Errors of the connection between this process and the SuperLink.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use super::version::Version;

/// A SuperLink that cannot be used.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The address is none.
    #[error("{url:?} is no address of a SuperLink, because {problem}: expected https://HOST:PORT")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An address of another machine without TLS.
    #[error(
        "{url} is not encrypted, and not on this machine: use https, or accept plaintext explicitly in a network that you trust"
    )]
    Plaintext {
        /// The address.
        url: String,
    },
    /// The file of certificates cannot be read, or has none.
    #[error("cannot read certificates in PEM from {}: {problem}", path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Another release of Flower.
    #[error(
        "the SuperLink runs Flower {found}, but only 1.40, 1.41 and 1.42 are tested: install one of these"
    )]
    Version {
        /// The release.
        found: Version,
    },
    /// A call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// A call that the SuperLink did not answer as asked.
#[derive(Debug, Error)]
pub enum CallError {
    /// No answer, however often it was tried.
    #[error("{url} did not answer for {:.1} s: {problem}", elapsed.as_secs_f64())]
    Unreachable {
        /// The address of the call.
        url: String,
        /// How long it was tried.
        elapsed: Duration,
        /// What the last try ended with.
        problem: String,
    },
    /// The certificate is not signed by an authority that is trusted, or TLS failed otherwise.
    #[error("no secure connection to {url}: {problem}")]
    Tls {
        /// The address of the call.
        url: String,
        /// Why.
        problem: String,
    },
    /// The SuperLink refused.
    #[error("{method} was refused with status {status}: {refusal}")]
    Refused {
        /// The call, such as `fleet/activate-node`.
        method: String,
        /// The status of HTTP.
        status: u16,
        /// Why.
        refusal: Refusal,
    },
    /// The answer is no protobuf message of the expected kind.
    #[error("the answer to {method} cannot be read, {problem}: is this a SuperLink?")]
    Answer {
        /// The call, such as `fleet/activate-node`.
        method: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A request could not be signed.
    #[error("cannot sign a request: {problem}")]
    Sign {
        /// Why.
        problem: String,
    },
}

impl CallError {
    /// Whether the SuperLink refused for this reason.
    pub fn is(&self, reason: Reason) -> bool {
        matches!(self, Self::Refused { refusal, .. } if refusal.reason == reason)
    }
}

/// Why the SuperLink refused, in its words.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{detail}{}", code.map(|code| format!(" (Flower's code {code})")).unwrap_or_default())]
pub struct Refusal {
    /// The reason, if it is one that this crate knows.
    pub reason: Reason,
    /// Flower's number of the reason.
    pub code: Option<u32>,
    /// Flower's text.
    pub detail: String,
}

/// Reasons that a caller may want to tell apart (`ApiErrorCode` of Flower).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// 16: there is no such run.
    UnknownRun,
    /// 23: the key is registered already.
    KeyInUse,
    /// 1001: the releases of Flower do not fit.
    Version,
    /// 1008: the task's token or the secret is wrong, or the token has expired.
    Authentication,
    /// 2001: parties must be registered by the operator.
    RegistrationDisabled,
    /// 2004: the key is not registered, or its node is online already.
    ActivationFailed,
    /// 2007: the run is not running, so that its messages are not served.
    RunNotRunning,
    /// 3002: the task is not there to be started.
    TaskNotStarted,
    /// Any other.
    Other,
}

/// The body of Flower's errors.
#[derive(Deserialize)]
struct Body {
    code: Option<u32>,
    detail: Option<serde_json::Value>,
    extra: Option<String>,
}

impl Refusal {
    /// The reason in the body of an answer. Proxies answer with other bodies than Flower.
    pub(super) fn of_body(status: u16, body: &[u8]) -> Self {
        let Ok(parsed) = serde_json::from_slice::<Body>(body) else {
            let text = String::from_utf8_lossy(body);
            let detail = text.chars().take(200).collect();
            return Self {
                reason: reason(status, None),
                code: None,
                detail,
            };
        };
        let mut detail = match parsed.detail {
            Some(serde_json::Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => "no reason given".to_owned(),
        };
        if let Some(extra) = parsed.extra {
            detail = format!("{detail} ({extra})");
        }
        Self {
            reason: reason(status, parsed.code),
            code: parsed.code,
            detail,
        }
    }
}

fn reason(status: u16, code: Option<u32>) -> Reason {
    match code {
        Some(16) => Reason::UnknownRun,
        Some(23) => Reason::KeyInUse,
        Some(1001) => Reason::Version,
        Some(1008) => Reason::Authentication,
        Some(2001) => Reason::RegistrationDisabled,
        Some(2004) => Reason::ActivationFailed,
        Some(2007) => Reason::RunNotRunning,
        Some(3002) => Reason::TaskNotStarted,
        None if status == 401 => Reason::Authentication,
        _ => Reason::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_flower_and_of_proxies_are_read() {
        let body = br#"{"code": 2004, "detail": "Node activation failed.", "extra": "id 7"}"#;
        let refusal = Refusal::of_body(412, body);
        assert_eq!(refusal.reason, Reason::ActivationFailed);
        let text = "Node activation failed. (id 7) (Flower's code 2004)";
        assert_eq!(refusal.to_string(), text);
        let refusal = Refusal::of_body(401, br#"{"detail": "Invalid SuperNode authentication"}"#);
        assert_eq!(refusal.reason, Reason::Authentication);
        let refusal = Refusal::of_body(403, b"<html>Forbidden</html>");
        assert_eq!(refusal.reason, Reason::Other);
        assert_eq!(refusal.detail, "<html>Forbidden</html>");
        assert_eq!(Refusal::of_body(500, b"\xff\x00{").reason, Reason::Other);
    }
}
