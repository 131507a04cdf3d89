//! The secret that a SuperLink shares with the processes that may serve its runs.

use std::path::Path;

use fedround_store::hex;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use super::error::KeyError;
use crate::clock;
use crate::http::{CallError, Headers};

/// The call that the secret protects, as Flower signs it.
const METHOD: &str = "/flwr.proto.Runtime/AcquireTask";

/// The secret of `flower-superlink --superexec-auth-secret-file`. With it, only processes that have
/// the file may take over a run.
#[derive(Clone)]
pub struct ExecutorSecret {
    /// Derived from the file.
    key: Vec<u8>,
}

impl std::fmt::Debug for ExecutorSecret {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExecutorSecret")
    }
}

impl ExecutorSecret {
    /// Reads the file, all of whose bytes are the secret.
    ///
    /// # Errors
    ///
    /// [`KeyError::SecretFile`], or [`KeyError::EmptySecret`].
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let secret = std::fs::read(path).map_err(|source| KeyError::SecretFile {
            path: path.to_owned(),
            source,
        })?;
        if secret.is_empty() {
            return Err(KeyError::EmptySecret {
                path: path.to_owned(),
            });
        }
        Self::new(&secret).map_err(|problem| KeyError::Encode { problem })
    }

    fn new(secret: &[u8]) -> Result<Self, String> {
        let key = mac(secret, b"superexec-auth-v1")?;
        Ok(Self { key })
    }

    /// The four headers of AcquireTask, for this body and this moment.
    pub(crate) fn headers(&self, body: &[u8]) -> Result<Headers, CallError> {
        let mut nonce = [0; 16];
        let random = getrandom::fill(&mut nonce).map_err(|error| error.to_string());
        let headers =
            random.and_then(|()| self.headers_at(clock::unix_whole_seconds(), &hex(&nonce), body));
        headers.map_err(|problem| CallError::Sign { problem })
    }

    fn headers_at(&self, seconds: u64, nonce: &str, body: &[u8]) -> Result<Headers, String> {
        let body = hex(&Sha256::digest(body));
        let text = format!("method={METHOD}\nts={seconds}\nnonce={nonce}\nbody_sha256={body}");
        let signature = hex(&mac(&self.key, text.as_bytes())?);
        Ok(vec![
            ("flwr-superexec-ts", seconds.to_string()),
            ("flwr-superexec-nonce", nonce.to_owned()),
            ("flwr-superexec-body-sha256", body),
            ("flwr-superexec-signature", signature),
        ])
    }
}

fn mac(key: &[u8], text: &[u8]) -> Result<Vec<u8>, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|error| error.to_string())?;
    mac.update(text);
    Ok(mac.finalize().into_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `create_superexec_auth_metadata` of flwr 1.41.0, `tests/golden/make.py`.
    #[test]
    fn headers_are_those_of_flower() {
        let secret = ExecutorSecret::new(b"a secret of a test").unwrap();
        let headers = secret.headers_at(1_764_000_000, "00ff", b"\x0a\x0eflwr-serverapp");
        let golden = include_str!("../../tests/golden/executor.txt");
        let text: Vec<_> = headers
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(text, golden.lines().collect::<Vec<_>>());
    }
}
