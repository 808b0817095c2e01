//! Actions of the audit log, and what they are done to.
//!
//! A name is stored, sealed and shown: it never changes. A database may have actions of another version, so rows keep texts.

use serde::{Deserialize, Serialize};

/// An action, named after its route; or what was tried in vain.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(try_from = "String", into = "&'static str")]
pub enum AuditAction {
    /// A key was created.
    #[strum(serialize = "key.create")]
    KeyCreate,
    /// A key was replaced.
    #[strum(serialize = "key.rotate")]
    KeyRotate,
    /// A key was revoked.
    #[strum(serialize = "key.revoke")]
    KeyRevoke,
    /// A user was created or invited.
    #[strum(serialize = "user.create")]
    UserCreate,
    /// A user was created, or given a role.
    #[strum(serialize = "user.put")]
    UserPut,
    /// A user was given another role.
    #[strum(serialize = "user.change")]
    UserChange,
    /// A user was removed.
    #[strum(serialize = "user.remove")]
    UserRemove,
    /// A user accepted an invitation.
    #[strum(serialize = "session.accept")]
    SessionAccept,
    /// A user changed their password.
    #[strum(serialize = "session.password")]
    SessionPassword,
    /// A password was wrong.
    #[strum(serialize = "session.refused")]
    SessionRefused,
    /// A user signed in.
    #[strum(serialize = "session.sign_in")]
    SessionSignIn,
    /// A refresh token was used.
    #[strum(serialize = "session.refresh")]
    SessionRefresh,
    /// A refresh token was used twice: its sign-in ended.
    #[strum(serialize = "session.reused")]
    SessionReused,
    /// A user signed out.
    #[strum(serialize = "session.sign_out")]
    SessionSignOut,
    /// A user ended another of their sign-ins.
    #[strum(serialize = "session.end")]
    SessionEnd,
    /// A customer signed up.
    #[strum(serialize = "session.sign_up")]
    SessionSignUp,
    /// A task was tried again.
    #[strum(serialize = "task.retry")]
    TaskRetry,
    /// A task was run again as a new one.
    #[strum(serialize = "task.rerun")]
    TaskRerun,
    /// A task does not wait for its time.
    #[strum(serialize = "task.run_now")]
    TaskRunNow,
    /// A task was marked as succeeded.
    #[strum(serialize = "task.mark_succeeded")]
    TaskMarkSucceeded,
    /// A task was changed before it ran.
    #[strum(serialize = "task.change")]
    TaskChange,
    /// A node's wait was approved.
    #[strum(serialize = "task.approve")]
    TaskApprove,
    /// A node's wait was rejected.
    #[strum(serialize = "task.reject")]
    TaskReject,
    /// A workflow was stored.
    #[strum(serialize = "workflow.put")]
    WorkflowPut,
    /// A workflow was deleted.
    #[strum(serialize = "workflow.delete")]
    WorkflowDelete,
    /// A workflow run was started.
    #[strum(serialize = "workflow_run.start")]
    WorkflowRunStart,
    /// A workflow run was cancelled.
    #[strum(serialize = "workflow_run.cancel")]
    WorkflowRunCancel,
    /// A signal was sent.
    #[strum(serialize = "signal.send")]
    SignalSend,
    /// A concurrency limit was stored.
    #[strum(serialize = "concurrency.put")]
    ConcurrencyPut,
    /// A concurrency limit was deleted.
    #[strum(serialize = "concurrency.delete")]
    ConcurrencyDelete,
    /// A spend cap was stored.
    #[strum(serialize = "spend_cap.put")]
    SpendCapPut,
    /// A spend cap was deleted.
    #[strum(serialize = "spend_cap.delete")]
    SpendCapDelete,
    /// A webhook was stored.
    #[strum(serialize = "webhook.put")]
    WebhookPut,
    /// A webhook was deleted.
    #[strum(serialize = "webhook.delete")]
    WebhookDelete,
    /// A webhook got another secret.
    #[strum(serialize = "webhook.rotate")]
    WebhookRotate,
    /// A disabled webhook was enabled.
    #[strum(serialize = "webhook.resume")]
    WebhookResume,
    /// Deliveries of a webhook were sent again.
    #[strum(serialize = "webhook.replay")]
    WebhookReplay,
    /// A schedule was stored.
    #[strum(serialize = "schedule.put")]
    SchedulePut,
    /// A schedule was deleted.
    #[strum(serialize = "schedule.delete")]
    ScheduleDelete,
    /// A schedule was paused.
    #[strum(serialize = "schedule.pause")]
    SchedulePause,
    /// A schedule was resumed.
    #[strum(serialize = "schedule.resume")]
    ScheduleResume,
    /// A schedule was fired by hand.
    #[strum(serialize = "schedule.trigger")]
    ScheduleTrigger,
    /// Past due times of a schedule were fired.
    #[strum(serialize = "schedule.backfill")]
    ScheduleBackfill,
    /// A tenant was created.
    #[strum(serialize = "tenant.create")]
    TenantCreate,
    /// A tenant was stored.
    #[strum(serialize = "tenant.put")]
    TenantPut,
    /// A tenant was changed.
    #[strum(serialize = "tenant.change")]
    TenantChange,
    /// A tenant was suspended.
    #[strum(serialize = "tenant.suspend")]
    TenantSuspend,
    /// A suspended tenant was made active.
    #[strum(serialize = "tenant.resume")]
    TenantResume,
    /// A tenant was deleted.
    #[strum(serialize = "tenant.delete")]
    TenantDelete,
    /// The data of a deleted tenant was removed.
    #[strum(serialize = "tenant.purge")]
    TenantPurge,
    /// An operator key was created.
    #[strum(serialize = "operator_key.create")]
    OperatorKeyCreate,
    /// An operator key was replaced.
    #[strum(serialize = "operator_key.rotate")]
    OperatorKeyRotate,
    /// An operator key was revoked.
    #[strum(serialize = "operator_key.revoke")]
    OperatorKeyRevoke,
    /// Schedules that a restore held fire again.
    #[strum(serialize = "installation.resume")]
    InstallationResume,
    /// A plan was stored.
    #[strum(serialize = "plan.put")]
    PlanPut,
    /// A plan was deleted.
    #[strum(serialize = "plan.delete")]
    PlanDelete,
    /// A price book was stored.
    #[strum(serialize = "price_book.put")]
    PriceBookPut,
    /// A price book was deleted.
    #[strum(serialize = "price_book.delete")]
    PriceBookDelete,
    /// How a tenant is billed was stored.
    #[strum(serialize = "tenant.put_billing")]
    TenantPutBilling,
    /// A month's invoice was made final.
    #[strum(serialize = "invoice.finalize")]
    InvoiceFinalize,
    /// An invoice was paid.
    #[strum(serialize = "invoice.pay")]
    InvoicePay,
    /// An invoice was made void.
    #[strum(serialize = "invoice.void")]
    InvoiceVoid,
    /// A credit or refund was made.
    #[strum(serialize = "credit.create")]
    CreditCreate,
    /// A pool was stored.
    #[strum(serialize = "pool.set")]
    PoolSet,
    /// A pool was deleted.
    #[strum(serialize = "pool.delete")]
    PoolDelete,
    /// A pool was paused.
    #[strum(serialize = "pool.pause")]
    PoolPause,
    /// A pool was resumed.
    #[strum(serialize = "pool.resume")]
    PoolResume,
}

