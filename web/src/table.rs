//! The one table of pages: method, path, who may see it, who makes it.
//!
//! `api` mounts it beside its routes, and tests walk it. A page that needs a permission is refused before its handler; the API
//! checks again, call by call.

use crate::needs::Needs;
use crate::page::{Page, Verb};
use crate::pages::{
    account, asset, costs, invitation, invoice, operators, overview, schedules, sign_in, sign_out,
    status, tasks, theme, webhooks, workflows,
};
use domain::access::{OperatorScope, Permission};

/// A line a page: method and path; who may see it; who makes it.
macro_rules! pages {
    ($($verb:ident $path:literal, $needs:ident $(($of:expr))?, $($module:ident)::+ => $handler:ident;)*) => {
        [$(Page {
            method: Verb::$verb,
            path: $path,
            needs: Needs::$needs $(($of))?,
            handler: |visit| Box::pin($($module)::+::$handler(visit)),
        }),*]
    };
}

const READ: Permission = Permission::ReadTasks;
const SUBMIT: Permission = Permission::SubmitTasks;
const USAGE: Permission = Permission::ReadUsage;
const KEYS: Permission = Permission::OwnKeys;
const USERS: Permission = Permission::ReadUsers;
const MANAGE: Permission = Permission::ManageUsers;
const SPEND: Permission = Permission::ManageSpend;
const AUDIT: Permission = Permission::ReadAudit;
const HOOKS: Permission = Permission::ManageWebhooks;
const OPERATE: OperatorScope = OperatorScope::Read;
const ADMIN: OperatorScope = OperatorScope::Admin;

