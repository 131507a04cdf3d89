//! Keys in files: OpenSSH's format, PEM, and keys that are made when there is none.

use std::path::Path;

use fedround_store::write_secret;
use p256::pkcs8::DecodePrivateKey;
use ssh_key::private::{EcdsaKeypair, KeypairData};

use super::error::KeyError;
use super::key::NodeKey;

impl NodeKey {
    /// Reads a private key on P-256 or P-384: a file of `ssh-keygen -t ecdsa`, or PEM (PKCS #8 or
    /// SEC1). Flower's `flwr supernode register` reads the public half of either.
    ///
    /// # Errors
    ///
    /// [`KeyError::File`], or [`KeyError::Format`] for another kind of key, or one with a
    /// passphrase.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let text = std::fs::read_to_string(path).map_err(|source| KeyError::File {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|problem| KeyError::Format {
            path: path.to_owned(),
            problem,
        })
    }

    /// Reads the key of a file, or makes a key on P-256 and writes it there in PEM, for its owner
    /// alone.
    ///
    /// # Errors
    ///
    /// [`KeyError`]. Two processes must not make the same key at the same time.
    pub fn read_or_generate(path: &Path) -> Result<Self, KeyError> {
        if path.exists() {
            return Self::read(path);
        }
        let key = Self::generate()?;
        write_secret(path, &[key.private_pem()?.as_bytes()])?;
        Ok(key)
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.contains("BEGIN OPENSSH PRIVATE KEY") {
            return openssh(text);
        }
        let p256 = p256::SecretKey::from_pkcs8_pem(text);
        if let Ok(key) = p256.or_else(|_| p256::SecretKey::from_sec1_pem(text)) {
            return Self::p256(&key).map_err(|error| error.to_string());
        }
        let p384 = p384::SecretKey::from_pkcs8_pem(text);
        match p384.or_else(|_| p384::SecretKey::from_sec1_pem(text)) {
            Ok(key) => Self::p384(&key).map_err(|error| error.to_string()),
            Err(_) => Err("no such key in PEM".to_owned()),
        }
    }
}

fn openssh(text: &str) -> Result<NodeKey, String> {
    let key = ssh_key::PrivateKey::from_openssh(text).map_err(|error| error.to_string())?;
    if key.is_encrypted() {
        return Err("it is protected by a passphrase".to_owned());
    }
    let KeypairData::Ecdsa(pair) = key.key_data() else {
        return Err(format!("it is a key of {}", key.algorithm()));
    };
    let key = match pair {
        EcdsaKeypair::NistP256 { private, .. } => {
            let key = p256::SecretKey::from_slice(private.as_slice());
            NodeKey::p256(&key.map_err(|error| error.to_string())?)
        }
        EcdsaKeypair::NistP384 { private, .. } => {
            let key = p384::SecretKey::from_slice(private.as_slice());
            NodeKey::p384(&key.map_err(|error| error.to_string())?)
        }
        EcdsaKeypair::NistP521 { .. } => return Err("it is a key on P-521".to_owned()),
    };
    key.map_err(|error| error.to_string())
}
