//! With which credentials a route may be called.

use crate::routes::table::Access;
use domain::access::{Permission, PermissionSet, Role, Scope};
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};

const API_KEY: &str = "api_key";
const ACCESS_TOKEN: &str = "access_token";
const OPERATOR_KEY: &str = "operator_key";

/// The schemes that operations name.
pub(super) fn schemes(components: ComponentsBuilder) -> ComponentsBuilder {
    let bearer = |format: &str, text: &str| {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format(format);
        SecurityScheme::Http(scheme.description(Some(text)).build())
    };
    let key = bearer(
        "berth_<environment>_<id>_<secret>",
        "An API key. Each operation names the permission it needs; scopes give permissions.",
    );
    let token = bearer(
        "JWT",
        "The `access_token` of a signed-in user (`POST /v1/sessions`). The role gives permissions.",
    );
    let operator = bearer(
        "berthop_<environment>_<id>_<secret>",
        "An operator key. Keys of tenants are refused.",
    );
    components
        .security_scheme(API_KEY, key)
        .security_scheme(ACCESS_TOKEN, token)
        .security_scheme(OPERATOR_KEY, operator)
}

/// Any one of these; none at all where anybody may call it.
pub(super) fn of(access: Access) -> Vec<SecurityRequirement> {
    let schemes = match access {
        Access::Open(_) | Access::SignIn(_) => Vec::new(),
        Access::Tenant(permission, _) => of_tenants(permission),
        Access::Operator(..) => vec![OPERATOR_KEY],
    };
    let alone = |scheme| SecurityRequirement::new(scheme, Vec::<String>::new());
    schemes.into_iter().map(alone).collect()
}

fn of_tenants(permission: Permission) -> Vec<&'static str> {
    let everybody = PermissionSet::OF_EVERYBODY.contains(permission);
    let keys = Scope::ALL.into_iter().any(|scope| scope.permissions().contains(permission));
    let users = PermissionSet::OF_EVERY_USER.contains(permission)
        || Role::ALL.into_iter().any(|role| role.permissions().contains(permission));
    let of = |scheme, may: bool| may.then_some(scheme);
    [of(API_KEY, keys || everybody), of(ACCESS_TOKEN, users || everybody)]
        .into_iter()
        .flatten()
        .collect()
}

/// The same in words.
pub(super) fn words(access: Access) -> String {
    match access {
        Access::Open(_) => "Needs no credential.".to_owned(),
        Access::SignIn(_) => "Needs no credential except those in the body.".to_owned(),
        Access::Tenant(permission, _) => format!("Needs the permission `{permission}`."),
        Access::Operator(scope, _) => {
            format!("Needs an operator key with the scope `{scope}`.")
        }
    }
}