/// Every page.
pub static PAGES: [Page; 94] = pages! {
    Get "/", SignedIn, overview => show;
    Get "/sign-in", Nothing, sign_in => show;
    Post "/sign-in", Nothing, sign_in => enter;
    Get "/sign-in/link", Nothing, sign_in => follow;
    Get "/sign-in/invitation", Nothing, invitation => show;
    Post "/sign-in/invitation", Nothing, invitation => accept;
    Post "/sign-out", Nothing, sign_out => leave;
    Post "/theme", SignedIn, theme => keep;
    Get "/status", Nothing, status => show;
    Get "/assets/{file}", Nothing, asset => show;
    Get "/tasks", May(READ), tasks::list => show;
    Post "/tasks/bulk", May(SUBMIT), tasks::bulk => pull;
    Get "/tasks/new", May(SUBMIT), tasks::submit => show;
    Post "/tasks/new", May(SUBMIT), tasks::submit => send;
    Get "/tasks/{id}", May(READ), tasks::task => show;
    Get "/tasks/{id}/do/{lever}", May(READ), tasks::lever => ask;
    Post "/tasks/{id}/do/{lever}", May(READ), tasks::lever => pull;
    Get "/schedules", May(READ), schedules::list => show;
    Get "/schedules/new", May(SUBMIT), schedules::edit => show;
    Post "/schedules/new", May(SUBMIT), schedules::edit => send;
    Get "/schedules/{name}", May(READ), schedules::schedule => show;
    Get "/schedules/{name}/edit", May(SUBMIT), schedules::edit => show;
    Post "/schedules/{name}/edit", May(SUBMIT), schedules::edit => send;
    Get "/schedules/{name}/do/{lever}", May(SUBMIT), schedules::lever => ask;
    Post "/schedules/{name}/do/{lever}", May(SUBMIT), schedules::lever => pull;
    Get "/workflows", May(READ), workflows::list => show;
    Get "/workflows/new", May(SUBMIT), workflows::edit => show;
    Post "/workflows/new", May(SUBMIT), workflows::edit => send;
    Get "/workflows/definitions/{name}", May(READ), workflows::workflow => show;
    Get "/workflows/definitions/{name}/versions", May(READ), workflows::versions => show;
    Get "/workflows/definitions/{name}/edit", May(SUBMIT), workflows::edit => show;
    Post "/workflows/definitions/{name}/edit", May(SUBMIT), workflows::edit => send;
    Get "/workflows/definitions/{name}/do/{lever}", May(SUBMIT), workflows::workflow => ask;
    Post "/workflows/definitions/{name}/do/{lever}", May(SUBMIT), workflows::workflow => pull;
    Get "/workflows/runs", May(READ), workflows::list => runs;
    Get "/workflows/runs/{id}", May(READ), workflows::run => show;
    Get "/workflows/runs/{id}/do/{lever}", May(SUBMIT), workflows::run => ask;
    Post "/workflows/runs/{id}/do/{lever}", May(SUBMIT), workflows::run => pull;
    Get "/workflows/runs/{id}/nodes/{node}/do/{lever}", May(READ), workflows::node => ask;
    Post "/workflows/runs/{id}/nodes/{node}/do/{lever}", May(READ), workflows::node => pull;
    Get "/webhooks", May(HOOKS), webhooks::list => show;
    Get "/webhooks/new", May(HOOKS), webhooks::edit => show;
    Post "/webhooks/new", May(HOOKS), webhooks::edit => send;
    Get "/webhooks/{name}", May(HOOKS), webhooks::webhook => show;
    Get "/webhooks/{name}/edit", May(HOOKS), webhooks::edit => show;
    Post "/webhooks/{name}/edit", May(HOOKS), webhooks::edit => send;
    Get "/webhooks/{name}/do/{lever}", May(HOOKS), webhooks::lever => ask;
    Post "/webhooks/{name}/do/{lever}", May(HOOKS), webhooks::lever => pull;
    Get "/webhooks/{name}/deliveries/{id}", May(HOOKS), webhooks::delivery => show;
    Get "/webhooks/{name}/deliveries/{id}/replay", May(HOOKS), webhooks::delivery => ask;
    Post "/webhooks/{name}/deliveries/{id}/replay", May(HOOKS), webhooks::delivery => replay;
    Get "/costs", May(USAGE), costs::page => show;
    Get "/costs/caps/new", May(SPEND), costs::cap => show;
    Post "/costs/caps/new", May(SPEND), costs::cap => send;
    Get "/costs/caps/{name}", May(SPEND), costs::cap => show;
    Post "/costs/caps/{name}", May(SPEND), costs::cap => send;
    Get "/costs/caps/{name}/delete", May(SPEND), costs::cap => ask;
    Post "/costs/caps/{name}/delete", May(SPEND), costs::cap => delete;
    Get "/costs/invoices/{number}", May(USAGE), invoice => show;
    Get "/costs/invoices/{number}/file/{format}", May(USAGE), invoice => file;
    Get "/costs/invoices/{number}/lines/{line}", May(USAGE), costs::line => show;
    Get "/account", Tenant, account::limits => show;
    Get "/account/keys", May(KEYS), account::keys => show;
    Get "/account/keys/new", May(KEYS), account::new_key => show;
    Post "/account/keys/new", May(KEYS), account::new_key => send;
    Get "/account/keys/{id}/rotate", May(KEYS), account::rotate => ask;
    Post "/account/keys/{id}/rotate", May(KEYS), account::rotate => rotate;
    Get "/account/keys/{id}/revoke", May(KEYS), account::keys => ask;
    Post "/account/keys/{id}/revoke", May(KEYS), account::keys => revoke;
    Get "/account/users", May(USERS), account::users => show;
    Get "/account/users/new", May(MANAGE), account::invite => show;
    Post "/account/users/new", May(MANAGE), account::invite => send;
    Get "/account/users/{id}", May(MANAGE), account::user => show;
    Post "/account/users/{id}", May(MANAGE), account::user => change;
    Get "/account/users/{id}/remove", May(MANAGE), account::user => ask;
    Post "/account/users/{id}/remove", May(MANAGE), account::user => remove;
    Get "/account/audit", May(AUDIT), account::audit => show;
    Get "/operators", Operator(OPERATE), operators::executors => show;
    Get "/operators/pools", Operator(OPERATE), operators::pools => show;
    Get "/operators/pools/{name}", Operator(OPERATE), operators::pool => show;
    Get "/operators/pools/{name}/do/{lever}", Operator(ADMIN), operators::lever => ask_pool;
    Post "/operators/pools/{name}/do/{lever}", Operator(ADMIN), operators::lever => pull_pool;
    Get "/operators/tenants", Operator(OPERATE), operators::tenants => show;
    Get "/operators/tenants/{id}", Operator(OPERATE), operators::tenant => show;
    Get "/operators/tenants/{id}/do/{lever}", Operator(ADMIN), operators::lever => ask_tenant;
    Post "/operators/tenants/{id}/do/{lever}", Operator(ADMIN), operators::lever => pull_tenant;
    Get "/operators/tenants/{id}/invoices/{number}/do/{lever}", Operator(ADMIN), operators::lever => ask_invoice;
    Post "/operators/tenants/{id}/invoices/{number}/do/{lever}", Operator(ADMIN), operators::lever => pull_invoice;
    Get "/operators/costs", Operator(OPERATE), operators::tenants => costs;
    Get "/operators/plans", Operator(OPERATE), operators::plans => show;
    Get "/operators/plans/new", Operator(ADMIN), operators::plan => show;
    Post "/operators/plans/new", Operator(ADMIN), operators::plan => send;
    Get "/operators/plans/{name}/edit", Operator(ADMIN), operators::plan => show;
    Post "/operators/plans/{name}/edit", Operator(ADMIN), operators::plan => send;
};
