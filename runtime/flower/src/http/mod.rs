//! Calls to a SuperLink: protobuf messages over HTTP, tried again while the SuperLink is away.

mod error;
mod retry;
mod settings;
mod stop;
mod version;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

pub use error::{CallError, ConnectError, Reason, Refusal};
pub(crate) use retry::Backoff;
pub use settings::ConnectionSettings;
use stop::Patience;
pub use stop::StopSignal;
pub use version::{Version, Versions};

/// The largest answer: the SuperLink sends arrays in chunks of 5 MiB, other objects whole.
const LARGEST_ANSWER: u64 = 256 << 20;

/// Headers of a request.
pub(crate) type Headers = Vec<(&'static str, String)>;

/// A SuperLink that answered. Clones share its connections; all may be used at the same time.
#[derive(Clone, Debug)]
pub struct Connection {
    inner: Arc<Inner>,
    /// How long each call of this clone is tried again.
    patience: Duration,
}

#[derive(Debug)]
struct Inner {
    agent: Agent,
    base: String,
    settings: ConnectionSettings,
    version: Option<Version>,
}

/// One try.
enum Outcome {
    Answer(u16, Vec<u8>),
    /// Worth another try.
    Away(String),
}

impl Connection {
    /// Asks the SuperLink for its version (`/openapi.json`), and waits for it if it is away.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if the address or the certificates are wrong, if the SuperLink does not
    /// answer, or if its release is not among those that the settings accept.
    pub fn open(settings: ConnectionSettings) -> Result<Self, ConnectError> {
        let base = settings.base()?;
        let tls = TlsConfig::builder().root_certs(root_certificates(&settings)?);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .tls_config(tls.build())
            .timeout_connect(Some(settings.timeout.min(Duration::from_secs(10))))
            .timeout_per_call(Some(settings.timeout));
        let agent = config.build().new_agent();
        let mut inner = Inner {
            agent,
            base,
            settings,
            version: None,
        };
        let url = format!("{}/openapi.json", inner.base);
        let (status, body) = inner.retry(&url, inner.settings.patience, &|| {
            Ok(inner.agent.get(&url).call())
        })?;
        inner.version = match status {
            200 => Version::of_openapi(&body),
            // A proxy that lets only some calls through.
            401 | 403 | 404 => None,
            status => {
                return Err(ConnectError::Call(CallError::Refused {
                    method: "openapi.json".to_owned(),
                    status,
                    refusal: Refusal::of_body(status, &body),
                }));
            }
        };
        if let (Versions::Tested, Some(found)) = (inner.settings.versions, &inner.version)
            && !found.is_tested()
        {
            let found = found.clone();
            return Err(ConnectError::Version { found });
        }
        Ok(Self {
            patience: inner.settings.patience,
            inner: Arc::new(inner),
        })
    }

    /// The SuperLink's release of Flower, unless a proxy hides it.
    pub fn version(&self) -> Option<&Version> {
        self.inner.version.as_ref()
    }

    /// The settings that this was opened with.
    pub fn settings(&self) -> &ConnectionSettings {
        &self.inner.settings
    }

    /// The same SuperLink, with another patience.
    pub(crate) fn with_patience(&self, patience: Duration) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            patience,
        }
    }

    /// Calls a method such as `fleet/pull-messages`. `headers` are made anew for each try, because
    /// signatures and nonces are valid once and for a short time.
    pub(crate) fn call<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        headers: &dyn Fn(&[u8]) -> Result<Headers, CallError>,
    ) -> Result<A, CallError> {
        let inner = &self.inner;
        let url = format!("{}/v1/{method}", inner.base);
        let body = request.encode_to_vec();
        let (status, answer) = inner.retry(&url, self.patience, &|| {
            let mut request = inner.agent.post(&url);
            request = request.header("content-type", "application/protobuf");
            for (name, value) in headers(&body)? {
                request = request.header(name, value);
            }
            Ok(request.send(&body))
        })?;
        if status != 200 {
            return Err(CallError::Refused {
                method: method.to_owned(),
                status,
                refusal: Refusal::of_body(status, &answer),
            });
        }
        A::decode(bytes::Bytes::from(answer)).map_err(|error| CallError::Answer {
            method: method.to_owned(),
            problem: error.to_string(),
        })
    }
}

/// How often a call is made again whose answer is a failure of the SuperLink's own: it fails so when its
/// database is busy, and also at requests that it will never understand.
const FAILURES: usize = 4;

type Response = Result<ureq::http::Response<ureq::Body>, ureq::Error>;

impl Inner {
    fn retry(
        &self,
        url: &str,
        patience: Duration,
        send: &dyn Fn() -> Result<Response, CallError>,
    ) -> Result<(u16, Vec<u8>), CallError> {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(3));
        let mut backoff = Backoff::new(first, longest, patience);
        let mut tries = Patience::new(&self.settings.stop);
        let mut failures = 0;
        loop {
            let problem = match outcome(url, send()?)? {
                Outcome::Answer(500, body) if failures == FAILURES => return Ok((500, body)),
                Outcome::Answer(500, _) => {
                    failures += 1;
                    "it answered with status 500".to_owned()
                }
                Outcome::Answer(status, body) => return Ok((status, body)),
                Outcome::Away(problem) => problem,
            };
            if !backoff.next_wait().is_some_and(|wait| tries.wait(wait)) {
                return Err(CallError::Unreachable {
                    url: url.to_owned(),
                    elapsed: backoff.elapsed(),
                    problem,
                });
            }
        }
    }
}

/// Whether a try gave an answer, or is worth another one.
fn outcome(url: &str, response: Response) -> Result<Outcome, CallError> {
    let tls = |problem: String| CallError::Tls {
        url: url.to_owned(),
        problem,
    };
    let failed = |error: ureq::Error| match error {
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(tls(error.to_string()))
        }
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::TlsRequired => {
            Err(tls(error.to_string()))
        }
        ureq::Error::BodyExceedsLimit(limit) => Err(CallError::Answer {
            method: url.to_owned(),
            problem: format!("it has more than {limit} bytes"),
        }),
        error => Ok(Outcome::Away(error.to_string())),
    };
    let mut response = match response {
        Ok(response) => response,
        Err(error) => return failed(error),
    };
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(LARGEST_ANSWER);
    match body.read_to_vec() {
        Ok(_) if matches!(status, 502..=504) => {
            Ok(Outcome::Away(format!("it answered with status {status}")))
        }
        Ok(body) => Ok(Outcome::Answer(status, body)),
        Err(error) => failed(error),
    }
}

fn root_certificates(settings: &ConnectionSettings) -> Result<RootCerts, ConnectError> {
    let Some(path) = &settings.ca else {
        return Ok(RootCerts::WebPki);
    };
    let wrong = |problem: String| ConnectError::Ca {
        path: path.clone(),
        problem,
    };
    let pem = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let mut certificates = vec![];
    for item in parse_pem(&pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(wrong(error.to_string())),
        }
    }
    if certificates.is_empty() {
        return Err(wrong("it has no certificate".to_owned()));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
