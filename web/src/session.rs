//! What the browser's cookie holds: the credential, and the secret that forms must show.
//!
//! Read at each request, and written when somebody signs in or out and when an access token is renewed. A cookie that does not
//! open, or is over, is nobody's.

use crate::seal::Sealer;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

const PURPOSE: &str = "session/v1";
/// Over TLS: a cookie with this prefix can be set by this host alone, for all of its paths.
const SECURE_NAME: &str = "__Host-berth";
/// Without TLS, where the prefix is not allowed.
const PLAIN_NAME: &str = "berth";
/// A pasted key is forgotten after this time.
pub(crate) const KEY_LIFE_SECONDS: i64 = 12 * 3600;
/// A sign-in that is not used for so long; the API may end it sooner.
pub(crate) const USER_LIFE_SECONDS: i64 = 30 * 24 * 3600;

/// The length of a form's secret.
const SECRET: usize = 16;

/// Who signed in, and with what.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Holder {
    /// Nobody yet: the sign-in form needs a token, too.
    Nobody,
    /// Somebody with an API key.
    Key { key: String },
    /// An operator.
    Operator { key: String },
    /// A user.
    User { access: String, access_until: i64, refresh: String },
}

impl Holder {
    /// A user who has just got these tokens.
    pub(crate) fn of_user(session: &api_types::Session, now: Timestamp) -> Self {
        let life = i64::try_from(session.expires_in).unwrap_or_default();
        let access = session.access_token.expose().to_owned();
        let refresh = session.refresh_token.expose().to_owned();
        Self::User { access, access_until: now.timestamp() + life, refresh }
    }
}

/// The content of the cookie.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub holder: Holder,
    /// Name of the tenant.
    pub place: String,
    /// E-mail address, or name of the key.
    pub name: String,
    secret: [u8; SECRET],
    /// Seconds of Unix time.
    pub until: i64,
}

impl Session {
    /// A session with a new secret. `None` without random bytes.
    pub(crate) fn new(sealer: &Sealer, holder: Holder, now: Timestamp) -> Option<Self> {
        let life = match holder {
            Holder::User { .. } => USER_LIFE_SECONDS,
            Holder::Nobody | Holder::Key { .. } | Holder::Operator { .. } => KEY_LIFE_SECONDS,
        };
        let (place, name) = (String::new(), String::new());
        let until = now.timestamp() + life;
        Some(Self { holder, place, name, secret: sealer.random()?, until })
    }

    /// A session of nobody. Without random bytes no form of it is good.
    pub(crate) fn of_nobody(sealer: &Sealer, now: Timestamp) -> Self {
        Self::new(sealer, Holder::Nobody, now).unwrap_or_else(|| Self {
            holder: Holder::Nobody,
            place: String::new(),
            name: String::new(),
            secret: [0; SECRET],
            until: 0,
        })
    }

    /// The session of a request's cookies; `None` where they hold none that is good.
    pub(crate) fn read(
        sealer: &Sealer,
        cookies: &str,
        secure: bool,
        now: Timestamp,
    ) -> Option<Self> {
        let text = cookie(cookies, cookie_name(secure))?;
        let session: Self = serde_json::from_slice(&sealer.open(PURPOSE, text)?).ok()?;
        (session.until > now.timestamp()).then_some(session)
    }

    /// The header that has the browser keep it.
    pub(crate) fn cookie(&self, sealer: &Sealer, secure: bool, now: Timestamp) -> Option<String> {
        let text = sealer.seal(PURPOSE, &serde_json::to_vec(self).ok()?)?;
        Some(set_cookie(secure, &text, self.until - now.timestamp()))
    }

    /// A token for one form: the secret under a mask of its own, so that compressed pages tell nothing of it.
    pub(crate) fn form_token(&self, sealer: &Sealer) -> String {
        let mask = sealer.random::<SECRET>().unwrap_or_default();
        let mut bytes = [0; 2 * SECRET];
        let (first, second) = bytes.split_at_mut(SECRET);
        first.copy_from_slice(&mask);
        for ((to, secret), mask) in second.iter_mut().zip(self.secret).zip(mask) {
            *to = secret ^ mask;
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Whether a form came from a page of this session.
    pub(crate) fn is_own_form(&self, token: &str) -> bool {
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(token) else { return false };
        let Some((mask, masked)) = bytes.split_first_chunk::<SECRET>() else { return false };
        let Ok(masked) = <[u8; SECRET]>::try_from(masked) else { return false };
        // All bytes are compared, whatever the first ones are.
        let all = masked.iter().zip(mask).zip(self.secret);
        all.fold(0, |differs, ((byte, mask), secret)| differs | (byte ^ mask ^ secret)) == 0
    }

    /// What is sent as `Authorization: Bearer`.
    pub(crate) fn credential(&self) -> Option<&str> {
        match &self.holder {
            Holder::Nobody => None,
            Holder::Key { key } | Holder::Operator { key } => Some(key),
            Holder::User { access, .. } => Some(access),
        }
    }
}

const fn cookie_name(secure: bool) -> &'static str {
    if secure { SECURE_NAME } else { PLAIN_NAME }
}

/// `Lax` and not `Strict`: a link in a chat or a mail must open the page that it names. Nothing is changed by following a link: each
/// form has its token, and where it was sent from is checked.
fn set_cookie(secure: bool, text: &str, seconds: i64) -> String {
    let name = cookie_name(secure);
    let secure = if secure { "; Secure" } else { "" };
    format!("{name}={text}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// The header that has the browser forget it.
pub(crate) fn forget(secure: bool) -> String {
    set_cookie(secure, "", 0)
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(cookies: &'a str, name: &str) -> Option<&'a str> {
    let all = cookies.split(';').filter_map(|one| one.trim().split_once('='));
    all.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn a_cookie_reads_back_until_its_time_and_under_its_own_name_only() {
        let sealer = Sealer::new(&[1; 32]).unwrap();
        let key = "berth_live_x".to_owned();
        let session = Session::new(&sealer, Holder::Key { key }, at(1000)).unwrap();
        let set = session.cookie(&sealer, true, at(1000)).unwrap();
        assert!(set.starts_with("__Host-berth=") && set.contains("; Path=/; "), "{set}");
        for attribute in ["HttpOnly", "SameSite=Lax", "Secure", "Max-Age=43200"] {
            assert!(set.contains(attribute), "{set}");
        }
        let sent = format!("a=b; {}", set.split(';').next().unwrap());
        let read = |secure, seconds| Session::read(&sealer, &sent, secure, at(seconds));
        assert_eq!(read(true, 1001).unwrap().credential(), Some("berth_live_x"));
        assert!(read(false, 1001).is_none(), "a plain cookie has another name");
        assert!(read(true, 1000 + KEY_LIFE_SECONDS).is_none());
        let plain = session.cookie(&sealer, false, at(1000)).unwrap();
        assert!(plain.starts_with("berth=") && !plain.contains("Secure"), "{plain}");
    }

    #[test]
    fn a_form_token_is_good_for_its_session_only_and_never_the_same_twice() {
        let sealer = Sealer::new(&[1; 32]).unwrap();
        let new = || Session::new(&sealer, Holder::Nobody, at(0)).unwrap();
        let (session, other) = (new(), new());
        let token = session.form_token(&sealer);
        assert!(session.is_own_form(&token) && !other.is_own_form(&token));
        assert_ne!(session.form_token(&sealer), token);
        for wrong in ["", "AAAA", &token[1..], &format!("{token}AA")] {
            assert!(!session.is_own_form(wrong), "{wrong}");
        }
    }
}
