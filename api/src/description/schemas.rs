//! Every schema that the document's operations name.

use super::{answers, explanation, headers, security};
use crate::openapi::Content;
use crate::openapi::{plan, words};
use crate::routes::admin::executor::{ExecutorView, QuantitiesView};
use crate::routes::admin::operator::OperatorView;
use crate::routes::admin::operator_key::create::OperatorKeySpec;
use crate::routes::admin::operator_key::rotate::RotatedOperatorKeyView;
use crate::routes::admin::operator_key::{NewOperatorKeyView, OperatorKeyView};
use crate::routes::admin::plan::delete::DeletedPlanView;
use crate::routes::admin::pool::pause::PoolPauseSpec;
use crate::routes::admin::pool::put::{GrantsSpec, MaxExecutorSpec, PoolSpec};
use crate::routes::admin::pool::{MaxExecutorView, PoolGrantsView, PoolPauseView, PoolView};
use crate::routes::admin::restore::{OverdueScheduleView, RestoreView, UnfinishedTasksView};
use crate::routes::admin::tenant::TenantView;
use crate::routes::admin::tenant::change::ChangeSpec as TenantChange;
use crate::routes::admin::tenant::create::TenantSpec;
use crate::routes::admin::tenant::put::PutSpec as TenantPut;
use crate::routes::admin::tenant_user::create::InviteSpec;
use crate::routes::audit::view::{ActorView, AuditView, TargetView};
use crate::routes::concurrency::put::LimitSpec;
use crate::routes::concurrency::{KeyLimitView, KeyUseView};
use crate::routes::keys::create::KeySpec;
use crate::routes::keys::rotate::{RotateSpec, RotatedView};
use crate::routes::keys::view::{KeyView, NewKeyView};
use crate::routes::limits::{LimitsView, QuotaView, RateView, WarningView};
use crate::routes::schedules::backfill::{BackfillSpec, BackfillView};
use crate::routes::schedules::delete::DeletedView;
use crate::routes::schedules::pause::PauseSpec;
use crate::routes::schedules::preview::PreviewSpec;
use crate::routes::sessions::accept::{AcceptSpec, AcceptedView};
use crate::routes::sessions::list::SignedInView;
use crate::routes::sessions::password::{PasswordSpec, PasswordView};
use crate::routes::sessions::refresh::RefreshSpec;
use crate::routes::sessions::sign_in::SignInSpec;
use crate::routes::sessions::sign_out::SignedOutView;
use crate::routes::sessions::sign_up::SignUpSpec;
use crate::routes::sessions::view::SessionView;
use crate::routes::table::TABLE;
use crate::routes::task::attempts::AttemptView;
use crate::routes::task::batch::ItemView;
use crate::routes::task::cancel::CancelView;
use crate::routes::task::chunk::ChunkView;
use crate::routes::task::follow::StateEvent;
use crate::routes::task::submit_batch::{BatchSpec, BatchView};
use crate::routes::task::submit_lines::Summary;
use crate::routes::usage::{Amounts, Usage, UsageOfDay};
use crate::routes::users::change::ChangeSpec as UserChange;
use crate::routes::users::create::{NewUserView, UserSpec};
use crate::routes::users::put::PutSpec as UserPut;
use crate::routes::users::view::UserView;
use crate::routes::who_am_i::{OwnKeyView, OwnUserView, WhoAmIView};
use crate::schedule::{
    CatchUpSpec, DailySpec, DueView, EverySpec, FireView, MisfireSpec, MonthlySpec, PauseView,
    PreviewView, ScheduleSpec, ScheduleView, TimingSpec, WeeklySpec, WhenSpec, YearlySpec,
};
use crate::task::{
    CommandSpec, HttpSpec, NoopSpec, ResourcesSpec, RetrySpec, RunSpec, StateView, TaskSpec,
    TaskView, Warning,
};
use serde_json::json;
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{ArrayBuilder, Components, Ref};

/// Everything that operations refer to.
pub(super) fn components() -> Components {
    let (no_such_method, answer) = answers::shared();
    let components = ComponentsBuilder::new().response(no_such_method, answer);
    let components = pages(headers::add(security::schemes(components)));
    explanation::add(schedules(of_operators(access_and_limits(words_and_work(components)))))
        .schema("TaskRerun", rerun())
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
        | Content::AnyJson
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
        .schema_from::<words::Backoff>()
        .schema_from::<words::RetryOn>()
        .schema_from::<words::HttpMethod>()
        .schema_from::<words::AttemptState>()
        .schema_from::<words::Cancel>()
        .schema_from::<words::Scope>()
        .schema_from::<words::Role>()
        .schema_from::<words::EtaBasis>()
        .schema_from::<words::Dimension>()
        .schema_from::<words::ProblemCode>()
        .schema_from::<words::Problem>()
        .schema_from::<words::FieldError>()
        .schema_from::<words::LogStream>()
        .schema_from::<TaskSpec>()
        .schema_from::<ResourcesSpec>()
        .schema_from::<RunSpec>()
        .schema_from::<CommandSpec>()
        .schema_from::<HttpSpec>()
        .schema_from::<NoopSpec>()
        .schema_from::<RetrySpec>()
        .schema_from::<TaskView<'_>>()
        .schema_from::<StateView>()
        .schema_from::<Warning>()
        .schema_from::<CancelView<'_>>()
        .schema_from::<BatchSpec<'_>>()
        .schema_from::<BatchView<'_>>()
        .schema_from::<ItemView<'_>>()
        .schema_from::<words::BatchTask>()
        .schema_from::<Summary<'_>>()
        .schema_from::<AttemptView<'_>>()
        .schema_from::<ChunkView<'_>>()
        .schema_from::<StateEvent<'_>>()
        .schema_from::<Usage>()
        .schema_from::<UsageOfDay>()
        .schema_from::<Amounts>()
}

