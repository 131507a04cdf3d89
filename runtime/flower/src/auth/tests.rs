use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use p256::pkcs8::DecodePublicKey;
use sha2::{Digest, Sha256};

use super::{KeyError, NodeKey};

fn golden(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/keys");
    folder.join(name)
}

/// The key, the timestamp and the signature that the SuperLink would see.
fn headers(key: &NodeKey) -> (String, String, Vec<u8>) {
    let headers = key.headers().unwrap();
    let value = |name| &headers.iter().find(|header| header.0 == name).unwrap().1;
    let public = STANDARD.decode(value("flwr-public-key")).unwrap();
    let signature = STANDARD.decode(value("flwr-signature")).unwrap();
    let time = value("flwr-timestamp").clone();
    (String::from_utf8(public).unwrap(), time, signature)
}

#[test]
fn keys_of_ssh_keygen_and_openssl_are_read() {
    for (name, public) in [
        ("ssh-p256", "ssh-p256"),
        ("ssh-p384", "ssh-p384"),
        ("sec1-p256.pem", "sec1-p256"),
        ("sec1-p384.pem", "sec1-p384"),
        ("pkcs8-p256.pem", "sec1-p256"),
        ("pkcs8-p384.pem", "sec1-p384"),
    ] {
        let key = NodeKey::read(&golden(name)).unwrap();
        let public = std::fs::read_to_string(golden(&format!("{public}.public.pem"))).unwrap();
        assert_eq!(key.public_pem(), public, "{name}");
    }
}

#[test]
fn keys_of_other_kinds_are_refused_with_the_reason() {
    for (name, reason) in [
        ("ssh-p256-passphrase", "passphrase"),
        ("ssh-ed25519", "ssh-ed25519"),
        ("ssh-p521", "P-521"),
        ("ssh-p256.public.pem", "no such key in PEM"),
    ] {
        let error = NodeKey::read(&golden(name)).unwrap_err();
        assert!(matches!(error, KeyError::Format { .. }), "{error}");
        let text = error.to_string();

        assert!(text.contains(reason), "{text}");
    }
    let error = NodeKey::read(&golden("nothing")).unwrap_err();
    assert!(matches!(error, KeyError::File { .. }), "{error}");
}

/// Flower verifies with SHA-256 on both curves.
#[test]
fn timestamps_are_signed_with_sha_256() {
    let (public, time, signature) = headers(&NodeKey::read(&golden("ssh-p256")).unwrap());
    let key = p256::ecdsa::VerifyingKey::from_public_key_pem(&public).unwrap();
    let signature = p256::ecdsa::Signature::from_der(&signature).unwrap();
    key.verify_prehash(&Sha256::digest(&time), &signature)
        .unwrap();

    let (public, time, signature) = headers(&NodeKey::read(&golden("ssh-p384")).unwrap());
    let key = p384::ecdsa::VerifyingKey::from_public_key_pem(&public).unwrap();
    let signature = p384::ecdsa::Signature::from_der(&signature).unwrap();
    key.verify_prehash(&Sha256::digest(&time), &signature)
        .unwrap();
}

#[test]
fn a_key_is_made_once_and_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key.pem");
    let made = NodeKey::read_or_generate(&path).unwrap();
    let read = NodeKey::read_or_generate(&path).unwrap();
    assert_eq!(made.public_pem(), read.public_pem());
    assert_ne!(NodeKey::generate().unwrap().public_pem(), made.public_pem());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // What is printed of a key is its public half.
    let secret = std::fs::read_to_string(&path).unwrap();
    let line = secret.lines().nth(1).unwrap();
    assert!(!format!("{made:?}").contains(line));
}
