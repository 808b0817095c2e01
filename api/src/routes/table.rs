//! The one table of routes: method, path, who may call it, what body it takes, who answers.
//!
//! The server mounts it, the OpenAPI document is built from it, and tests walk it, so that the three
//! cannot differ. A route that is not here is a 404; a tenant's route cannot be without a permission.

use super::{
    admin, audit, concurrency, costs, docs, events, health, invoices, keys, limits, metrics,
    openapi, overview, quotes, schedules, sessions, signal, spend_cap, status, task, usage, users,
    webhook, who_am_i, workflow, workflow_run,
};
use crate::answer::Render;
use crate::call::{Call, OpenCall, OperatorCall, SignInCall};
use crate::openapi::Doc;
use crate::problem::Problem;
use crate::request::BodyRule;
use actix_web::HttpResponse;
use domain::access::{OperatorScope, Permission};
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
    pub const fn counts_peers(&self) -> bool {
        !matches!(self.access, Access::Open(_))
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.verb.as_str(), self.path, self.name)
    }
}

/// A line a route: method, path and name; who may call it; the body it takes; who answers, and what the document says of it.
macro_rules! routes {
    ($(
        $verb:ident $path:literal $name:literal, $access:ident $(($by:ident))?, $body:ident,
        $($module:ident)::+ => $handler:ident, $doc:ident;
    )*) => {
        [$(Endpoint {
            verb: Verb::$verb,
            path: $path,
            name: $name,
            access: routes!(@$access $($by)?, |call| Box::pin(async { $($module)::+::$handler(call).await?.render() })),
            body: BodyRule::$body,
            span: || tracing::info_span!($name, request.id = Empty, trace.id = Empty, tenant.id = Empty),
            doc: &$($module)::+::$doc,
        }),*]
    };
    (@Open, $answer:expr) => { Access::Open($answer) };
    (@SignIn, $answer:expr) => { Access::SignIn($answer) };
    (@Tenant $by:ident, $answer:expr) => { Access::Tenant(Permission::$by, $answer) };
    (@Operator $by:ident, $answer:expr) => { Access::Operator(OperatorScope::$by, $answer) };
}

