//! A user as they are shown, and what holds for what is sent of one.

use crate::call::Call;
use crate::problem::Problem;
use crate::task::Findings;
use api_types::{NewUser, Secret, User, UserState};
use domain::id::UserId;
use secrecy::SecretString;
use store::user::UserInfo;

/// Characters of a password. The longest is no more than what keeps hashing cheap; what they are is not judged.
const PASSWORD: std::ops::RangeInclusive<usize> = 12..=256;

/// The user of a record.
pub(in crate::routes) fn user(info: UserInfo) -> User {
    let state = match info.state {
        store::user::UserState::Invited => UserState::Invited,
        store::user::UserState::Active => UserState::Active,
    };
    User {
        id: info.id,
        email: info.email,
        role: info.role.into(),
        state: state.into(),
        created_at: info.created_at,
    }
}

/// A new user, with the token, where there is one to show.
pub(in crate::routes) fn new_user(info: UserInfo, invite_token: Option<SecretString>) -> NewUser {
    NewUser { info: user(info), invite_token: invite_token.map(Secret::from) }
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
pub(crate) fn check_password(findings: &mut Findings, text: &str) {
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
            check_password(&mut findings, &text);
            assert_eq!(findings.into_result().is_ok(), fits);
        }
    }
}
