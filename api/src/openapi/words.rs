//! The domain's words as schemas, made from the domain itself so that they cannot differ.

use crate::problem::Code;
use crate::routes::task::cancel::DONE;
use domain::task::AttemptOutcome;
use std::borrow::Cow;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ArrayBuilder, RefOr, Schema};
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
    /// Where a task is in its life.
    State,
    domain::task::State::ALL.map(domain::task::State::as_str)
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
    std::iter::once("running").chain(AttemptOutcome::ALL.map(AttemptOutcome::as_str))
);
word!(
    /// What a cancel did.
    Cancel,
    DONE
);
word!(
    /// What the times of an explanation rest on, or why one is missing.
    EtaBasis,
    domain::explain::Basis::ALL.map(domain::explain::Basis::as_str)
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
    crate::schedule::STATES
);
word!(
    /// What became of a due time.
    FireOutcome,
    domain::schedule::Outcome::ALL.map(domain::schedule::Outcome::as_str)
);
word!(
    /// Why a due time is in the ledger.
    FireKind,
    store::schedule::FireKind::ALL.map(store::schedule::FireKind::as_str)
);
word!(
    /// What the clocks of the zone have to do with a due time.
    DueMark,
    crate::schedule::MARKS
);
word!(
    /// What went wrong, for programs.
    ProblemCode,
    Code::ALL.map(|code| code.row().code)
);

/// A problem (RFC 9457).
#[derive(Debug)]
pub struct Problem;

impl PartialSchema for Problem {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        let place = ObjectBuilder::new()
            .property("pointer", text().description(Some(
                "JSON pointer into the body; `query:<name>` or `header:<name>` for what is not in it",
            )))
            .property("detail", text())
            .required("pointer")
            .required("detail");
        let mut problem = ObjectBuilder::new()
            .property("type", text().description(Some("`urn:berth:problem:` and the code")))
            .property("title", text())
            .property("status", ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer)))
            .property("detail", text())
            .property("code", utoipa::openapi::Ref::from_schema_name("ProblemCode"))
            .property(
                "retryable",
                ObjectBuilder::new().schema_type(SchemaType::Type(Type::Boolean)),
            )
            .property("request_id", text().description(Some("Not within a batch's results")))
            .property("limit", text().description(Some("`rate_limited`: the limit that was met")))
            .property(
                "retry_at",
                text()
                    .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
                    .description(Some("`rate_limited`: when to come back")),
            )
            .property(
                "lifted_by",
                text().description(Some(
                    "`rate_limited`: the plan that allows more, where there is one",
                )),
            )
            .property("errors", ArrayBuilder::new().items(place));
        for name in ["type", "title", "status", "detail", "code", "retryable"] {
            problem = problem.required(name);
        }
        problem.into()
    }
}

impl ToSchema for Problem {
    fn name() -> Cow<'static, str> {
        "Problem".into()
    }
}
