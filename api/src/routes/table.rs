//! The one table of routes: method, path, who may call it, what body it takes, who answers.
//!
//! The server mounts it, the OpenAPI document is built from it, and tests walk it, so that the three
//! cannot differ. A route that is not here is a 404; a tenant's route cannot be without a permission.

use super::{
    admin, audit, docs, health, keys, limits, metrics, openapi, sessions, task, usage, users,
};
use crate::auth::{OperatorScope, Permission};
use crate::openapi::Doc;
use crate::problem::Problem;
use crate::request::{BodyRule, Call, OpenCall, OperatorCall, SignInCall};
use actix_web::HttpResponse;
use futures::future::LocalBoxFuture;
use tracing::Span;
use tracing::field::Empty;

/// What a handler gives back.
pub type Reply = LocalBoxFuture<'static, Result<HttpResponse, Problem>>;

/// HTTP methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Reads.
    Get,
    /// Writes, with an `Idempotency-Key` where it is a tenant's.
    Post,
    /// Stores under a name; repeating it changes nothing.
    Put,
    /// Changes parts.
    Patch,
    /// Ends a thing.
    Delete,
}

impl Verb {
    /// Its name in HTTP.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Who may call a route, and who answers. A tenant's handler takes a [`Call`] and an operators' one an [`OperatorCall`],
/// which only authentication makes.
#[derive(Clone, Copy)]
pub enum Access {
    /// Anybody.
    Open(fn(OpenCall) -> Reply),
    /// Anybody: what is in the body decides.
    SignIn(fn(SignInCall) -> Reply),
    /// Who may do this in a tenant.
    Tenant(Permission, fn(Call) -> Reply),
    /// An operator's key with this scope.
    Operator(OperatorScope, fn(OperatorCall) -> Reply),
}

/// One route.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// HTTP method.
    pub verb: Verb,
    /// Path, with `{id}` for a part that varies.
    pub path: &'static str,
    /// Operation id, and name of its span.
    pub name: &'static str,
    /// Who, and with what.
    pub access: Access,
    /// The body it takes.
    pub body: BodyRule,
    /// Its span; names of spans are fixed when compiled.
    pub span: fn() -> Span,
    /// What the OpenAPI document says of it.
    pub doc: &'static Doc,
}

impl Endpoint {
    /// Whether its requests count against their peer's rate: all but probes and documents, which cost next to nothing.
    #[must_use]
    pub fn counts_peers(&self) -> bool {
        self.path.starts_with("/v1/")
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.verb.as_str(), self.path, self.name)
    }
}

macro_rules! span {
    ($name:literal) => {
        || tracing::info_span!($name, request.id = Empty, trace.id = Empty, tenant.id = Empty)
    };
}

