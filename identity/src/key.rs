//! The form of a key: `berth_<env>_<id>_<secret><crc>`, an operator's with `berthop_`. Used by requests and by the CLI that
//! makes keys.
//!
//! The checksum lets a mistyped key, and a leak scanner's find, be judged without a look-up. It keeps nobody
//! out: that is the secret's part. Only a keyed hash of the whole key is stored, so that a copy of the
//! database opens nothing.

use crate::base62::{encode, is_base62};
use domain::id::PublicKeyId;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use std::fmt;

const ID_LEN: usize = 12;
const SECRET_LEN: usize = 43;
const CRC_LEN: usize = 6;
/// Everything after the environment: `_<id>_<secret><crc>`.
const TAIL_LEN: usize = 1 + ID_LEN + 1 + SECRET_LEN + CRC_LEN;
/// Base 32 of RFC 4648, lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Whose key it is, which its first letters say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// A tenant's.
    Tenant,
    /// The platform's operators'.
    Operator,
}

impl KeyKind {
    const ALL: [Self; 2] = [Self::Tenant, Self::Operator];

    const fn prefix(self) -> &'static str {
        match self {
            Self::Tenant => "berth_",
            Self::Operator => "berthop_",
        }
    }
}

/// Why a text is no key of this installation, or none could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not of the form, or shortened.
    #[error("is not of the form berth_<environment>_<id>_<secret>")]
    Form,
    /// Of the form, but the checksum is of another text.
    #[error("is mistyped or incomplete: wrong checksum")]
    Checksum,
    /// Made for another installation.
    #[error("belongs to another environment")]
    Environment,
    /// The system gave no random bytes.
    #[error("cannot be created: no random bytes from the system")]
    Random,
    /// The hash secret cannot be used.
    #[error("cannot be hashed: the hash secret is empty")]
    Secret,
}

/// A well-formed key as presented, not yet checked against what is stored. Not shown in `Debug`.
#[derive(Clone, Copy)]
pub struct PresentedKey<'a> {
    text: &'a str,
    kind: KeyKind,
    id: KeyId,
}

/// The public part of a key: 12 of `a-z2-7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId([u8; ID_LEN]);

impl KeyId {
    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// As the audit names it.
    #[must_use]
    pub const fn public(self) -> PublicKeyId {
        PublicKeyId(self.0)
    }

    #[cfg(test)]
    pub(crate) fn for_test(bytes: &[u8]) -> Self {
        Self(bytes.try_into().unwrap())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for PresentedKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PresentedKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<'a> PresentedKey<'a> {
    /// Reads a key of the installation named `environment`.
    ///
    /// # Errors
    /// When it is not of the form, its checksum is wrong, or it is of another environment.
    pub fn parse(text: &'a str, environment: &str) -> Result<Self, KeyError> {
        let of_kind = |kind: KeyKind| Some((kind, text.strip_prefix(kind.prefix())?));
        let (kind, rest) = KeyKind::ALL
            .into_iter()
            .find_map(of_kind)
            .filter(|(_, rest)| rest.is_ascii())
            .ok_or(KeyError::Form)?;
        let env_len = rest
            .len()
            .checked_sub(TAIL_LEN)
            .filter(|n| (1..=8).contains(n))
            .ok_or(KeyError::Form)?;
        let (env, tail) = rest.split_at(env_len);
        let (id, secret) = tail[1..].split_at(ID_LEN);
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = tail.starts_with('_')
            && secret.starts_with('_')
            && env.bytes().all(plain)
            && id.bytes().all(|b| BASE32.contains(&b))
            && is_base62(&secret[1..]);
        if !fits {
            return Err(KeyError::Form);
        }
        let (body, crc) = text.split_at(text.len() - CRC_LEN);
        if checksum(body) != crc {
            return Err(KeyError::Checksum);
        }
        if env != environment {
            return Err(KeyError::Environment);
        }
        let id = KeyId(id.as_bytes().try_into().map_err(|_| KeyError::Form)?);
        Ok(Self { text, kind, id })
    }

    /// Whose it is.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }
}

/// A new key. The text exists here and nowhere else: show it once, store the hash.
#[derive(Debug)]
pub struct GeneratedKey {
    /// Its id.
    pub id: String,
    /// The whole key.
    pub text: SecretString,
    /// What to store.
    pub hash: [u8; 32],
}

/// Makes a tenant's key for the installation named `environment` (1 to 8 of `a-z0-9`).
///
/// # Errors
/// When the system gives no random bytes, `environment` is not a name, or the secret is empty.
pub fn generate(environment: &str, hash_secret: &SecretString) -> Result<GeneratedKey, KeyError> {
    KeyHasher::new(hash_secret)?.generate(KeyKind::Tenant, environment)
}

/// The same for an operator.
///
/// # Errors
/// As [`generate`].
pub fn generate_operator(
    environment: &str,
    hash_secret: &SecretString,
) -> Result<GeneratedKey, KeyError> {
    KeyHasher::new(hash_secret)?.generate(KeyKind::Operator, environment)
}

fn make(kind: KeyKind, environment: &str, hasher: &KeyHasher) -> Result<GeneratedKey, KeyError> {
    let (mut id, mut secret) = ([0u8; ID_LEN], [0u8; 32]);
    getrandom::fill(&mut id).map_err(|_| KeyError::Random)?;
    getrandom::fill(&mut secret).map_err(|_| KeyError::Random)?;
    // 256 is a multiple of 32, so each of the 32 letters is as likely as any other.
    let id: String = id.iter().map(|b| char::from(BASE32[usize::from(b % 32)])).collect();
    let prefix = kind.prefix();
    let body = format!("{prefix}{environment}_{id}_{}", encode(&secret, SECRET_LEN));
    let text = format!("{body}{}", checksum(&body));
    let presented = PresentedKey::parse(&text, environment)?;
    let hash = hasher.hash(&presented);
    Ok(GeneratedKey { id, hash, text: SecretString::from(text) })
}

fn checksum(body: &str) -> String {
    encode(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CRC_LEN)
}

/// Hashes keys under the installation's secret, and derives further keys from it.
#[derive(Clone)]
pub struct KeyHasher(Hmac<Sha256>);

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHasher(..)")
    }
}

