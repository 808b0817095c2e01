//! A user as they are shown, and what holds for what is sent of one.

use crate::call::Call;
use crate::problem::Problem;
use crate::task::Findings;
use domain::access::Role;
use domain::id::UserId;
use domain::time::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use store::user::UserInfo;
use utoipa::ToSchema;

/// Characters of a password. The longest is no more than what keeps hashing cheap; what they are is not judged.
const PASSWORD: std::ops::RangeInclusive<usize> = 12..=256;

/// A user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserView<'a> {
    /// The user's id.
    #[schema(value_type = String)]
    id: UserId,
    /// Lower case; unique in the tenant.
    email: &'a str,
    /// Role of the user.
    #[schema(value_type = super::super::super::openapi::words::Role)]
    role: Role,
    /// `invited` until a password is set, then `active`.
    state: &'static str,
    /// When the user was invited or created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl<'a> From<&'a UserInfo> for UserView<'a> {
    fn from(user: &'a UserInfo) -> Self {
        Self {
            id: user.id,
            email: &user.email,
            role: user.role,
            state: user.state.as_str(),
            created_at: user.created_at,
        }
    }
}

/// The user named in the path.
///
/// # Errors
/// `not_found` for what cannot be a user's id.
pub(super) fn id_in_path(call: &Call) -> Result<UserId, Problem> {
    let text = call.request.match_info().get("id").unwrap_or_default();
    text.parse().map_err(|_| no_such_user())
}

/// "Not found", in the same words for a foreign, an unknown, a removed and a malformed one.
pub(super) fn no_such_user() -> Problem {
    Problem::no_such("user")
}

/// The field `password`.
pub(crate) fn check_password(findings: &mut Findings, password: &SecretString) {
    let text = password.expose_secret();
    let length = text.chars().take(PASSWORD.end() + 1).count();
    if !PASSWORD.contains(&length) {
        let (least, most) = (PASSWORD.start(), PASSWORD.end());
        findings.wrong("/password", format!("must have {least} to {most} characters"));
    }
}

/// The field `email`, in lower case.
pub(crate) fn check_email(findings: &mut Findings, email: &str) -> String {
    let email = email.trim().to_lowercase();
    let parts = email.split_once('@');
    let fits = email.len() <= 254
        && parts.is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@')
        })
        && email.bytes().all(|b| b.is_ascii_graphic());
    if !fits {
        findings.wrong("/email", "must be an address such as ann@example.com");
    }
    email
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
            let mut findings = Findings::new(String::new());
            let email = check_email(&mut findings, text);
            assert_eq!(findings.into_result().ok().map(|()| email.as_str()), wanted, "{text:?}");
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
            let mut findings = Findings::new(String::new());
            check_password(&mut findings, &SecretString::from(text));
            assert_eq!(findings.into_result().is_ok(), fits);
        }
    }
}
