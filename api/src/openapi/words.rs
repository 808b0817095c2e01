//! The domain's words as schemas, made from the domain itself so that they cannot differ.

use crate::problem::Code;
use domain::task::AttemptOutcome;
use std::borrow::Cow;
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Whether a schedule fires, as shown.
pub const SCHEDULE_STATES: [&str; 3] = ["active", "paused", "over"];

/// What there is to say of a due time, as shown.
pub const DUE_MARKS: [&str; 4] = ["shifted", "repeated", "again", "change_day"];

/// What a cancel can have done, as shown.
pub const CANCELS: [&str; 4] = ["cancelled", "requested", "already_requested", "already_ended"];

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
    /// Where a task is in its life.
    State,
    domain::task::State::ALL.iter().map(|state| state.as_str())
);
word!(
    /// What a lost attempt means.
    Delivery,
    [domain::task::Delivery::AtLeastOnce, domain::task::Delivery::AtMostOnce].map(domain::task::Delivery::as_str)
);
word!(
    /// How the wait between attempts grows.
    Backoff,
    ["constant", "linear", "exponential"]
);
word!(
    /// An end of an attempt after which there may be another.
    RetryOn,
    domain::task::RetryOn::ALL.map(domain::task::RetryOn::as_str)
);
word!(
    /// A part of what an API key may do.
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
    /// Where an attempt is, or how it ended.
    AttemptState,
    std::iter::once("running").chain(AttemptOutcome::ALL.iter().map(|outcome| outcome.as_str()))
);
word!(
    /// What a cancel did.
    Cancel,
    CANCELS
);
word!(
    /// What the times of an explanation rest on, or why one is missing.
    EtaBasis,
    domain::explain::Basis::ALL.iter().map(|basis| basis.as_str())
);
word!(
    /// A dimension of resources.
    Dimension,
    domain::resources::Dimension::ALL.map(domain::resources::Dimension::as_str)
);
word!(
    /// What a due time does while an earlier task of the schedule has not ended.
    Overlap,
    domain::schedule::Overlap::ALL.map(domain::schedule::Overlap::as_str)
);
word!(
    /// What becomes of a time of day that does not exist on a day.
    Gap,
    ["next_valid", "skip"]
);
word!(
    /// What becomes of a time of day that comes twice on a day.
    Repeat,
    ["first", "last", "both"]
);
word!(
    /// What an interval counts from.
    Counting,
    ["fixed_rate", "fixed_delay"]
);
word!(
    /// Whether a schedule fires.
    ScheduleState,
    SCHEDULE_STATES
);
word!(
    /// What became of a due time.
    FireOutcome,
    domain::schedule::Outcome::ALL.iter().map(|outcome| outcome.as_str())
);
word!(
    /// Why a due time is in the ledger.
    FireKind,
    store::schedule::FireKind::ALL.map(store::schedule::FireKind::as_str)
);
word!(
    /// What the clocks of the zone have to do with a due time.
    DueMark,
    DUE_MARKS
);
word!(
    /// How a tenant stands.
    TenantState,
    domain::tenant::TenantState::ALL.map(domain::tenant::TenantState::as_str)
);
word!(
    /// One of a task's two streams of output.
    LogStream,
    [store::output::Stream::Stdout, store::output::Stream::Stderr].map(store::output::Stream::as_str)
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
word!(
    /// What went wrong, for programs.
    ProblemCode,
    Code::ALL.map(|code| code.row().code)
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
    /// What a task is found by.
    Labels,
    texts("Labels, by their keys.")
);
schema!(
    /// The environment of a command.
    Environment,
    texts("Variables, by their names.")
);
schema!(
    /// What is sent with a call.
    HttpHeaders,
    texts("Headers, by their names.")
);
schema!(
    /// A day of the month.
    MonthDay,
    OneOfBuilder::new()
        .description(Some("A day of the month: 1 to 31, or the last one."))
        .item(of(Type::Integer).minimum(Some(1)).maximum(Some(31)))
        .item(Ref::from_schema_name("LastDay"))
);
schema!(
    /// Days or times on which a schedule is not due.
    Exclusion,
    OneOfBuilder::new()
        .description(Some("A day of the schedule's zone, or a range."))
        .item(of(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Date))))
        .item(Ref::from_schema_name("ExclusionRange"))
);
schema!(
    /// From one day or time to another.
    ExclusionRange,
    ObjectBuilder::new()
        .description(Some("From one day to another, which belongs to it; or from one time (RFC 3339) to another, which does not."))
        .property("from", of(Type::String))
        .property("to", of(Type::String))
        .required("from")
        .required("to")
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
);
schema!(
    /// A task in the answer to a batch.
    BatchTask,
    AnyOfBuilder::new()
        .description(Some("The whole task with `return=full`, else the least one needs to know."))
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
                "JSON pointer into the body; `query:<name>` or `header:<name>` for what is not in it",
            ))
        )
        .property(
            "detail",
            of(Type::String).description(Some("What is wrong, and what would be right"))
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
        .description(Some("What went wrong (RFC 9457)."))
        .property(
            "type",
            text("`urn:berth:problem:` and the code")
                .format(Some(SchemaFormat::Custom("uri".to_owned()))),
        )
        .property("title", text("The same for each problem of this code"))
        .property("status", of(Type::Integer).description(Some("The HTTP status")))
        .property("detail", text("What happened, and what to do about it"))
        .property("code", Ref::from_schema_name("ProblemCode"))
        .property(
            "retryable",
            of(Type::Boolean).description(Some("The same request may succeed later")),
        )
        .property("request_id", text("Not within a batch's results"))
        .property("limit", text("`rate_limited`: the limit that was met"))
        .property(
            "retry_at",
            text("`rate_limited`: when to come back").format(format(KnownFormat::DateTime)),
        )
        .property(
            "lifted_by",
            text("`rate_limited`: the plan that allows more, where there is one"),
        )
        .property(
            "errors",
            ArrayBuilder::new()
                .items(Ref::from_schema_name("FieldError"))
                .description(Some("Each mistake, where there are any")),
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