impl AuditAction {
    /// Every action.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What it is done to.
    #[must_use]
    pub const fn target(self) -> TargetKind {
        match self {
            Self::KeyCreate | Self::KeyRotate | Self::KeyRevoke => TargetKind::Key,
            Self::UserCreate
            | Self::UserPut
            | Self::UserChange
            | Self::UserRemove
            | Self::SessionAccept
            | Self::SessionPassword
            | Self::SessionRefused => TargetKind::User,
            Self::SessionSignIn
            | Self::SessionRefresh
            | Self::SessionReused
            | Self::SessionSignOut
            | Self::SessionEnd => TargetKind::Session,
            Self::TaskRetry
            | Self::TaskRerun
            | Self::TaskRunNow
            | Self::TaskMarkSucceeded
            | Self::TaskChange
            | Self::TaskApprove
            | Self::TaskReject => TargetKind::Task,
            Self::WorkflowPut | Self::WorkflowDelete => TargetKind::Workflow,
            Self::WorkflowRunStart | Self::WorkflowRunCancel => TargetKind::WorkflowRun,
            Self::SignalSend => TargetKind::Signal,
            Self::ConcurrencyPut | Self::ConcurrencyDelete => TargetKind::ConcurrencyLimit,
            Self::SpendCapPut | Self::SpendCapDelete => TargetKind::SpendCap,
            Self::WebhookPut
            | Self::WebhookDelete
            | Self::WebhookRotate
            | Self::WebhookResume
            | Self::WebhookReplay => TargetKind::Webhook,
            Self::SchedulePut
            | Self::ScheduleDelete
            | Self::SchedulePause
            | Self::ScheduleResume
            | Self::ScheduleTrigger
            | Self::ScheduleBackfill => TargetKind::Schedule,
            Self::SessionSignUp
            | Self::TenantCreate
            | Self::TenantPut
            | Self::TenantPutBilling
            | Self::TenantChange
            | Self::TenantSuspend
            | Self::TenantResume
            | Self::TenantDelete
            | Self::TenantPurge => TargetKind::Tenant,
            Self::OperatorKeyCreate | Self::OperatorKeyRotate | Self::OperatorKeyRevoke => {
                TargetKind::OperatorKey
            }
            Self::InstallationResume => TargetKind::Installation,
            Self::PlanPut | Self::PlanDelete => TargetKind::Plan,
            Self::PriceBookPut | Self::PriceBookDelete => TargetKind::PriceBook,
            Self::InvoiceFinalize | Self::InvoicePay | Self::InvoiceVoid => TargetKind::Invoice,
            Self::CreditCreate => TargetKind::Credit,
            Self::PoolSet | Self::PoolDelete | Self::PoolPause | Self::PoolResume => {
                TargetKind::Pool
            }
        }
    }
}