fn access_and_limits(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<KeySpec>()
        .schema_from::<KeyView<'_>>()
        .schema_from::<NewKeyView<'_>>()
        .schema_from::<RotateSpec>()
        .schema_from::<RotatedView<'_>>()
        .schema_from::<UserView<'_>>()
        .schema_from::<UserSpec>()
        .schema_from::<NewUserView<'_>>()
        .schema_from::<UserChange>()
        .schema_from::<UserPut>()
        .schema_from::<SignInSpec>()
        .schema_from::<SessionView<'_>>()
        .schema_from::<RefreshSpec>()
        .schema_from::<AcceptSpec>()
        .schema_from::<AcceptedView<'_>>()
        .schema_from::<SignedInView>()
        .schema_from::<SignedOutView>()
        .schema_from::<SignUpSpec>()
        .schema_from::<PasswordSpec>()
        .schema_from::<PasswordView>()
        .schema_from::<WhoAmIView<'_>>()
        .schema_from::<OwnKeyView<'_>>()
        .schema_from::<OwnUserView<'_>>()
        .schema_from::<AuditView<'_>>()
        .schema_from::<ActorView<'_>>()
        .schema_from::<TargetView<'_>>()
        .schema_from::<LimitsView>()
        .schema_from::<RateView>()
        .schema_from::<QuotaView>()
        .schema_from::<WarningView>()
        .schema_from::<LimitSpec>()
        .schema_from::<KeyLimitView<'_>>()
        .schema_from::<KeyUseView<'_>>()
}

fn of_operators(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<words::OperatorScope>()
        .schema_from::<OperatorView<'_>>()
        .schema_from::<OperatorKeySpec>()
        .schema_from::<OperatorKeyView<'_>>()
        .schema_from::<NewOperatorKeyView<'_>>()
        .schema_from::<RotatedOperatorKeyView<'_>>()
        .schema_from::<InviteSpec>()
        .schema_from::<ExecutorView>()
        .schema_from::<QuantitiesView>()
        .schema_from::<RestoreView>()
        .schema_from::<OverdueScheduleView>()
        .schema_from::<UnfinishedTasksView>()
        .schema_from::<PoolPauseSpec>()
        .schema_from::<TenantSpec>()
        .schema_from::<TenantChange>()
        .schema_from::<TenantPut>()
        .schema_from::<TenantView>()
        .schema_from::<words::TenantState>()
        .schema_from::<plan::PlanLimits>()
        .schema_from::<DeletedPlanView>()
        .schema_from::<plan::Plan>()
        .schema_from::<PoolSpec>()
        .schema_from::<MaxExecutorSpec>()
        .schema_from::<GrantsSpec>()
        .schema_from::<PoolView>()
        .schema_from::<MaxExecutorView>()
        .schema_from::<PoolGrantsView>()
        .schema_from::<PoolPauseView>()
}

fn schedules(components: ComponentsBuilder) -> ComponentsBuilder {
    components
        .schema_from::<words::Overlap>()
        .schema_from::<words::Gap>()
        .schema_from::<words::Repeat>()
        .schema_from::<words::Counting>()
        .schema_from::<words::ScheduleState>()
        .schema_from::<words::FireOutcome>()
        .schema_from::<words::FireKind>()
        .schema_from::<words::DueMark>()
        .schema_from::<words::Weekday>()
        .schema_from::<words::MonthDay>()
        .schema_from::<words::LastDay>()
        .schema_from::<words::Exclusion>()
        .schema_from::<words::ExclusionRange>()
        .schema_from::<ScheduleSpec>()
        .schema_from::<TimingSpec>()
        .schema_from::<WhenSpec>()
        .schema_from::<EverySpec>()
        .schema_from::<DailySpec>()
        .schema_from::<WeeklySpec>()
        .schema_from::<MonthlySpec>()
        .schema_from::<YearlySpec>()
        .schema_from::<MisfireSpec>()
        .schema_from::<CatchUpSpec>()
        .schema_from::<ScheduleView<'_>>()
        .schema_from::<PauseView<'_>>()
        .schema_from::<FireView<'_>>()
        .schema_from::<PreviewView>()
        .schema_from::<DueView>()
        .schema_from::<PauseSpec>()
        .schema_from::<DeletedView<'_>>()
        .schema_from::<PreviewSpec>()
        .schema_from::<BackfillSpec>()
        .schema_from::<BackfillView>()
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
