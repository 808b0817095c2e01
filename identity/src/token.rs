//! Access tokens: JWTs that say which sign-in a request belongs to, signed with EdDSA.
//!
//! A token is worth what its sign-in is worth now: role and end are looked up, so that a token carries no authority of its own.
//! Two keys verify, one signs: so keys are changed without turning anybody away. The rule: one algorithm, and a key is found
//! by comparing its name, never by looking for it.

use domain::id::{SignInId, TenantId, UserId};
use domain::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::crypto::{CryptoProvider, JwkUtils, JwtSigner, JwtVerifier};
use jsonwebtoken::errors::{Error as JwtError, ErrorKind};
use jsonwebtoken::signature::{Error as SignatureError, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use runtime::config::JwtKeys;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::Duration;

/// For whom the tokens are.
const AUDIENCE: &str = "berth-api";
/// Ours are some 400 bytes; longer ones are not looked at.
const MAX_LENGTH: usize = 2048;
/// How far the clocks of two api processes may be apart, seconds.
const LEEWAY: u64 = 5;

/// Why a key makes no tokens.
#[derive(Debug, thiserror::Error)]
#[error("the key of access tokens cannot be used")]
pub struct TokenError;

/// What a token says.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: UserId,
    tenant: TenantId,
    sid: SignInId,
    iat: i64,
    nbf: i64,
    exp: i64,
}

/// Whom a token is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bearer {
    /// The sign-in.
    pub sign_in: SignInId,
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
}

/// Makes and reads tokens.
pub struct Tokens {
    signing: EncodingKey,
    /// Names and keys; the first is the one that signs.
    verifying: Vec<(String, DecodingKey)>,
    validation: Validation,
    issuer: String,
    life: Duration,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl Tokens {
    /// For the installation named `environment`; tokens are good for `life`.
    ///
    /// # Errors
    /// When a key cannot be used.
    pub fn new(keys: JwtKeys<'_>, environment: &str, life: Duration) -> Result<Self, TokenError> {
        // The same for everybody in the process, so a second one changes nothing.
        let _already = PROVIDER.install_default();
        let issuer = format!("berth:{environment}");
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "nbf", "iss", "aud", "sub"]);
        validation.set_issuer(&[&issuer]);
        validation.set_audience(&[AUDIENCE]);
        let seed = seed_of(keys.present)?;
        let mut verifying = vec![public_of(&seed)?];
        if let Some(previous) = keys.previous {
            verifying.push(public_of(&seed_of(previous)?)?);
        }
        let signing = EncodingKey::from_ed_der(&seed);
        Ok(Self { signing, verifying, validation, issuer, life })
    }

    /// How long a token is good.
    #[must_use]
    pub const fn life(&self) -> Duration {
        self.life
    }

    /// A token that is good from `now` on.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn issue(&self, bearer: Bearer, now: Timestamp) -> Result<String, TokenError> {
        let at = now.timestamp();
        let life = i64::try_from(self.life.as_secs()).map_err(|_| TokenError)?;
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: AUDIENCE.to_owned(),
            sub: bearer.user,
            tenant: bearer.tenant,
            sid: bearer.sign_in,
            iat: at,
            nbf: at,
            exp: at + life,
        };
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = self.verifying.first().map(|(kid, _)| kid.clone());
        jsonwebtoken::encode(&header, &claims, &self.signing).map_err(|_| TokenError)
    }

    /// Whom a token is of, if it is one of ours and of now. Says nothing of why not: nobody honest needs to know.
    #[must_use]
    pub fn read(&self, token: &str) -> Option<Bearer> {
        if token.len() > MAX_LENGTH {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        let kid = header.kid.filter(|_| header.alg == Algorithm::EdDSA && header.crit.is_none())?;
        let (_, key) = self.verifying.iter().find(|(name, _)| *name == kid)?;
        let claims = jsonwebtoken::decode::<Claims>(token, key, &self.validation).ok()?.claims;
        Some(Bearer { sign_in: claims.sid, tenant: claims.tenant, user: claims.sub })
    }
}

/// Whether a text has the form of a token: three parts. A key has none.
#[must_use]
pub fn is_token(text: &str) -> bool {
    text.split('.').count() == 3
}

fn seed_of(secret: &SecretString) -> Result<[u8; 32], TokenError> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes());
    let mac = mac.map_err(|_| TokenError)?.chain_update(b"berth access token v1");
    Ok(mac.finalize().into_bytes().into())
}