impl TryFrom<String> for AuditAction {
    type Error = strum::ParseError;

    fn try_from(name: String) -> Result<Self, strum::ParseError> {
        name.parse()
    }
}

/// Kind of thing that an action is done to.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// An API key.
    Key,
    /// A user.
    User,
    /// A sign-in of a user.
    Session,
    /// A task.
    Task,
    /// A concurrency limit.
    ConcurrencyLimit,
    /// A spend cap.
    SpendCap,
    /// A webhook.
    Webhook,
    /// A schedule.
    Schedule,
    /// A workflow.
    Workflow,
    /// A workflow run.
    WorkflowRun,
    /// A signal.
    Signal,
    /// A tenant.
    Tenant,
    /// An operator key.
    OperatorKey,
    /// The installation.
    Installation,
    /// A plan.
    Plan,
    /// A price book.
    PriceBook,
    /// An invoice.
    Invoice,
    /// A credit or refund.
    Credit,
    /// A pool.
    Pool,
}

impl TargetKind {
    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that databases hold: none may change.
    const NAMES: &str = "key.create key.rotate key.revoke user.create user.put user.change user.remove session.accept \
        session.password session.refused session.sign_in session.refresh session.reused session.sign_out session.end \
        session.sign_up task.retry task.rerun task.run_now task.mark_succeeded task.change task.approve task.reject \
        workflow.put workflow.delete workflow_run.start workflow_run.cancel signal.send concurrency.put concurrency.delete spend_cap.put spend_cap.delete webhook.put webhook.delete webhook.rotate webhook.resume webhook.replay schedule.put schedule.delete schedule.pause schedule.resume \
        schedule.trigger schedule.backfill tenant.create tenant.put tenant.change tenant.suspend tenant.resume tenant.delete \
        tenant.purge operator_key.create operator_key.rotate operator_key.revoke installation.resume plan.put plan.delete price_book.put price_book.delete \
        tenant.put_billing invoice.finalize invoice.pay invoice.void credit.create \
        pool.set pool.delete pool.pause pool.resume";

    #[test]
    fn an_action_is_stored_shown_and_read_by_its_name() {
        assert_eq!(AuditAction::ALL.len(), NAMES.split_whitespace().count());
        for (action, name) in AuditAction::ALL.iter().zip(NAMES.split_whitespace()) {
            assert_eq!((action.as_str(), action.to_string().as_str()), (name, name));
            assert_eq!(name.parse(), Ok(*action));
            assert_eq!(serde_json::to_value(action).unwrap(), name);
            assert_eq!(serde_json::from_value::<AuditAction>(name.into()).unwrap(), *action);
        }
        assert!(serde_json::from_value::<AuditAction>("key.lend".into()).is_err());
    }

    #[test]
    fn a_target_has_the_name_of_its_noun() {
        for action in AuditAction::ALL {
            let kind = action.target().as_str();
            let (noun, _) = action.as_str().split_once('.').unwrap();
            assert!(kind.starts_with(noun) || noun == "session", "{action} {kind}");
            assert_eq!(serde_json::to_value(action.target()).unwrap(), kind);
        }
        assert_eq!(AuditAction::SessionRefused.target(), TargetKind::User);
        assert_eq!(AuditAction::SessionSignUp.target(), TargetKind::Tenant);
    }
}