/// Every route.
pub static TABLE: [Endpoint; 151] = routes! {
    Post "/v1/tasks" "task.submit", Tenant(SubmitTasks), Task, task::submit => handle, DOC;
    Get "/v1/tasks" "task.list", Tenant(ReadTasks), None, task::list => handle, DOC;
    Post "/v1/tasks/batch" "task.submit_batch", Tenant(SubmitTasks), Batch, task::submit_batch => handle, DOC;
    Get "/v1/tasks/{id}" "task.get", Tenant(ReadTasks), None, task::get => handle, DOC;
    Patch "/v1/tasks/{id}" "task.change", Tenant(SubmitTasks), Change, task::change => handle, DOC;
    Post "/v1/tasks/{id}/cancel" "task.cancel", Tenant(SubmitTasks), Empty, task::cancel => handle, DOC;
    Post "/v1/tasks/{id}/rerun" "task.rerun", Tenant(SubmitTasks), Change, task::rerun => handle, DOC;
    Post "/v1/tasks/{id}/retry" "task.retry", Tenant(SubmitTasks), Empty, task::retry => handle, DOC;
    Post "/v1/tasks/{id}/run-now" "task.run_now", Tenant(SubmitTasks), Empty, task::run_now => handle, DOC;
    Post "/v1/tasks/{id}/mark-succeeded" "task.mark_succeeded", Tenant(SubmitTasks), Small, task::mark_succeeded => handle, DOC;
    Post "/v1/tasks/{id}/complete" "task.complete", SignIn, Payload, task::complete => handle, DOC;
    Post "/v1/tasks/{id}/approve" "task.approve", Tenant(ApproveTasks), Optional, task::approve => handle, DOC;
    Post "/v1/tasks/{id}/reject" "task.reject", Tenant(ApproveTasks), Optional, task::reject => handle, DOC;
    Get "/v1/tasks/{id}/attempts" "task.attempts", Tenant(ReadTasks), None, task::attempts => handle, DOC;
    Get "/v1/tasks/{id}/explain" "task.explain", Tenant(ReadTasks), None, task::explain => handle, DOC;
    Get "/v1/tasks/{id}/logs" "task.logs", Tenant(ReadTasks), None, task::logs => handle, DOC;
    Get "/v1/tasks/{id}/result" "task.result", Tenant(ReadTasks), None, task::result => handle, DOC;
    Get "/v1/usage" "usage.read", Tenant(ReadUsage), None, usage => handle, DOC;
    Get "/v1/costs" "usage.costs", Tenant(ReadUsage), None, costs => handle, DOC;
    Post "/v1/quotes" "usage.quote", Tenant(ReadUsage), Workflow, quotes::create => handle, DOC;
    Get "/v1/invoices" "invoice.list", Tenant(ReadUsage), None, invoices::list => handle, DOC;
    Get "/v1/invoices/{number}" "invoice.get", Tenant(ReadUsage), None, invoices::get => handle, DOC;
    Get "/v1/invoices/{number}/lines/{line}/attempts" "invoice.attempts", Tenant(ReadUsage), None, invoices::attempts => handle, DOC;
    Get "/v1/overview" "overview.read", Tenant(ReadTasks), None, overview => handle, DOC;
    Get "/v1/limits" "limits.read", Tenant(ReadUsage), None, limits => handle, DOC;
    Get "/v1/concurrency-limits" "concurrency.list", Tenant(ReadTasks), None, concurrency::list => handle, DOC;
    Get "/v1/concurrency-limits/{key}" "concurrency.get", Tenant(ReadTasks), None, concurrency::get => handle, DOC;
    Put "/v1/concurrency-limits/{key}" "concurrency.put", Tenant(SubmitTasks), Small, concurrency::put => handle, DOC;
    Delete "/v1/concurrency-limits/{key}" "concurrency.delete", Tenant(SubmitTasks), Empty, concurrency::delete => handle, DOC;
    Get "/v1/spend-caps" "spend_cap.list", Tenant(ReadUsage), None, spend_cap::list => handle, DOC;
    Get "/v1/spend-caps/{name}" "spend_cap.get", Tenant(ReadUsage), None, spend_cap::get => handle, DOC;
    Put "/v1/spend-caps/{name}" "spend_cap.put", Tenant(ManageSpend), Small, spend_cap::put => handle, DOC;
    Delete "/v1/spend-caps/{name}" "spend_cap.delete", Tenant(ManageSpend), Empty, spend_cap::delete => handle, DOC;
    Get "/v1/webhooks" "webhook.list", Tenant(ManageWebhooks), None, webhook::list => handle, DOC;
    Get "/v1/webhooks/{name}" "webhook.get", Tenant(ManageWebhooks), None, webhook::get => handle, DOC;
    Put "/v1/webhooks/{name}" "webhook.put", Tenant(ManageWebhooks), Small, webhook::put => handle, DOC;
    Delete "/v1/webhooks/{name}" "webhook.delete", Tenant(ManageWebhooks), Empty, webhook::delete => handle, DOC;
    Post "/v1/webhooks/{name}/rotate" "webhook.rotate", Tenant(ManageWebhooks), Optional, webhook::rotate => handle, DOC;
    Post "/v1/webhooks/{name}/resume" "webhook.resume", Tenant(ManageWebhooks), Empty, webhook::resume => handle, DOC;
    Post "/v1/webhooks/{name}/test" "webhook.test", Tenant(ManageWebhooks), Empty, webhook::test => handle, DOC;
    Post "/v1/webhooks/{name}/replay" "webhook.replay", Tenant(ManageWebhooks), Small, webhook::replay => handle, DOC;
    Get "/v1/webhooks/{name}/deliveries" "webhook.deliveries", Tenant(ManageWebhooks), None, webhook::deliveries => handle, DOC;
    Get "/v1/webhooks/{name}/deliveries/{id}" "webhook.delivery", Tenant(ManageWebhooks), None, webhook::deliveries => one, ONE_DOC;
    Post "/v1/webhooks/{name}/deliveries/{id}/replay" "webhook.replay_one", Tenant(ManageWebhooks), Empty, webhook::replay => one, ONE_DOC;
    Post "/v1/schedules/preview" "schedule.preview_timing", Tenant(ReadTasks), Task, schedules::preview => timing, TIMING_DOC;
    Get "/v1/schedules" "schedule.list", Tenant(ReadTasks), None, schedules::list => handle, DOC;
    Get "/v1/schedules/{name}" "schedule.get", Tenant(ReadTasks), None, schedules::get => handle, DOC;
    Put "/v1/schedules/{name}" "schedule.put", Tenant(SubmitTasks), Task, schedules::put => handle, DOC;
    Delete "/v1/schedules/{name}" "schedule.delete", Tenant(SubmitTasks), Empty, schedules::delete => handle, DOC;
    Post "/v1/schedules/{name}/pause" "schedule.pause", Tenant(SubmitTasks), Optional, schedules::pause => handle, DOC;
    Post "/v1/schedules/{name}/resume" "schedule.resume", Tenant(SubmitTasks), Empty, schedules::resume => handle, DOC;
    Post "/v1/schedules/{name}/trigger" "schedule.trigger", Tenant(SubmitTasks), Empty, schedules::trigger => handle, DOC;
    Post "/v1/schedules/{name}/backfill" "schedule.backfill", Tenant(SubmitTasks), Small, schedules::backfill => handle, DOC;
    Get "/v1/schedules/{name}/fires" "schedule.fires", Tenant(ReadTasks), None, schedules::fires => handle, DOC;
    Get "/v1/schedules/{name}/preview" "schedule.preview", Tenant(ReadTasks), None, schedules::preview => stored, STORED_DOC;
    Get "/v1/workflows" "workflow.list", Tenant(ReadTasks), None, workflow::list => handle, DOC;
    Get "/v1/workflows/{name}" "workflow.get", Tenant(ReadTasks), None, workflow::get => handle, DOC;
    Put "/v1/workflows/{name}" "workflow.put", Tenant(SubmitTasks), Workflow, workflow::put => handle, DOC;
    Get "/v1/workflows/{name}/versions" "workflow.versions", Tenant(ReadTasks), None, workflow::versions => handle, DOC;
    Get "/v1/workflows/{name}/versions/{version}" "workflow.version", Tenant(ReadTasks), None, workflow::version => handle, DOC;
    Delete "/v1/workflows/{name}" "workflow.delete", Tenant(SubmitTasks), Empty, workflow::delete => handle, DOC;
    Get "/v1/workflow-runs" "workflow_run.list", Tenant(ReadTasks), None, workflow_run::list => handle, DOC;
    Post "/v1/workflow-runs" "workflow_run.start", Tenant(SubmitTasks), Workflow, workflow_run::start => handle, DOC;
    Get "/v1/workflow-runs/{id}" "workflow_run.get", Tenant(ReadTasks), None, workflow_run::get => handle, DOC;
    Get "/v1/workflow-runs/{id}/graph" "workflow_run.graph", Tenant(ReadTasks), None, workflow_run::graph => handle, DOC;
    Post "/v1/workflow-runs/{id}/cancel" "workflow_run.cancel", Tenant(SubmitTasks), Empty, workflow_run::cancel => handle, DOC;
    Post "/v1/workflow-runs/{id}/rerun" "workflow_run.rerun", Tenant(SubmitTasks), Optional, workflow_run::rerun => handle, DOC;
    Post "/v1/signals/{key}" "signal.send", Tenant(SubmitTasks), Payload, signal::send => handle, DOC;
    Get "/v1/whoami" "self.read", Tenant(ReadSelf), None, who_am_i => handle, DOC;
    Get "/v1/keys" "key.list", Tenant(OwnKeys), None, keys::list => handle, DOC;
    Post "/v1/keys" "key.create", Tenant(OwnKeys), Small, keys::create => handle, DOC;
    Post "/v1/keys/{id}/rotate" "key.rotate", Tenant(OwnKeys), Empty, keys::rotate => handle, DOC;
    Delete "/v1/keys/{id}" "key.revoke", Tenant(OwnKeys), Empty, keys::revoke => handle, DOC;
    Get "/v1/users" "user.list", Tenant(ReadUsers), None, users::list => handle, DOC;
    Post "/v1/users" "user.create", Tenant(ManageUsers), Small, users::create => handle, DOC;
    Get "/v1/users/{id}" "user.get", Tenant(ReadUsers), None, users::get => handle, DOC;
    Put "/v1/users/{id}" "user.put", Tenant(ManageUsers), Small, users::put => handle, DOC;
    Patch "/v1/users/{id}" "user.change", Tenant(ManageUsers), Small, users::change => role, ROLE_DOC;
    Delete "/v1/users/{id}" "user.remove", Tenant(ManageUsers), Empty, users::change => remove, REMOVE_DOC;
    Post "/v1/sessions" "session.sign_in", SignIn, Small, sessions::sign_in => handle, DOC;
    Post "/v1/sessions/refresh" "session.refresh", SignIn, Small, sessions::refresh => handle, DOC;
    Post "/v1/sessions/accept" "session.accept", SignIn, Small, sessions::accept => handle, DOC;
    Post "/v1/sign-up" "session.sign_up", SignIn, Small, sessions::sign_up => handle, DOC;
    Post "/v1/sessions/password" "session.password", Tenant(OwnSignIns), Small, sessions::password => handle, DOC;
    Get "/v1/sessions" "session.list", Tenant(OwnSignIns), None, sessions::list => handle, DOC;
    Delete "/v1/sessions" "session.sign_out", Tenant(OwnSignIns), Empty, sessions::sign_out => here, HERE_DOC;
    Delete "/v1/sessions/{id}" "session.end", Tenant(OwnSignIns), Empty, sessions::sign_out => there, THERE_DOC;
    Get "/v1/audit" "audit.list", Tenant(ReadAudit), None, audit::list => handle, DOC;
    Get "/v1/admin/audit" "operator.audit", Operator(Read), None, audit::list => for_operator, OPERATOR_DOC;
    Get "/v1/admin/operator" "operator.get", Operator(Read), None, admin::operator => handle, DOC;
    Get "/v1/admin/operator-keys" "operator_key.list", Operator(Read), None, admin::operator_key::list => handle, DOC;
    Post "/v1/admin/operator-keys" "operator_key.create", Operator(Admin), Small, admin::operator_key::create => handle, DOC;
    Post "/v1/admin/operator-keys/{id}/rotate" "operator_key.rotate", Operator(Admin), Empty, admin::operator_key::rotate => handle, DOC;
    Delete "/v1/admin/operator-keys/{id}" "operator_key.revoke", Operator(Admin), Empty, admin::operator_key::revoke => handle, DOC;
    Post "/v1/admin/tenants" "tenant.create", Operator(Admin), Small, admin::tenant::create => handle, DOC;
    Get "/v1/admin/tenants" "tenant.list", Operator(Read), None, admin::tenant::list => handle, DOC;
    Get "/v1/admin/tenants/{id}" "tenant.get", Operator(Read), None, admin::tenant::get => handle, DOC;
    Put "/v1/admin/tenants/{id}" "tenant.put", Operator(Admin), Small, admin::tenant::put => handle, DOC;
    Patch "/v1/admin/tenants/{id}" "tenant.change", Operator(Admin), Small, admin::tenant::change => handle, DOC;
    Delete "/v1/admin/tenants/{id}" "tenant.delete", Operator(Admin), Empty, admin::tenant::stand => delete, DELETE;
    Post "/v1/admin/tenants/{id}/suspend" "tenant.suspend", Operator(Admin), Empty, admin::tenant::stand => suspend, SUSPEND;
    Post "/v1/admin/tenants/{id}/resume" "tenant.resume", Operator(Admin), Empty, admin::tenant::stand => resume, RESUME;
    Get "/v1/admin/tenants/{id}/keys" "tenant_key.list", Operator(Read), None, admin::tenant_key::list => handle, DOC;
    Post "/v1/admin/tenants/{id}/keys" "tenant_key.create", Operator(Admin), Small, admin::tenant_key::create => handle, DOC;
    Post "/v1/admin/tenants/{id}/keys/{key_id}/rotate" "tenant_key.rotate", Operator(Admin), Empty, admin::tenant_key::rotate => handle, DOC;
    Delete "/v1/admin/tenants/{id}/keys/{key_id}" "tenant_key.revoke", Operator(Admin), Empty, admin::tenant_key::revoke => handle, DOC;
    Get "/v1/admin/tenants/{id}/users" "tenant_user.list", Operator(Read), None, admin::tenant_user::list => handle, DOC;
    Post "/v1/admin/tenants/{id}/users" "tenant_user.create", Operator(Admin), Small, admin::tenant_user::create => handle, DOC;
    Get "/v1/admin/tenants/{id}/users/{login}" "tenant_user.get", Operator(Read), None, admin::tenant_user::get => handle, DOC;
    Put "/v1/admin/tenants/{id}/users/{login}" "tenant_user.put", Operator(Admin), Small, admin::tenant_user::put => handle, DOC;
    Delete "/v1/admin/tenants/{id}/users/{login}" "tenant_user.remove", Operator(Admin), Empty, admin::tenant_user::remove => handle, DOC;
    Get "/v1/admin/tenants/{id}/billing" "tenant.get_billing", Operator(Read), None, admin::tenant::billing => get, DOC;
    Put "/v1/admin/tenants/{id}/billing" "tenant.put_billing", Operator(Admin), Small, admin::tenant::billing => put, PUT;
    Get "/v1/admin/tenants/{id}/invoices" "tenant_invoice.list", Operator(Read), None, admin::invoice::list => handle, DOC;
    Get "/v1/admin/tenants/{id}/invoices/{number}" "tenant_invoice.get", Operator(Read), None, admin::invoice::get => handle, DOC;
    Post "/v1/admin/tenants/{id}/invoices/{number}/finalize" "tenant_invoice.finalize", Operator(Admin), Empty, admin::invoice::finalize => handle, DOC;
    Post "/v1/admin/tenants/{id}/invoices/{number}/pay" "tenant_invoice.pay", Operator(Admin), Empty, admin::invoice::settle => pay, PAY;
    Post "/v1/admin/tenants/{id}/invoices/{number}/void" "tenant_invoice.void", Operator(Admin), Empty, admin::invoice::settle => void, VOID;
    Get "/v1/admin/tenants/{id}/credits" "tenant_credit.list", Operator(Read), None, admin::credit::list => handle, DOC;
    Post "/v1/admin/tenants/{id}/credits" "tenant_credit.create", Operator(Admin), Small, admin::credit::create => handle, DOC;
    Get "/v1/admin/costs" "tenant_cost.list", Operator(Read), None, admin::costs => handle, DOC;
    Get "/v1/admin/usage-events" "usage_event.list", Operator(Read), None, admin::usage_events => handle, DOC;
    Get "/v1/admin/plans" "plan.list", Operator(Read), None, admin::plan::list => handle, DOC;
    Get "/v1/admin/plans/{name}" "plan.get", Operator(Read), None, admin::plan::get => handle, DOC;
    Put "/v1/admin/plans/{name}" "plan.put", Operator(Admin), Small, admin::plan::put => handle, DOC;
    Delete "/v1/admin/plans/{name}" "plan.delete", Operator(Admin), Empty, admin::plan::delete => handle, DOC;
    Post "/v1/admin/price-dry-runs" "price_book.dry_run", Operator(Read), Workflow, admin::price_book::dry_run => handle, DOC;
    Get "/v1/admin/price-books" "price_book.list", Operator(Read), None, admin::price_book::list => handle, DOC;
    Get "/v1/admin/price-books/{name}" "price_book.get", Operator(Read), None, admin::price_book::get => handle, DOC;
    Put "/v1/admin/price-books/{name}" "price_book.put", Operator(Admin), Workflow, admin::price_book::put => handle, DOC;
    Delete "/v1/admin/price-books/{name}" "price_book.delete", Operator(Admin), Empty, admin::price_book::delete => handle, DOC;
    Get "/v1/admin/pools" "pool.list", Operator(Read), None, admin::pool::list => handle, DOC;
    Get "/v1/admin/pools/{name}" "pool.get", Operator(Read), None, admin::pool::get => handle, DOC;
    Put "/v1/admin/pools/{name}" "pool.set", Operator(Admin), Small, admin::pool::put => handle, DOC;
    Delete "/v1/admin/pools/{name}" "pool.delete", Operator(Admin), Empty, admin::pool::delete => handle, DOC;
    Get "/v1/admin/pools/{name}/flow" "pool.flow", Operator(Read), None, admin::pool::flow => handle, DOC;
    Post "/v1/admin/pools/{name}/pause" "pool.pause", Operator(Admin), Small, admin::pool::pause => handle, DOC;
    Post "/v1/admin/pools/{name}/resume" "pool.resume", Operator(Admin), Empty, admin::pool::resume => handle, DOC;
    Get "/v1/admin/executors" "executor.list", Operator(Read), None, admin::executor::list => handle, DOC;
    Put "/v1/admin/canaries/{name}" "canary.report", Operator(Report), Small, admin::canary::report => handle, DOC;
    Get "/v1/admin/restore" "restore.get", Operator(Read), None, admin::restore::get => handle, DOC;
    Post "/v1/admin/restore/resume" "restore.resume", Operator(Admin), Empty, admin::restore::resume => handle, DOC;
    Get "/v1/events" "event.list", Tenant(ReadTasks), None, events::list => handle, DOC;
    Get "/v1/status" "status.get", Open, None, status => handle, DOC;
    Get "/healthz" "health.live", Open, None, health => live, LIVE;
    Get "/readyz" "health.ready", Open, None, health => ready, READY;
    Get "/metrics" "metrics.read", Operator(Read), None, metrics => handle, DOC;
    Get "/openapi.json" "openapi.read", Open, None, openapi => handle, DOC;
    Get "/docs" "docs.page", Open, None, docs => page, PAGE_DOC;
    Get "/docs/" "docs.slash", Open, None, docs => slash, SLASH_DOC;
    Get "/docs/{file}" "docs.file", Open, None, docs => part, FILE_DOC;
};