/// The public key, and its name: a part of its hash.
fn public_of(seed: &[u8; 32]) -> Result<(String, DecodingKey), TokenError> {
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| TokenError)?;
    let public = pair.public_key().as_ref();
    let hash = Sha256::digest(public);
    let kid = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok((kid, DecodingKey::from_ed_der(public)))
}

/// EdDSA on ring, and nothing else.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| match algorithm {
        Algorithm::EdDSA => Ed25519KeyPair::from_seed_unchecked(key.inner())
            .map(|pair| Box::new(EdSigner(pair)) as Box<dyn JwtSigner>)
            .map_err(|_| JwtError::from(ErrorKind::InvalidEddsaKey)),
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    },
    verifier_factory: |algorithm, key| match algorithm {
        Algorithm::EdDSA => Ok(Box::new(EdVerifier(key.clone()))),
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    },
    jwk_utils: JwkUtils::new_unimplemented(),
};

struct EdSigner(Ed25519KeyPair);

impl Signer<Vec<u8>> for EdSigner {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        Ok(self.0.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for EdSigner {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct EdVerifier(DecodingKey);

impl Verifier<Vec<u8>> for EdVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        UnparsedPublicKey::new(&ED25519, self.0.as_bytes())
            .verify(message, signature)
            .map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for EdVerifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    const FIRST: &str = "f3a9c1e07b5d42688e61d0c4ab927f35";
    const SECOND: &str = "b7d1f0e2a3c4958671625344f5e6d7c8";

    fn tokens(present: &str, previous: Option<&str>) -> Tokens {
        let secret = |text: &str| SecretString::from(text.to_owned());
        let (present, previous) = (secret(present), previous.map(secret));
        let keys = JwtKeys { present: &present, previous: previous.as_ref() };
        Tokens::new(keys, "live", Duration::from_secs(300)).unwrap()
    }

    fn bearer() -> Bearer {
        Bearer { sign_in: SignInId::fresh(), tenant: TenantId::fresh(), user: UserId::fresh() }
    }

    #[test]
    fn a_token_says_whom_it_is_of_until_it_expires() {
        let (tokens, bearer, now) = (tokens(FIRST, None), bearer(), runtime::clock::wall());
        assert_eq!(tokens.read(&tokens.issue(bearer, now).unwrap()), Some(bearer));
        let issued = |ago: i64| tokens.issue(bearer, now - TimeDelta::seconds(ago)).unwrap();
        assert_eq!(tokens.read(&issued(290)), Some(bearer));
        assert_eq!(tokens.read(&issued(310)), None, "expired");
        assert_eq!(tokens.read(&issued(-30)), None, "not yet");
    }

    #[test]
    fn keys_are_changed_without_turning_anybody_away() {
        let (bearer, now) = (bearer(), runtime::clock::wall());
        let old = tokens(FIRST, None).issue(bearer, now).unwrap();
        let both = tokens(SECOND, Some(FIRST));
        let new = both.issue(bearer, now).unwrap();
        assert_eq!((both.read(&old), both.read(&new)), (Some(bearer), Some(bearer)));
        let after = tokens(SECOND, None);
        assert_eq!((after.read(&old), after.read(&new)), (None, Some(bearer)));
    }

    #[test]
    fn a_token_with_any_one_character_changed_is_none() {
        let (tokens, now) = (tokens(FIRST, None), runtime::clock::wall());
        let good = tokens.issue(bearer(), now).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone().into_bytes();
            bad[at] = if bad[at] == b'A' { b'B' } else { b'A' };
            let bad = String::from_utf8(bad).unwrap();
            // The last character of a part may hold bits that stand for nothing; the parser refuses those that are set.
            assert_eq!(tokens.read(&bad), None, "{at}");
        }
        for end in 0..good.len() {
            assert_eq!(tokens.read(&good[..end]), None);
        }
        assert_eq!(tokens.read(&"a".repeat(100_000)), None);
    }

    #[test]
    fn another_installation_believes_nothing() {
        let secret = SecretString::from(FIRST.to_owned());
        let keys = JwtKeys { present: &secret, previous: None };
        let stage = Tokens::new(keys, "stage", Duration::from_secs(300)).unwrap();
        let token = stage.issue(bearer(), runtime::clock::wall()).unwrap();
        assert_eq!(tokens(FIRST, None).read(&token), None);
        assert!(!format!("{stage:?}").contains(FIRST));
    }
}
