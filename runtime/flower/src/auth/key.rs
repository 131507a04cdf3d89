//! The key that identifies a party, and the headers that prove that it has it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use p256::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
use sha2::{Digest, Sha256};

use crate::clock;
use crate::http::{CallError, Headers};

use super::error::KeyError;

/// A private key on the curve P-256 or P-384. Its public half names the party at the SuperLink.
#[derive(Clone)]
pub struct NodeKey {
    secret: Secret,
    /// The public key in PEM, as Flower compares it.
    public: String,
}

#[derive(Clone)]
enum Secret {
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
}

impl std::fmt::Debug for NodeKey {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NodeKey({})", self.public)
    }
}

impl NodeKey {
    /// A new key on P-256.
    ///
    /// # Errors
    ///
    /// [`KeyError::Random`] if the system has no random bytes.
    pub fn generate() -> Result<Self, KeyError> {
        loop {
            let mut scalar = [0; 32];
            getrandom::fill(&mut scalar).map_err(|error| KeyError::Random {
                problem: error.to_string(),
            })?;
            // Zero, and numbers above the order of the curve, are no keys: one in 2^32.
            if let Ok(key) = p256::SecretKey::from_slice(&scalar) {
                return Self::p256(&key);
            }
        }
    }

    pub(super) fn p256(key: &p256::SecretKey) -> Result<Self, KeyError> {
        Self::new(Secret::P256(key.into()), &key.public_key())
    }

    pub(super) fn p384(key: &p384::SecretKey) -> Result<Self, KeyError> {
        Self::new(Secret::P384(key.into()), &key.public_key())
    }

    fn new(secret: Secret, public: &impl EncodePublicKey) -> Result<Self, KeyError> {
        let public = public.to_public_key_pem(LineEnding::LF);
        let public = public.map_err(|error| KeyError::Encode {
            problem: error.to_string(),
        })?;
        Ok(Self { secret, public })
    }

    /// The public key in PEM (SubjectPublicKeyInfo), which an operator registers at the SuperLink.
    pub fn public_pem(&self) -> &str {
        &self.public
    }

    /// The private key in PEM (PKCS #8).
    pub(super) fn private_pem(&self) -> Result<String, KeyError> {
        let pem = match &self.secret {
            Secret::P256(key) => {
                p256::SecretKey::from(key.as_nonzero_scalar()).to_pkcs8_pem(LineEnding::LF)
            }
            Secret::P384(key) => {
                p384::SecretKey::from(key.as_nonzero_scalar()).to_pkcs8_pem(LineEnding::LF)
            }
        };
        let pem = pem.map_err(|error| KeyError::Encode {
            problem: error.to_string(),
        })?;
        Ok(pem.to_string())
    }

    /// The three headers of a call to the Fleet API, for this moment.
    pub(crate) fn headers(&self) -> Result<Headers, CallError> {
        let timestamp = clock::timestamp();
        let signature = self.sign(timestamp.as_bytes())?;
        Ok(vec![
            ("flwr-public-key", STANDARD.encode(&self.public)),
            ("flwr-signature", STANDARD.encode(signature)),
            ("flwr-timestamp", timestamp),
        ])
    }

    /// ECDSA with SHA-256, in DER, on both curves: P-384 would otherwise come with SHA-384.
    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, CallError> {
        let digest = Sha256::digest(bytes);
        let signature = match &self.secret {
            Secret::P256(key) => {
                let signature: Result<p256::ecdsa::Signature, _> = key.sign_prehash(&digest);
                signature.map(|signature| signature.to_der().as_bytes().to_vec())
            }
            Secret::P384(key) => {
                let signature: Result<p384::ecdsa::Signature, _> = key.sign_prehash(&digest);
                signature.map(|signature| signature.to_der().as_bytes().to_vec())
            }
        };
        signature.map_err(|error| CallError::Sign {
            problem: error.to_string(),
        })
    }
}
