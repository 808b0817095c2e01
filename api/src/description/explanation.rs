//! The schemas of an explanation. It is answered as the domain has it, whose types know nothing of schemas; a test holds
//! the two equal.

use super::shape::branch_name;
use utoipa::openapi::schema::{
    ComponentsBuilder, Discriminator, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{ArrayBuilder, OneOfBuilder, Ref, RefOr, Schema};

/// A field of a reason.
struct Field {
    name: &'static str,
    kind: Kind,
    nullable: bool,
    text: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    Time,
    Text,
    Whole,
    Number,
    Flag,
    /// A word of this schema.
    Word(&'static str),
    Holders,
}
use Kind::{Flag, Holders, Number, Text, Time, Whole, Word};

const fn has(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, nullable: false, text }
}

const fn may_have(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, nullable: true, text }
}

/// Every reason, in the order in which they are told.
const REASONS: [(&str, &str, &[Field]); 17] = [
    ("due", "Its time has not come.", &[has("at", Time, "When it comes")]),
    (
        "retry",
        "An attempt failed or was lost; the next comes at a set time.",
        &[
            has("at", Time, "When it comes"),
            has("failures", Whole, "Attempts that failed and count, so far"),
            has("max_attempts", Whole, "Attempts that count, at most"),
            may_have("last_outcome", Text, "How the last attempt ended"),
            may_have("last_reason", Text, "Why it ended so"),
        ],
    ),
    (
        "retry_budget",
        "Its next attempt waits because its target fails and was called again often enough for now.",
        &[has("target", Text, "Scheme, host and port of what it calls")],
    ),
    (
        "breaker_open",
        "Its next attempt waits because its target has failed many times in a row.",
        &[
            has("target", Text, "Scheme, host and port of what it calls"),
            has(
                "next_probe_at",
                Time,
                "When one retry, perhaps this one, is sent to see whether it answers",
            ),
        ],
    ),
    (
        "tenant_suspended",
        "Your account is suspended: nothing of it starts.",
        &[may_have("since", Time, "Since when")],
    ),
    (
        "pool_paused",
        "Nothing of its pool is handed out.",
        &[
            has("since", Time, "Since when"),
            may_have("because", Text, "What the operators say of it"),
        ],
    ),
    ("no_executor", "No executor of its pool is there.", &[has("pool", Text, "The pool")]),
    (
        "too_large",
        "No executor of its pool could ever hold it.",
        &[
            has("dimension", Word("Dimension"), "In which dimension, the first that it exceeds"),
            has("asked", Whole, "What it asks for"),
            has("largest", Whole, "The most that any executor has"),
        ],
    ),
    (
        "concurrency_key",
        "As many tasks with its concurrency key run as may.",
        &[
            has("key", Text, "The key"),
            has("limit", Whole, "Tasks with it that may run at once; 0: none for now"),
            has(
                "held",
                Whole,
                "Tasks with it that are queued, running or cancelling; counting ends at 10 001",
            ),
            has("holders", Holders, "Up to 5 of them, those first that must end first"),
            has("others_before", Flag, "Others with the key wait before this task"),
        ],
    ),
    (
        "spare_room",
        "It is flexible and starts only where room is spare.",
        &[has("until", Time, "From then on it stands with all others")],
    ),
    (
        "running_limit",
        "As many of your tasks run as your plan allows.",
        &[
            has(
                "held",
                Whole,
                "Tasks that are queued, running or cancelling; counting ends at 10 001",
            ),
            has("limit", Whole, "What the plan allows"),
        ],
    ),
    (
        "no_room",
        "Its pool has no room for it now.",
        &[
            has(
                "dimension",
                Word("Dimension"),
                "The one that is shortest: of what an executor has free it needs most there",
            ),
            has("asked", Whole, "What it asks for in that dimension"),
            has("largest", Whole, "The most that any executor has of it, free or not"),
            has("slots", Whole, "Room that it takes, in basic tasks"),
            has("free_slots", Whole, "Room that is free over all executors, in basic tasks"),
            has(
                "for_its_size",
                Flag,
                "Others find room, but no executor has enough at once for this one",
            ),
        ],
    ),
    (
        "turn",
        "Others go before it.",
        &[
            has("tasks_before", Whole, "Your tasks of its class that go before it and may start"),
            has("at_least", Flag, "There are more: counting ended there"),
            has("late", Flag, "Its start deadline has passed: it is in the late class"),
            has("shared", Flag, "Tasks of the other class wait too and have a part of the turns"),
            may_have(
                "tenants_before",
                Whole,
                "Customers whose turn comes before yours; null where not known",
            ),
            may_have(
                "rate",
                Number,
                "Your tasks that had their turn a second, lately; null where not known",
            ),
        ],
    ),
    (
        "placing",
        "A resource manager looks for a place for it.",
        &[has("until", Time, "If none is found until then, it waits for its turn again")],
    ),
    ("running", "It runs.", PLACED),
    ("stopping", "It runs and was asked to stop.", PLACED),
    (
        "ended",
        "It has ended.",
        &[
            has("at", Time, "When"),
            may_have("exit_code", Whole, "Exit code of its last attempt"),
            may_have("because", Text, "Why it ended as it did"),
        ],
    ),
];

const PLACED: &[Field] = &[
    has("attempt", Whole, "1 upwards"),
    may_have("executor", Text, "Where it runs"),
    has("since", Time, "When it got its place"),
];

