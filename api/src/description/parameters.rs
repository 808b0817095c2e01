//! The parameters of an operation: those of its path, its query and its headers, each with its form.

use crate::openapi::Form;
use crate::openapi::Param;
use crate::routes::table::{Access, Endpoint, Verb};
use domain::access::Permission;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};

/// The public part of a key.
const KEY_ID: (&str, Form) = ("Key id, 12 of `a-z2-7`", Form::Pattern("^[a-z2-7]{12}$"));

/// A user.
const LOGIN: (&str, Form) =
    ("`user_` and 32 hex digits, or the e-mail address, percent-encoded", Form::Text);

/// Ids in paths: where, what they are, their form.
const IDS: [(&str, &str, Form); 6] = [
    ("/v1/keys/", KEY_ID.0, KEY_ID.1),
    ("/v1/admin/operator-keys/", KEY_ID.0, KEY_ID.1),
    ("/v1/users/", LOGIN.0, LOGIN.1),
    ("/v1/sessions/", "`signin_` and 32 hex digits", Form::Pattern("^signin_[0-9a-f]{32}$")),
    ("/v1/tasks/", "`task_` and 32 hex digits", Form::Pattern("^task_[0-9a-f]{32}$")),
    ("/v1/admin/tenants/", "`tenant_` and 32 hex digits, or the name, percent-encoded", Form::Text),
];

/// The header of a write that may be sent again.
const IDEMPOTENCY_KEY: Param = Param {
    name: "Idempotency-Key",
    text: "1 to 200 visible ASCII characters, stored for at least 24 hours. The same key and request, byte for byte, get the same \
           response with `Idempotency-Replayed: true`; another request with the key gets 422",
    form: Form::Pattern("^[!-~]{1,200}$"),
};

pub(super) fn of(endpoint: &Endpoint) -> Vec<Parameter> {
    let part = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
    let mut all: Vec<Parameter> = endpoint
        .path
        .split('/')
        .filter_map(part)
        .map(|name| {
            let (text, form) = in_path(endpoint.path, name);
            one(ParameterIn::Path, &Param { name, text, form })
        })
        .collect();
    all.extend(endpoint.doc.query.iter().map(|param| one(ParameterIn::Query, param)));
    all.extend(endpoint.doc.headers.iter().map(|param| one(ParameterIn::Header, param)));
    if takes_idempotency_key(endpoint) {
        all.push(one(ParameterIn::Header, &IDEMPOTENCY_KEY));
    }
    all
}

/// A tenant's write that would otherwise do a second thing when it is repeated; a question that has a body is none.
pub(super) fn takes_idempotency_key(endpoint: &Endpoint) -> bool {
    let writes = matches!(endpoint.access, Access::Tenant(permission, _)
        if !matches!(permission, Permission::ReadTasks | Permission::ReadUsage));
    endpoint.verb == Verb::Post && writes
}

fn in_path(path: &str, name: &str) -> (&'static str, Form) {
    match name {
        "id" => IDS
            .into_iter()
            .find(|(prefix, ..)| path.starts_with(prefix))
            .map_or(("Its kind, `_` and 32 hex digits", Form::Text), |(_, text, form)| {
                (text, form)
            }),
        "key_id" => KEY_ID,
        "number" => (
            "Number, such as `2030-01-0007`; of a draft its month and currency: `2030-01-EUR`",
            Form::Text,
        ),
        "line" => ("Number of the line, from 1", Form::Text),
        "login" => LOGIN,
        "key" => ("The key, percent-encoded: `/` is `%2F`", Form::Pattern("^[^\\u0000]{1,200}$")),
        "name" if path.starts_with("/v1/schedules/") => (
            "Name: 1 to 100 of `a-z A-Z 0-9 _ . -`, starting with a letter or digit, not `preview`",
            Form::Pattern("^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"),
        ),
        _ => ("Its name", Form::Text),
    }
}

fn one(place: ParameterIn, param: &Param) -> Parameter {
    let required = if place == ParameterIn::Path { Required::True } else { Required::False };
    let mut parameter = ParameterBuilder::new()
        .name(param.name)
        .parameter_in(place)
        .required(required)
        .description(Some(param.text))
        .schema(Some(param.form.schema()));
    if matches!(param.form, Form::Many(_)) {
        parameter = parameter.style(Some(ParameterStyle::Form)).explode(Some(true));
    }
    parameter.build()
}
