//! The address of the SuperLink, and how long to wait for it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::ConnectError;
use super::stop::StopSignal;
use super::version::Versions;

/// How to reach a SuperLink.
#[derive(Clone, Debug)]
pub struct ConnectionSettings {
    /// `https://HOST:PORT`, or `http://` for a SuperLink without TLS.
    pub url: String,
    /// A PEM file of the certificates that sign the SuperLink's certificate. Without it, the
    /// public certificate authorities.
    pub ca: Option<PathBuf>,
    /// Whether `http://` is accepted for a host other than this machine. Everybody between the two
    /// machines can then read and change the parameters.
    pub plaintext: bool,
    /// How long a SuperLink that does not answer is tried again, at each call.
    pub patience: Duration,
    /// How long a SuperLink may take for one answer.
    pub timeout: Duration,
    /// The releases of Flower that are accepted.
    pub versions: Versions,
    /// The most bytes of one message that are accepted.
    pub max_message: u64,
    /// Whether this process was asked to end: then a SuperLink that does not answer is not waited for.
    pub stop: StopSignal,
}

impl ConnectionSettings {
    /// The SuperLink at this address: TLS by the public authorities, two minutes of patience, one
    /// minute for each answer, messages of at most 4 GiB.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            ca: None,
            plaintext: false,
            patience: Duration::from_secs(120),
            timeout: Duration::from_secs(60),
            versions: Versions::Tested,
            max_message: 4 << 30,
            stop: StopSignal::default(),
        }
    }

    /// The same with a file of certificates.
    #[must_use]
    pub fn with_ca(mut self, ca: impl AsRef<Path>) -> Self {
        self.ca = Some(ca.as_ref().to_owned());
        self
    }

    /// The same with another patience.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The address without a slash at its end.
    pub(super) fn base(&self) -> Result<String, ConnectError> {
        let url = self.url.trim_end_matches('/');
        let invalid = |problem| ConnectError::Url {
            url: without_user(&self.url),
            problem,
        };
        let parsed: ureq::http::Uri = url.parse().map_err(|_| invalid("it is no URL"))?;
        let host = parsed.host().ok_or_else(|| invalid("it has no host"))?;
        if parsed
            .authority()
            .is_some_and(|all| all.as_str().contains('@'))
        {
            return Err(invalid("it has a user name or a password"));
        }
        if !parsed.path().trim_matches('/').is_empty() || parsed.query().is_some() {
            return Err(invalid("it has a path after the host"));
        }
        let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let here = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        match parsed.scheme_str() {
            Some("https") => Ok(url.to_owned()),
            Some("http") if here || self.plaintext => Ok(url.to_owned()),
            Some("http") => Err(ConnectError::Plaintext {
                url: self.url.clone(),
            }),
            _ => Err(invalid("it does not begin with https:// or http://")),
        }
    }
}

/// An address for messages: a user name and a password before the host are left out.
fn without_user(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}…@{host}"),
        None => url.to_owned(),
    }
}