/// Every route.
pub static TABLE: [Endpoint; 44] = [
    Endpoint {
        verb: Verb::Post,
        path: "/v1/tasks",
        name: "task.submit",
        access: Access::Tenant(Permission::SubmitTasks, |call| {
            Box::pin(task::submit::handle(call))
        }),
        body: BodyRule::Task,
        span: span!("task.submit"),
        doc: &task::submit::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/tasks",
        name: "task.list",
        access: Access::Tenant(Permission::ReadTasks, |call| Box::pin(task::list::handle(call))),
        body: BodyRule::None,
        span: span!("task.list"),
        doc: &task::list::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/tasks/batch",
        name: "task.submit_batch",
        access: Access::Tenant(Permission::SubmitTasks, |call| {
            Box::pin(task::submit_batch::handle(call))
        }),
        body: BodyRule::Batch,
        span: span!("task.submit_batch"),
        doc: &task::submit_batch::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/tasks/{id}",
        name: "task.get",
        access: Access::Tenant(Permission::ReadTasks, |call| Box::pin(task::get::handle(call))),
        body: BodyRule::None,
        span: span!("task.get"),
        doc: &task::get::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/tasks/{id}/cancel",
        name: "task.cancel",
        access: Access::Tenant(Permission::SubmitTasks, |call| {
            Box::pin(task::cancel::handle(call))
        }),
        body: BodyRule::Empty,
        span: span!("task.cancel"),
        doc: &task::cancel::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/tasks/{id}/attempts",
        name: "task.attempts",
        access: Access::Tenant(Permission::ReadTasks, |call| {
            Box::pin(task::attempts::handle(call))
        }),
        body: BodyRule::None,
        span: span!("task.attempts"),
        doc: &task::attempts::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/tasks/{id}/logs",
        name: "task.logs",
        access: Access::Tenant(Permission::ReadTasks, |call| Box::pin(task::logs::handle(call))),
        body: BodyRule::None,
        span: span!("task.logs"),
        doc: &task::logs::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/usage",
        name: "usage.read",
        access: Access::Tenant(Permission::ReadUsage, |call| Box::pin(usage::handle(call))),
        body: BodyRule::None,
        span: span!("usage.read"),
        doc: &usage::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/limits",
        name: "limits.read",
        access: Access::Tenant(Permission::ReadUsage, |call| Box::pin(limits::handle(call))),
        body: BodyRule::None,
        span: span!("limits.read"),
        doc: &limits::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/keys",
        name: "key.list",
        access: Access::Tenant(Permission::OwnKeys, |call| Box::pin(keys::list::handle(call))),
        body: BodyRule::None,
        span: span!("key.list"),
        doc: &keys::list::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/keys",
        name: "key.create",
        access: Access::Tenant(Permission::OwnKeys, |call| Box::pin(keys::create::handle(call))),
        body: BodyRule::Small,
        span: span!("key.create"),
        doc: &keys::create::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/keys/{id}/rotate",
        name: "key.rotate",
        access: Access::Tenant(Permission::OwnKeys, |call| Box::pin(keys::rotate::handle(call))),
        body: BodyRule::Empty,
        span: span!("key.rotate"),
        doc: &keys::rotate::DOC,
    },
    Endpoint {
        verb: Verb::Delete,
        path: "/v1/keys/{id}",
        name: "key.revoke",
        access: Access::Tenant(Permission::OwnKeys, |call| Box::pin(keys::revoke::handle(call))),
        body: BodyRule::Empty,
        span: span!("key.revoke"),
        doc: &keys::revoke::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/users",
        name: "user.list",
        access: Access::Tenant(Permission::ReadUsers, |call| Box::pin(users::list::handle(call))),
        body: BodyRule::None,
        span: span!("user.list"),
        doc: &users::list::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/users",
        name: "user.create",
        access: Access::Tenant(Permission::ManageUsers, |call| {
            Box::pin(users::create::handle(call))
        }),
        body: BodyRule::Small,
        span: span!("user.create"),
        doc: &users::create::DOC,
    },
    Endpoint {
        verb: Verb::Patch,
        path: "/v1/users/{id}",
        name: "user.change",
        access: Access::Tenant(Permission::ManageUsers, |call| Box::pin(users::change::role(call))),
        body: BodyRule::Small,
        span: span!("user.change"),
        doc: &users::change::ROLE_DOC,
    },
    Endpoint {
        verb: Verb::Delete,
        path: "/v1/users/{id}",
        name: "user.remove",
        access: Access::Tenant(Permission::ManageUsers, |call| {
            Box::pin(users::change::remove(call))
        }),
        body: BodyRule::Empty,
        span: span!("user.remove"),
        doc: &users::change::REMOVE_DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/sessions",
        name: "session.sign_in",
        access: Access::SignIn(|call| Box::pin(sessions::sign_in::handle(call))),
        body: BodyRule::Small,
        span: span!("session.sign_in"),
        doc: &sessions::sign_in::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/sessions/refresh",
        name: "session.refresh",
        access: Access::SignIn(|call| Box::pin(sessions::refresh::handle(call))),
        body: BodyRule::Small,
        span: span!("session.refresh"),
        doc: &sessions::refresh::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/sessions/accept",
        name: "session.accept",
        access: Access::SignIn(|call| Box::pin(sessions::accept::handle(call))),
        body: BodyRule::Small,
        span: span!("session.accept"),
        doc: &sessions::accept::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/sign-up",
        name: "session.sign_up",
        access: Access::SignIn(|call| Box::pin(sessions::sign_up::handle(call))),
        body: BodyRule::Small,
        span: span!("session.sign_up"),
        doc: &sessions::sign_up::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/sessions/password",
        name: "session.password",
        access: Access::Tenant(Permission::OwnSignIns, |call| {
            Box::pin(sessions::password::handle(call))
        }),
        body: BodyRule::Small,
        span: span!("session.password"),
        doc: &sessions::password::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/sessions",
        name: "session.list",
        access: Access::Tenant(Permission::OwnSignIns, |call| {
            Box::pin(sessions::list::handle(call))
        }),
        body: BodyRule::None,
        span: span!("session.list"),
        doc: &sessions::list::DOC,
    },
    Endpoint {
        verb: Verb::Delete,
        path: "/v1/sessions",
        name: "session.sign_out",
        access: Access::Tenant(Permission::OwnSignIns, |call| {
            Box::pin(sessions::sign_out::here(call))
        }),
        body: BodyRule::Empty,
        span: span!("session.sign_out"),
        doc: &sessions::sign_out::HERE_DOC,
    },
    Endpoint {
        verb: Verb::Delete,
        path: "/v1/sessions/{id}",
        name: "session.end",
        access: Access::Tenant(Permission::OwnSignIns, |call| {
            Box::pin(sessions::sign_out::there(call))
        }),
        body: BodyRule::Empty,
        span: span!("session.end"),
        doc: &sessions::sign_out::THERE_DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/audit",
        name: "audit.list",
        access: Access::Tenant(Permission::ReadAudit, |call| Box::pin(audit::list::handle(call))),
        body: BodyRule::None,
        span: span!("audit.list"),
        doc: &audit::list::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/admin/audit",
        name: "operator.audit",
        access: Access::Operator(OperatorScope::Read, |call| {
            Box::pin(audit::list::for_operator(call))
        }),
        body: BodyRule::None,
        span: span!("operator.audit"),
        doc: &audit::list::OPERATOR_DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/admin/operator",
        name: "operator.get",
        access: Access::Operator(OperatorScope::Read, |call| {
            Box::pin(admin::operator::handle(call))
        }),
        body: BodyRule::None,
        span: span!("operator.get"),
        doc: &admin::operator::DOC,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/admin/tenants",
        name: "tenant.create",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::tenant::create::handle(call))
        }),
        body: BodyRule::Small,
        span: span!("tenant.create"),
        doc: &admin::tenant::create::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/admin/tenants",
        name: "tenant.list",
        access: Access::Operator(OperatorScope::Read, |call| {
            Box::pin(admin::tenant::list::handle(call))
        }),
        body: BodyRule::None,
        span: span!("tenant.list"),
        doc: &admin::tenant::list::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/admin/tenants/{id}",
        name: "tenant.get",
        access: Access::Operator(OperatorScope::Read, |call| {
            Box::pin(admin::tenant::get::handle(call))
        }),
        body: BodyRule::None,
        span: span!("tenant.get"),
        doc: &admin::tenant::get::DOC,
    },
    Endpoint {
        verb: Verb::Patch,
        path: "/v1/admin/tenants/{id}",
        name: "tenant.change",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::tenant::change::handle(call))
        }),
        body: BodyRule::Small,
        span: span!("tenant.change"),
        doc: &admin::tenant::change::DOC,
    },
    Endpoint {
        verb: Verb::Delete,
        path: "/v1/admin/tenants/{id}",
        name: "tenant.delete",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::tenant::stand::delete(call))
        }),
        body: BodyRule::Empty,
        span: span!("tenant.delete"),
        doc: &admin::tenant::stand::DELETE,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/admin/tenants/{id}/suspend",
        name: "tenant.suspend",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::tenant::stand::suspend(call))
        }),
        body: BodyRule::Empty,
        span: span!("tenant.suspend"),
        doc: &admin::tenant::stand::SUSPEND,
    },
    Endpoint {
        verb: Verb::Post,
        path: "/v1/admin/tenants/{id}/resume",
        name: "tenant.resume",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::tenant::stand::resume(call))
        }),
        body: BodyRule::Empty,
        span: span!("tenant.resume"),
        doc: &admin::tenant::stand::RESUME,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/v1/admin/plans",
        name: "plan.list",
        access: Access::Operator(OperatorScope::Read, |call| {
            Box::pin(admin::plan::list::handle(call))
        }),
        body: BodyRule::None,
        span: span!("plan.list"),
        doc: &admin::plan::list::DOC,
    },
    Endpoint {
        verb: Verb::Put,
        path: "/v1/admin/plans/{name}",
        name: "plan.put",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::plan::put::handle(call))
        }),
        body: BodyRule::Small,
        span: span!("plan.put"),
        doc: &admin::plan::put::DOC,
    },
    Endpoint {
        verb: Verb::Delete,
        path: "/v1/admin/plans/{name}",
        name: "plan.delete",
        access: Access::Operator(OperatorScope::Admin, |call| {
            Box::pin(admin::plan::delete::handle(call))
        }),
        body: BodyRule::Empty,
        span: span!("plan.delete"),
        doc: &admin::plan::delete::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/healthz",
        name: "health.live",
        access: Access::Open(|call| Box::pin(health::live(call))),
        body: BodyRule::None,
        span: span!("health.live"),
        doc: &health::LIVE,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/readyz",
        name: "health.ready",
        access: Access::Open(|call| Box::pin(health::ready(call))),
        body: BodyRule::None,
        span: span!("health.ready"),
        doc: &health::READY,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/metrics",
        name: "metrics.read",
        access: Access::Open(|call| Box::pin(metrics::handle(call))),
        body: BodyRule::None,
        span: span!("metrics.read"),
        doc: &metrics::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/openapi.json",
        name: "openapi.read",
        access: Access::Open(|call| Box::pin(openapi::handle(call))),
        body: BodyRule::None,
        span: span!("openapi.read"),
        doc: &openapi::DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/docs",
        name: "docs.page",
        access: Access::Open(|call| Box::pin(docs::page(call))),
        body: BodyRule::None,
        span: span!("docs.page"),
        doc: &docs::PAGE_DOC,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/docs/{file}",
        name: "docs.file",
        access: Access::Open(|call| Box::pin(docs::part(call))),
        body: BodyRule::None,
        span: span!("docs.file"),
        doc: &docs::FILE_DOC,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_route_and_no_name_is_there_twice() {
        let routes: HashSet<_> = TABLE.iter().map(|e| (e.verb, e.path)).collect();
        let names: HashSet<_> = TABLE.iter().map(|e| e.name).collect();
        assert_eq!((routes.len(), names.len()), (TABLE.len(), TABLE.len()));
    }

    #[test]
    fn everything_below_v1_needs_a_key_and_every_write_takes_a_body_rule() {
        for endpoint in &TABLE {
            let open = matches!(endpoint.access, Access::Open(_));
            assert_eq!(open, !endpoint.path.starts_with("/v1/"), "{endpoint:?}");
            let way_in = matches!(endpoint.access, Access::SignIn(_));
            let leads_to_a_token = endpoint.verb == Verb::Post
                && ["/v1/sessions", "/v1/sessions/refresh", "/v1/sessions/accept", "/v1/sign-up"]
                    .contains(&endpoint.path);
            assert_eq!(way_in, leads_to_a_token, "{endpoint:?}");
            assert_eq!(endpoint.body == BodyRule::None, endpoint.verb == Verb::Get, "{endpoint:?}");
            let operators = matches!(endpoint.access, Access::Operator(..));
            assert_eq!(operators, endpoint.path.starts_with("/v1/admin/"), "{endpoint:?}");
        }
    }
}
