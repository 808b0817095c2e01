//! Every schema that the document's operations name.

use super::{answers, explanation, headers, security};
use crate::openapi::Content;
use crate::openapi::{plan, price, words};
use crate::routes::table::TABLE;
use api_types as wire;
use api_types::request as body;
use serde_json::json;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{ArrayBuilder, Components, Ref};

/// Everything that operations refer to.
pub(super) fn components() -> Components {
    let (no_such_method, answer) = answers::shared();
    let components = ComponentsBuilder::new().response(no_such_method, answer);
    let components = pages(headers::add(security::schemes(components)));
    explanation::add(workflows(schedules(of_operators(access_and_limits(words_and_work(
        components,
    ))))))
    .schema("TaskRerun", rerun())
    .schema("TaskChange", change())
    .schema("Health", health())
    .schema("HealthCheck", health_check())
    .build()
}

/// A page for each schema of which there is a list.
fn pages(components: ComponentsBuilder) -> ComponentsBuilder {
    let answers = TABLE.iter().flat_map(|endpoint| endpoint.doc.answers);
    answers.fold(components, |components, answer| match answer.content {
        Content::Page(schema) | Content::Output(schema, _) => {
            components.schema(answers::page_of(schema), page(schema))
        }
        Content::Json(_)
        | Content::JsonOrLines(..)
        | Content::Document(_)
        | Content::AnyLines
        | Content::AnyJson
        | Content::AnyValue
        | Content::Text
        | Content::Html
        | Content::AnyFile
        | Content::Nothing => components,
    })
}

fn page(schema: &str) -> ObjectBuilder {
    let cursor = ObjectBuilder::new()
        .schema_type(SchemaType::Array(vec![Type::String, Type::Null]))
        .description(Some("The `cursor` of the next page; null on the last"));
    ObjectBuilder::new()
        .description(Some("A page of a list."))
        .property("data", ArrayBuilder::new().items(Ref::from_schema_name(schema)))
        .property("next_cursor", cursor)
        .required("data")
        .required("next_cursor")
}

fn words_and_work(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<words::Tier>()
        .schema_from::<words::State>()
        .schema_from::<words::Labels>()
        .schema_from::<words::Environment>()
        .schema_from::<words::HttpHeaders>()
        .schema_from::<words::Delivery>()
        .schema_from::<words::Condition>()
        .schema_from::<words::Dependency>()
        .schema_from::<words::ConditionalDependency>()
        .schema_from::<words::Join>()
        .schema_from::<words::JoinWord>()
        .schema_from::<words::JoinAtLeast>()
        .schema_from::<words::NodeParent>()
        .schema_from::<words::ConditionalNodeParent>()
        .schema_from::<words::WorkflowRunState>()
        .schema_from::<words::Backoff>()
        .schema_from::<words::RetryOn>()
        .schema_from::<words::HttpMethod>()
        .schema_from::<words::CompleteOn>()
        .schema_from::<words::AttemptState>()
        .schema_from::<wire::CancelResult>()
        .schema_from::<words::Scope>()
        .schema_from::<words::Role>()
        .schema_from::<words::EtaBasis>()
        .schema_from::<words::Dimension>()
        .schema_from::<wire::ErrorCode>()
        .schema_from::<words::Problem>()
        .schema_from::<words::FieldError>()
        .schema_from::<wire::Stream>()
        .schema_from::<body::NewTask>()
        .schema_from::<body::Resources>()
        .schema_from::<body::Run>()
        .schema_from::<body::CommandRun>()
        .schema_from::<body::HttpRun>()
        .schema_from::<body::NoopRun>()
        .schema_from::<body::Retry>()
        .schema_from::<wire::Task>()
        .schema_from::<wire::TaskParent>()
        .schema_from::<wire::TaskReservation>()
        .schema_from::<wire::TaskCost>()
        .schema_from::<wire::TaskState>()
        .schema_from::<wire::TaskWarning>()
        .schema_from::<wire::CancelledTask>()
        .schema_from::<body::MarkSucceeded>()
        .schema_from::<body::TaskCompletion>()
        .schema_from::<body::CompletionOutcome>()
        .schema_from::<wire::CompletedTask>()
        .schema("TaskBatch", <body::TaskBatch>::schema())
        .schema_from::<wire::BatchResult>()
        .schema_from::<wire::BatchItem>()
        .schema_from::<words::BatchTask>()
        .schema_from::<wire::BatchSummary>()
        .schema_from::<wire::Attempt>()
        .schema_from::<wire::LogChunkJson<'_>>()
        .schema_from::<wire::FollowedState>()
        .schema_from::<wire::Usage>()
        .schema_from::<wire::Costs>()
        .schema_from::<wire::TenantCosts>()
        .schema_from::<wire::TenantCost>()
        .schema_from::<wire::PriceDryRun>()
        .schema_from::<wire::PriceDryRunTenant>()
        .schema_from::<wire::Cost>()
        .schema_from::<wire::CostTotal>()
        .schema_from::<wire::CostOfMonth>()
        .schema_from::<wire::CostBill>()
        .schema_from::<wire::UsageOfStep>()
        .schema_from::<wire::UsageAmounts>()
}

