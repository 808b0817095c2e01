//! What an e-mail address and a password must be, wherever they are given.

use secrecy::{ExposeSecret, SecretString};

/// Characters of a password. The longest is no more than what keeps hashing cheap; what they are is not judged.
const PASSWORD: std::ops::RangeInclusive<usize> = 12..=256;

/// What a text must be instead.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(&'static str);

/// The address in lower case, as it is stored.
///
/// # Errors
/// When it has not two parts of visible ASCII around one `@`, or more than 254 bytes.
pub fn email(text: &str) -> Result<String, Unfit> {
    let email = text.trim().to_lowercase();
    let parts = email.split_once('@');
    let fits = email.len() <= 254
        && parts.is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@')
        })
        && email.bytes().all(|b| b.is_ascii_graphic());
    if fits { Ok(email) } else { Err(Unfit("must be an address such as ann@example.com")) }
}

/// A password that may be set.
///
/// # Errors
/// When it is too short or too long.
pub fn password(password: &SecretString) -> Result<(), Unfit> {
    let length = password.expose_secret().chars().take(PASSWORD.end() + 1).count();
    if PASSWORD.contains(&length) { Ok(()) } else { Err(Unfit("must have 12 to 256 characters")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_in_lower_case_and_has_two_parts() {
        for (text, wanted) in [
            (" Ann@Example.COM ", Some("ann@example.com")),
            ("a+b@c", Some("a+b@c")),
            ("ann", None),
            ("@c", None),
            ("a@", None),
            ("a@b@c", None),
            ("a b@c", None),
            ("a\u{0}@c", None),
            ("\u{e4}@c", None),
        ] {
            assert_eq!(email(text).ok().as_deref(), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_password_has_12_to_256_characters_whatever_they_are() {
        for (text, fits) in [
            ("x".repeat(11), false),
            ("x".repeat(12), true),
            ("é".repeat(256), true),
            ("x".repeat(257), false),
        ] {
            assert_eq!(password(&SecretString::from(text)).is_ok(), fits);
        }
    }
}
