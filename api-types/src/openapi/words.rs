//! The domain's words as schemas, made from the domain itself so that they cannot differ.

use domain::task::AttemptOutcome;
use std::borrow::Cow;
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $values:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let values: Vec<&'static str> = $values.into_iter().collect();
                ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(values)).into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

word!(
    /// A named resource vector.
    Tier,
    domain::resources::Tier::ALL.map(domain::resources::Tier::as_str)
);
word!(
    /// State of a task.
    State,
    domain::task::State::ALL.iter().map(|state| state.as_str())
);
word!(
    /// How a parent must end: `succeeded`; `failed`, `aborted`, `killed` or `expired` (`failed`); `expired`; anyhow (`finished`);
    /// `succeeded` or `skipped` (`skipped_ok`).
    Condition,
    domain::dependency::Condition::ALL.iter().map(|condition| condition.as_str())
);
word!(
    /// What happens after a lost attempt.
    Delivery,
    [domain::task::Delivery::AtLeastOnce, domain::task::Delivery::AtMostOnce].map(domain::task::Delivery::as_str)
);
word!(
    /// How long a period of a spend cap is.
    CapPeriod,
    ["day", "month"]
);
word!(
    /// How a delivery to a webhook stands.
    DeliveryState,
    domain::webhook::DeliveryState::ALL.map(domain::webhook::DeliveryState::as_str)
);
word!(
    /// Back-off between attempts.
    Backoff,
    ["constant", "linear", "exponential"]
);
word!(
    /// Result of an attempt that may be retried.
    RetryOn,
    domain::task::RetryOn::ALL.map(domain::task::RetryOn::as_str)
);
word!(
    /// Scope of an operator key.
    OperatorScope,
    domain::access::OperatorScope::ALL.map(domain::access::OperatorScope::as_str)
);
word!(
    /// Scope of an API key.
    Scope,
    domain::access::Scope::ALL.map(domain::access::Scope::as_str)
);
word!(
    /// What a user may do.
    Role,
    domain::access::Role::ALL.map(domain::access::Role::as_str)
);
word!(
    /// A method that an HTTP task may use.
    HttpMethod,
    domain::task::HttpMethod::ALL.map(domain::task::HttpMethod::as_str)
);
word!(
    /// When an HTTP task ends.
    CompleteOn,
    domain::task::CompleteOn::ALL.map(domain::task::CompleteOn::as_str)
);
word!(
    /// State or outcome of an attempt.
    AttemptState,
    std::iter::once("running").chain(AttemptOutcome::ALL.iter().map(|outcome| outcome.as_str()))
);
word!(
    /// Basis of the estimated start, or why there is none.
    EtaBasis,
    domain::explain::Basis::ALL.iter().map(|basis| basis.as_str())
);
word!(
    /// A dimension of resources.
    Dimension,
    domain::resources::Dimension::ALL.map(domain::resources::Dimension::as_str)
);
word!(
    /// Overlap policy: what a due time does while an earlier task of the schedule is unfinished.
    Overlap,
    domain::schedule::Overlap::ALL.map(domain::schedule::Overlap::as_str)
);
word!(
    /// Handling of a time of day that does not exist on a day.
    Gap,
    ["next_valid", "skip"]
);
word!(
    /// Handling of a time of day that occurs twice on a day.
    Repeat,
    ["first", "last", "both"]
);
word!(
    /// What an interval counts from.
    Counting,
    ["fixed_rate", "fixed_delay"]
);
word!(
    /// Outcome of a due time.
    FireOutcome,
    domain::schedule::Outcome::ALL.iter().map(|outcome| outcome.as_str())
);
word!(
    /// State of an invoice: a draft until its month is over and counted.
    InvoiceState,
    domain::invoice::InvoiceState::ALL.iter().map(|state| state.as_str())
);
word!(
    /// What a line of an invoice is about.
    InvoiceLineKind,
    domain::invoice::LineKind::ALL.iter().map(|kind| kind.as_str())
);
word!(
    /// State of a tenant.
    TenantState,
    domain::tenant::TenantState::ALL.map(domain::tenant::TenantState::as_str)
);
word!(
    /// A day of the week.
    Weekday,
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
);
word!(
    /// The last day of a month.
    LastDay,
    ["last"]
);