impl KeyHasher {
    /// Prepares the secret once, so that a request pays for hashing its key only.
    ///
    /// # Errors
    /// When the secret is empty.
    pub fn new(secret: &SecretString) -> Result<Self, KeyError> {
        let bytes = secret.expose_secret().as_bytes();
        if bytes.is_empty() {
            return Err(KeyError::Secret);
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|_| KeyError::Secret)
    }

    /// What is stored of a key: HMAC-SHA256 of its whole text.
    #[must_use]
    pub fn hash(&self, key: &PresentedKey<'_>) -> [u8; 32] {
        self.0.clone().chain_update(key.text).finalize().into_bytes().into()
    }

    /// Makes a key for the installation named `environment`.
    ///
    /// # Errors
    /// When the system gives no random bytes, or `environment` is not a name.
    pub fn generate(&self, kind: KeyKind, environment: &str) -> Result<GeneratedKey, KeyError> {
        make(kind, environment, self)
    }

    /// A keyed hash for another purpose, under a key of its own. `label` must not begin like an API key.
    #[must_use]
    pub fn derived_mac(&self, label: &[u8]) -> Hmac<Sha256> {
        let key: [u8; 32] = self.0.clone().chain_update(label).finalize().into_bytes().into();
        let mut block = hmac::digest::block_api::Block::<Hmac<Sha256>>::default();
        block[..32].copy_from_slice(&key);
        Hmac::new(&block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> SecretString {
        SecretString::from("0123456789abcdef0123456789ABCDEF".to_owned())
    }

    fn fresh() -> String {
        generate("live", &secret()).unwrap().text.expose_secret().to_owned()
    }

    #[test]
    fn a_generated_key_is_of_the_form_and_hashes_to_what_is_stored() {
        let key = generate("test1", &secret()).unwrap();
        let text = key.text.expose_secret();
        assert_eq!(text.len(), "berth_test1_".len() + 12 + 1 + 43 + 6);
        let presented = PresentedKey::parse(text, "test1").unwrap();
        assert_eq!(presented.id().as_str(), key.id);
        assert_eq!(KeyHasher::new(&secret()).unwrap().hash(&presented), key.hash);
    }

    #[test]
    fn a_key_with_any_one_character_changed_is_refused() {
        let good = fresh();
        for at in 0..good.len() {
            let mut bad = good.clone().into_bytes();
            bad[at] = if bad[at] == b'a' { b'b' } else { b'a' };
            let bad = String::from_utf8(bad).unwrap();
            assert!(PresentedKey::parse(&bad, "live").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_truncated_or_extended_key_is_refused() {
        let good = fresh();
        for end in 0..good.len() {
            assert!(PresentedKey::parse(&good[..end], "live").is_err());
        }
        for bad in [format!("{good}a"), format!(" {good}"), format!("{good}\n"), format!("{good}é")]
        {
            assert!(PresentedKey::parse(&bad, "live").is_err());
        }
    }

    #[test]
    fn a_wrong_checksum_and_a_wrong_environment_are_told_apart() {
        let good = fresh();
        let body = &good[..good.len() - 6];
        let wrong = if good.ends_with("000000") { "000001" } else { "000000" };
        assert_eq!(
            PresentedKey::parse(&format!("{body}{wrong}"), "live").unwrap_err(),
            KeyError::Checksum
        );
        assert_eq!(PresentedKey::parse(&good, "stage").unwrap_err(), KeyError::Environment);
    }

    #[test]
    fn keys_differ_and_do_not_show_in_debug() {
        let (a, b) = (generate("live", &secret()).unwrap(), generate("live", &secret()).unwrap());
        assert_ne!(a.id, b.id);
        assert_ne!(a.hash, b.hash);
        assert!(!format!("{a:?}").contains(a.text.expose_secret()));
        let presented = PresentedKey::parse(a.text.expose_secret(), "live").unwrap();
        assert!(!format!("{presented:?}").contains(a.text.expose_secret()));
    }

    #[test]
    fn an_operators_key_is_told_from_a_tenants_by_its_first_letters() {
        let operator = generate_operator("live", &secret()).unwrap();
        let text = operator.text.expose_secret();
        assert!(text.starts_with("berthop_live_"));
        assert_eq!(PresentedKey::parse(text, "live").unwrap().kind(), KeyKind::Operator);
        assert_eq!(PresentedKey::parse(&fresh(), "live").unwrap().kind(), KeyKind::Tenant);
        let renamed = text.replacen("berthop_", "berth_", 1);
        assert_eq!(PresentedKey::parse(&renamed, "live").unwrap_err(), KeyError::Checksum);
    }

    #[test]
    fn an_environment_that_is_no_name_makes_no_key() {
        for bad in ["", "Live", "a_b", "ninechars"] {
            assert!(generate(bad, &secret()).is_err(), "{bad}");
        }
    }
}