fn workflows(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema("WorkflowDefinition", <body::WorkflowDefinition>::schema())
        .schema_from::<body::NewNode>()
        .schema_from::<body::NewWait>()
        .schema("WorkflowRunStart", <body::NewWorkflowRun>::schema())
        .schema_from::<body::WorkflowRerun>()
        .schema_from::<body::NewSignal>()
        .schema_from::<body::Decision>()
        .schema_from::<wire::Workflow>()
        .schema_from::<wire::WorkflowVersion>()
        .schema_from::<wire::DeletedWorkflow>()
        .schema_from::<wire::WorkflowRun>()
        .schema_from::<wire::CancelledWorkflowRun>()
        .schema_from::<wire::WorkflowGraph>()
        .schema_from::<wire::GraphNode>()
        .schema_from::<wire::GraphParent>()
        .schema_from::<wire::GraphWait>()
        .schema_from::<wire::GraphItem>()
        .schema_from::<wire::Signal>()
}

fn access_and_limits(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<body::ApiKeyCreate>()
        .schema_from::<wire::ApiKey>()
        .schema_from::<wire::NewApiKey>()
        .schema_from::<body::ApiKeyRotate>()
        .schema_from::<wire::RotatedApiKey>()
        .schema_from::<wire::User>()
        .schema_from::<body::UserCreate>()
        .schema_from::<wire::NewUser>()
        .schema_from::<body::UserChange>()
        .schema_from::<body::UserPut>()
        .schema_from::<body::SignIn>()
        .schema_from::<wire::Session>()
        .schema_from::<body::SessionRefresh>()
        .schema_from::<body::InvitationAccept>()
        .schema_from::<wire::AcceptedUser>()
        .schema_from::<wire::SignedIn>()
        .schema_from::<wire::SignedOut>()
        .schema_from::<body::SignUp>()
        .schema_from::<body::PasswordChange>()
        .schema_from::<wire::PasswordChanged>()
        .schema_from::<wire::WhoAmI>()
        .schema_from::<wire::OwnKey>()
        .schema_from::<wire::OwnUser>()
        .schema_from::<wire::AuditEntry>()
        .schema_from::<wire::AuditActor>()
        .schema_from::<wire::AuditTarget>()
        .schema_from::<wire::Overview>()
        .schema_from::<wire::OverviewLive>()
        .schema_from::<wire::OverviewRecent>()
        .schema_from::<wire::OverviewState>()
        .schema_from::<wire::OverviewWait>()
        .schema_from::<wire::Limits>()
        .schema_from::<wire::RateUse>()
        .schema_from::<wire::QuotaUse>()
        .schema_from::<wire::LimitWarning>()
        .schema_from::<body::ConcurrencyLimitPut>()
        .schema_from::<wire::ConcurrencyLimit>()
        .schema_from::<wire::ConcurrencyUse>()
        .schema_from::<words::CapPeriod>()
        .schema_from::<wire::LabelIs>()
        .schema_from::<wire::SpendCapPut>()
        .schema_from::<wire::SpendCap>()
        .schema_from::<wire::SpendAlert>()
        .schema_from::<wire::DeletedSpendCap>()
        .schema_from::<wire::WebhookPut>()
        .schema_from::<wire::Webhook>()
        .schema_from::<wire::DeletedWebhook>()
        .schema_from::<wire::WebhookRotate>()
        .schema_from::<wire::WebhookReplay>()
        .schema_from::<wire::ReplayOf>()
        .schema_from::<wire::WebhookReplayed>()
        .schema_from::<words::DeliveryState>()
        .schema_from::<wire::WebhookDelivery>()
        .schema_from::<wire::WebhookTry>()
        .schema("QuoteAsk", <body::QuoteAsk>::schema())
        .schema_from::<wire::Quote>()
        .schema_from::<wire::QuoteEstimate>()
        .schema_from::<wire::QuoteMonth>()
        .schema_from::<wire::QuoteLine>()
        .schema_from::<wire::QuoteCheaper>()
        .schema_from::<wire::QuoteCap>()
        .schema_from::<wire::QuoteStart>()
        .schema_from::<wire::QuoteRejected>()
}