/// The explanation and all that it refers to.
pub(super) fn add(components: ComponentsBuilder) -> ComponentsBuilder {
    let components = components
        .schema("Explanation", explanation())
        .schema("StartEstimate", estimate())
        .schema("ConcurrencyHolder", holder());
    let mut whole = OneOfBuilder::new().description(Some(
        "One thing that a task waits for, or does instead. A later version may have other reasons.",
    ));
    let mut discriminator = Discriminator::new("reason");
    let components = REASONS.into_iter().fold(components, |components, (name, text, fields)| {
        let schema = branch_name("Reason", name);
        let to = Ref::from_schema_name(&schema);
        discriminator.mapping.insert(name.to_owned(), to.ref_location.clone());
        whole = std::mem::take(&mut whole).item(to);
        components.schema(schema, reason(name, text, fields))
    });
    components.schema("Reason", whole.discriminator(Some(discriminator)))
}

/// What a task waits for, and when it will probably start.
fn explanation() -> ObjectBuilder {
    let reasons = ArrayBuilder::new()
        .items(Ref::from_schema_name("Reason"))
        .description(Some("What it waits for; the first of several is the decisive one"));
    let whole = ObjectBuilder::new()
        .description(Some("What a task waits for, and when it will probably start."))
        .property("id", has("id", Text, "The task").schema())
        .property("state", Ref::from_schema_name("State"))
        .property("at", has("at", Time, "As of when all this is").schema())
        .property("reasons", reasons)
        .property("eta", Ref::from_schema_name("StartEstimate"))
        .property(
            "expires_at",
            may_have("expires_at", Time, "It expires then, unless it starts before").schema(),
        );
    let names = ["id", "state", "at", "reasons", "eta", "expires_at"];
    names.into_iter().fold(whole, ObjectBuilder::required)
}

fn estimate() -> ObjectBuilder {
    let time = |name, text| may_have(name, Time, text).schema();
    let eta = ObjectBuilder::new()
        .description(Some("When a task will probably start."))
        .property("earliest", time("earliest", "Not before this, as far as is known"))
        .property("estimate", time("estimate", "At about this time"))
        .property("basis", Ref::from_schema_name("EtaBasis"));
    ["earliest", "estimate", "basis"].into_iter().fold(eta, ObjectBuilder::required)
}

fn reason(name: &'static str, text: &'static str, fields: &[Field]) -> ObjectBuilder {
    let word = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    let reason = ObjectBuilder::new()
        .description(Some(text))
        .property("reason", word.enum_values(Some([name])))
        .required("reason");
    with(reason, fields)
}

fn with(object: ObjectBuilder, fields: &[Field]) -> ObjectBuilder {
    fields.iter().fold(object, |object, field| {
        object.property(field.name, field.schema()).required(field.name)
    })
}

impl Field {
    fn schema(&self) -> RefOr<Schema> {
        let of = |kind: Type| match self.nullable {
            true => SchemaType::Array(vec![kind, Type::Null]),
            false => SchemaType::Type(kind),
        };
        let plain = |kind| ObjectBuilder::new().schema_type(of(kind)).description(Some(self.text));
        match self.kind {
            Time => plain(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
                .into(),
            Text => plain(Type::String).into(),
            Whole => plain(Type::Integer).into(),
            Number => plain(Type::Number).into(),
            Flag => plain(Type::Boolean).into(),
            Word(schema) => Ref::from_schema_name(schema).into(),
            Holders => ArrayBuilder::new()
                .items(Ref::from_schema_name("ConcurrencyHolder"))
                .description(Some(self.text))
                .into(),
        }
    }
}

fn holder() -> ObjectBuilder {
    let fields = [
        has("id", Text, "The task"),
        has("state", Word("State"), "Where it is"),
        may_have("since", Time, "Since when it runs; null while it is queued"),
        may_have(
            "ends_by",
            Time,
            "When its execution cap ends its attempt; null while it is queued",
        ),
    ];
    with(
        ObjectBuilder::new().description(Some("A task that holds a place of a concurrency key.")),
        &fields,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::explain::Reason;

    #[test]
    fn every_reason_of_the_domain_is_documented_with_its_fields() {
        assert_eq!(REASONS.map(|(name, _, _)| name), Reason::NAMES);
        for (name, _, fields) in REASONS {
            // Each field is needed: without one of those that may not be null the reason cannot be read.
            let value = |field: &Field| match field.kind {
                _ if field.nullable => serde_json::Value::Null,
                Time => "2030-01-31T12:00:00Z".into(),
                Text => "text".into(),
                Whole | Number => 1.into(),
                Flag => true.into(),
                Word(_) => "ports".into(),
                Holders => serde_json::json!([]),
            };
            let mut json: serde_json::Map<_, _> =
                fields.iter().map(|field| (field.name.to_owned(), value(field))).collect();
            json.insert("reason".to_owned(), name.into());
            let json = serde_json::Value::Object(json);
            let read: Reason = serde_json::from_value(json.clone()).unwrap();
            let back = serde_json::to_value(&read).unwrap();
            let keys = |json: &serde_json::Value| {
                let mut keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
                keys.sort_unstable();
                keys
            };
            assert_eq!(keys(&back), keys(&json), "{name}");
        }
    }
}