macro_rules! schema {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

schema!(
    /// Labels of a task.
    Labels,
    texts("Labels by key.")
);
schema!(
    /// The environment of a command.
    Environment,
    texts("Variables by name.")
);
schema!(
    /// Headers of a request.
    HttpHeaders,
    texts("Headers by name.")
);
schema!(
    /// A day of the month.
    MonthDay,
    OneOfBuilder::new()
        .description(Some("A day of the month: 1 to 31 or `last`."))
        .item(of(Type::Integer).minimum(Some(1)).maximum(Some(31)))
        .item(Ref::from_schema_name("LastDay"))
);
schema!(
    /// A task that another one waits for.
    Dependency,
    OneOfBuilder::new()
        .description(Some(
            "A task that must end first: its id, or in a batch also its `ref` or its position from 0. Without `on` it must succeed.",
        ))
        .item(of(Type::String))
        .item(of(Type::Integer).minimum(Some(0)))
        .item(Ref::from_schema_name("ConditionalDependency"))
);
schema!(
    /// A task that another one waits for, and how it must end.
    ConditionalDependency,
    ObjectBuilder::new()
        .description(Some("A task that must end first, and how."))
        .property(
            "task",
            OneOfBuilder::new().item(of(Type::String)).item(of(Type::Integer).minimum(Some(0)))
        )
        .property("on", Ref::from_schema_name("Condition"))
        .required("task")
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
);
schema!(
    /// A parent of a node: its name, or its name and how it must end.
    NodeParent,
    OneOfBuilder::new()
        .description(Some("A node that must end first: its name. Without `on` it must succeed."))
        .item(of(Type::String))
        .item(Ref::from_schema_name("ConditionalNodeParent"))
);
schema!(
    /// A node that another one waits for, and how it must end.
    ConditionalNodeParent,
    ObjectBuilder::new()
        .description(Some("A node that must end first, and how."))
        .property("node", of(Type::String))
        .property("on", Ref::from_schema_name("Condition"))
        .required("node")
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
);
word!(
    /// State of a workflow run.
    WorkflowRunState,
    domain::workflow::RunState::ALL.iter().map(|state| state.as_str())
);
schema!(
    /// How many parents must end as asked.
    Join,
    OneOfBuilder::new()
        .description(Some("How many parents must end as asked."))
        .item(Ref::from_schema_name("JoinWord"))
        .item(Ref::from_schema_name("JoinAtLeast"))
);
word!(
    /// Each of the parents, or one.
    JoinWord,
    ["all", "any"]
);
schema!(
    /// So many parents.
    JoinAtLeast,
    ObjectBuilder::new()
        .description(Some("So many parents must end as asked."))
        .property("at_least", of(Type::Integer).minimum(Some(1)).maximum(Some(1000)))
        .required("at_least")
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
);
schema!(
    /// Days or times excluded from a schedule.
    Exclusion,
    OneOfBuilder::new()
        .description(Some("A day in the schedule's zone, or a range."))
        .item(of(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Date))))
        .item(Ref::from_schema_name("ExclusionRange"))
);
schema!(
    /// From one day or time to another.
    ExclusionRange,
    ObjectBuilder::new()
        .description(Some("A range of days, end inclusive, or of times (RFC 3339), end exclusive."))
        .property("from", of(Type::String))
        .property("to", of(Type::String))
        .required("from")
        .required("to")
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
);
schema!(
    /// A task in the response to a batch.
    BatchTask,
    AnyOfBuilder::new()
        .description(Some("The whole task with `return=full`, else its id and state."))
        .item(Ref::from_schema_name("Task"))
        .item(Ref::from_schema_name("TaskState"))
);
schema!(
    /// One mistake in a request.
    FieldError,
    ObjectBuilder::new()
        .description(Some("One mistake in a request."))
        .property(
            "pointer",
            of(Type::String).description(Some(
                "JSON pointer into the body; or `query:<name>`, `header:<name>`",
            ))
        )
        .property(
            "detail",
            of(Type::String).description(Some("What is wrong and what is expected"))
        )
        .required("pointer")
        .required("detail")
);
schema!(
    /// A problem (RFC 9457).
    Problem,
    problem()
);

fn problem() -> ObjectBuilder {
    let text = |text| of(Type::String).description(Some(text));
    let format = |format| Some(SchemaFormat::KnownFormat(format));
    let problem = ObjectBuilder::new()
        .description(Some("An error (RFC 9457)."))
        .property(
            "type",
            text("`urn:berth:problem:` followed by the code")
                .format(Some(SchemaFormat::Custom("uri".to_owned()))),
        )
        .property("title", text("The same for each problem of this code"))
        .property("status", of(Type::Integer).description(Some("The HTTP status")))
        .property("detail", text("What happened and what to do"))
        .property("code", Ref::from_schema_name("ProblemCode"))
        .property(
            "retryable",
            of(Type::Boolean).description(Some("The same request may succeed later")),
        )
        .property("request_id", text("Absent in results of a batch"))
        .property("limit", text("`rate_limited`: the exceeded limit"))
        .property(
            "retry_at",
            text("`rate_limited`: when to retry").format(format(KnownFormat::DateTime)),
        )
        .property("lifted_by", text("`rate_limited`: a plan with a higher limit"))
        .property(
            "errors",
            ArrayBuilder::new()
                .items(Ref::from_schema_name("FieldError"))
                .description(Some("Each invalid field")),
        );
    ["type", "title", "status", "detail", "code", "retryable"]
        .into_iter()
        .fold(problem, ObjectBuilder::required)
}

fn texts(text: &str) -> ObjectBuilder {
    ObjectBuilder::new().description(Some(text)).additional_properties(Some(of(Type::String)))
}

fn of(kind: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(kind))
}