fn of_operators(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<words::OperatorScope>()
        .schema_from::<body::CanaryReport>()
        .schema_from::<wire::PoolFlow>()
        .schema_from::<wire::PoolHop>()
        .schema_from::<wire::PoolDispatch>()
        .schema_from::<wire::PoolShare>()
        .schema_from::<wire::Status>()
        .schema_from::<wire::StatusDay>()
        .schema_from::<wire::StatusFigures>()
        .schema_from::<wire::Operator>()
        .schema_from::<body::OperatorKeyCreate>()
        .schema_from::<wire::OperatorKey>()
        .schema_from::<wire::NewOperatorKey>()
        .schema_from::<wire::RotatedOperatorKey>()
        .schema_from::<body::UserInvite>()
        .schema_from::<wire::Executor>()
        .schema_from::<wire::Quantities>()
        .schema_from::<wire::Restore>()
        .schema_from::<wire::OverdueSchedule>()
        .schema_from::<wire::UnfinishedTasks>()
        .schema_from::<body::PoolPause>()
        .schema_from::<body::TenantCreate>()
        .schema_from::<body::TenantChange>()
        .schema_from::<body::TenantPut>()
        .schema_from::<wire::Tenant>()
        .schema_from::<words::TenantState>()
        .schema_from::<plan::PlanLimits>()
        .schema_from::<wire::DeletedPlan>()
        .schema_from::<plan::Plan>()
        .schema_from::<words::InvoiceState>()
        .schema_from::<words::InvoiceLineKind>()
        .schema_from::<wire::Invoice>()
        .schema_from::<wire::InvoiceCustomer>()
        .schema_from::<wire::InvoiceLine>()
        .schema_from::<wire::InvoiceAttempt>()
        .schema_from::<wire::TenantBilling>()
        .schema_from::<body::TenantBillingPut>()
        .schema_from::<wire::Credit>()
        .schema_from::<body::CreditCreate>()
        .schema_from::<price::Billing>()
        .schema_from::<price::Included>()
        .schema_from::<price::PriceBookPut>()
        .schema_from::<price::PriceBook>()
        .schema_from::<price::Prices>()
        .schema_from::<price::Rates>()
        .schema_from::<price::Each>()
        .schema_from::<price::Discounts>()
        .schema_from::<price::ToleranceBand>()
        .schema_from::<price::VolumeStep>()
        .schema_from::<wire::DeletedPriceBook>()
        .schema_from::<body::PoolPut>()
        .schema_from::<body::MaxExecutorPut>()
        .schema_from::<body::PoolGrantsPut>()
        .schema_from::<wire::Pool>()
        .schema_from::<wire::MaxExecutor>()
        .schema_from::<wire::PoolGrants>()
        .schema_from::<wire::PoolPaused>()
}

fn schedules(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<words::Overlap>()
        .schema_from::<words::Gap>()
        .schema_from::<words::Repeat>()
        .schema_from::<words::Counting>()
        .schema_from::<wire::ScheduleState>()
        .schema_from::<words::FireOutcome>()
        .schema_from::<wire::FireKind>()
        .schema_from::<wire::DueMark>()
        .schema_from::<words::Weekday>()
        .schema_from::<words::MonthDay>()
        .schema_from::<words::LastDay>()
        .schema_from::<words::Exclusion>()
        .schema_from::<words::ExclusionRange>()
        .schema_from::<body::NewSchedule>()
        .schema_from::<body::ScheduleWorkflow>()
        .schema_from::<body::Timing>()
        .schema_from::<body::When>()
        .schema_from::<body::Every>()
        .schema_from::<body::Daily>()
        .schema_from::<body::Weekly>()
        .schema_from::<body::Monthly>()
        .schema_from::<body::Yearly>()
        .schema_from::<body::Misfire>()
        .schema_from::<body::CatchUp>()
        .schema_from::<wire::Schedule>()
        .schema_from::<wire::SchedulePaused>()
        .schema_from::<wire::Fire>()
        .schema_from::<wire::SchedulePreview>()
        .schema_from::<wire::ScheduleDue>()
        .schema_from::<body::SchedulePause>()
        .schema_from::<wire::DeletedSchedule>()
        .schema_from::<body::SchedulePreviewAsk>()
        .schema_from::<body::ScheduleBackfill>()
        .schema_from::<wire::ScheduleBackfillPlan>()
}

/// A merge patch has the fields of what it changes; said in words, since any of them may be null here.
fn rerun() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Object))
        .description(Some(
            "Changes to the first task: fields of `TaskSubmit`, as a JSON merge patch (RFC 7396). Objects are merged, lists are \
             replaced, and null resets a field to its default.",
        ))
        .examples([json!({"execution_cap": "5m", "run": {"command": {"env": {"A": "2"}}}})])
}

/// The same of the fields that may change before a task runs.
fn change() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Object))
        .description(Some(
            "Changes to the task, as a JSON merge patch (RFC 7396) of these fields of `TaskSubmit`: `run_at` or `delay` (when it is \
             due), `delay_tolerance`, `priority`, `labels`, `execution_cap`, `max_attempts`, `run.command.env`. Objects are merged, \
             and null resets a field to its default.",
        ))
        .examples([json!({"priority": 5, "delay": "2h", "labels": {"team": "media"}})])
}

fn health() -> ObjectBuilder {
    ObjectBuilder::new()
        .description(Some("Health of a process."))
        .property("ok", of(Type::Boolean))
        .property("checks", ArrayBuilder::new().items(Ref::from_schema_name("HealthCheck")))
        .required("ok")
        .required("checks")
}

fn health_check() -> ObjectBuilder {
    let check = ObjectBuilder::new()
        .description(Some("One health check."))
        .property("name", of(Type::String))
        .property("ok", of(Type::Boolean))
        .property("detail", of(Type::String));
    ["name", "ok", "detail"].into_iter().fold(check, ObjectBuilder::required)
}

fn of(kind: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(kind))
}
