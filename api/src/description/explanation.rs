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
    /// Of a currency.
    Code,
    Whole,
    Number,
    Flag,
    /// A word of this schema.
    Word(&'static str),
    Holders,
    Parents,
}
use Kind::{Code, Flag, Holders, Number, Parents, Text, Time, Whole, Word};

const fn has(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, nullable: false, text }
}

const fn may_have(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, nullable: true, text }
}

/// Every reason, in the order in which they are told.
const REASONS: [(&str, &str, &[Field]); 24] = [
    ("due", "Its time has not come.", &[has("at", Time, "When it is due")]),
    (
        "parents",
        "It waits for other tasks.",
        &[
            has("needs", Whole, "So many more of them must end as asked"),
            has(
                "undecided",
                Whole,
                "So many have not ended; if fewer than `needs`, the task is about to be skipped",
            ),
            has("waits_for", Parents, "Up to 20 that have not ended, in the order of `depends_on`"),
        ],
    ),
    (
        "items",
        "It has become tasks, one for each item of its `for_each`, and waits for them.",
        &[has("items", Whole, "How many there are"), has("open", Whole, "How many have not ended")],
    ),
    (
        "signal",
        "It waits for a signal.",
        &[
            has("key", Text, "The signal's key"),
            may_have("until", Time, "Then it ends as `expired`"),
        ],
    ),
    (
        "approval",
        "It waits for a person, who approves or rejects it.",
        &[may_have("until", Time, "Then it ends as `expired`")],
    ),
    (
        "spend_cap",
        "Its turn in its workflow run has come, and a spend cap has no room for it. It is tried every ten seconds.",
        &[
            has("cap", Text, "Name of the cap"),
            has("currency", Code, "Code of ISO 4217"),
            has("amount", Whole, "What a period may cost, micro-units"),
            has("free", Whole, "What is neither spent nor reserved, micro-units"),
            has(
                "needed",
                Whole,
                "The most that it can cost, or all its items together, micro-units",
            ),
            has("resets_at", Time, "When the next period begins"),
            may_have(
                "billed_in",
                Code,
                "The currency in which you are billed, if it is another one",
            ),
        ],
    ),
    (
        "retry",
        "An attempt failed or was lost; the next one is due at a set time.",
        &[
            has("at", Time, "When it is due"),
            has("failures", Whole, "Charged attempts that failed"),
            has("max_attempts", Whole, "Maximum of charged attempts"),
            may_have("last_outcome", Text, "How the last attempt ended"),
            may_have("last_reason", Text, "Why it ended so"),
        ],
    ),
    (
        "retry_budget",
        "Its next attempt waits because the retry budget of its target is used up.",
        &[has("target", Text, "Scheme, host and port of the target")],
    ),
    (
        "breaker_open",
        "Its next attempt waits because the circuit breaker of its target is open.",
        &[
            has("target", Text, "Scheme, host and port of the target"),
            has("next_probe_at", Time, "When the next probe, possibly this retry, is sent"),
        ],
    ),
    (
        "tenant_suspended",
        "Your account is suspended: no task starts.",
        &[may_have("since", Time, "Since when")],
    ),
    (
        "pool_paused",
        "Its pool is paused.",
        &[
            has("since", Time, "Since when"),
            may_have("because", Text, "Reason given by the operators"),
        ],
    ),
    ("no_executor", "Its pool has no executor.", &[has("pool", Text, "The pool")]),
    (
        "no_driver",
        "No executor of its pool has its driver.",
        &[has("driver", Text, "The driver, as `run` names it")],
    ),
    (
        "too_large",
        "No executor of its pool is large enough.",
        &[
            has("dimension", Word("Dimension"), "The first dimension that it exceeds"),
            has("asked", Whole, "Requested amount"),
            has("largest", Whole, "Largest capacity of an executor"),
        ],
    ),
    (
        "concurrency_key",
        "Its concurrency key is at its limit.",
        &[
            has("key", Text, "The key"),
            has("limit", Whole, "Tasks with the key that may run at once; 0: none"),
            has(
                "held",
                Whole,
                "Tasks with the key that are queued, running or cancelling; counted up to 10 001",
            ),
            has("holders", Holders, "Up to 5 of them, ordered by their latest end"),
            has("others_before", Flag, "Other tasks with the key are ahead of this one"),
        ],
    ),
    (
        "spare_room",
        "It is flexible and starts only in spare room.",
        &[has("until", Time, "From then on it is treated like other tasks")],
    ),
    (
        "running_limit",
        "Your plan's limit of running tasks is reached.",
        &[
            has(
                "held",
                Whole,
                "Tasks that are queued, running or cancelling; counted up to 10 001",
            ),
            has("limit", Whole, "Limit of the plan"),
        ],
    ),
    (
        "no_room",
        "Its pool has no room for it now.",
        &[
            has("dimension", Word("Dimension"), "The scarcest dimension for this task"),
            has("asked", Whole, "Requested amount in that dimension"),
            has("largest", Whole, "Largest capacity of an executor in it"),
            has("slots", Whole, "Room that it needs, in basic tasks"),
            has("free_slots", Whole, "Free room over all executors, in basic tasks"),
            has(
                "for_its_size",
                Flag,
                "There is room for smaller tasks, but no executor has enough for this one",
            ),
        ],
    ),
    (
        "turn",
        "Other tasks are ahead of it.",
        &[
            has(
                "tasks_before",
                Whole,
                "Your tasks of its scheduling class that are ahead of it and may start",
            ),
            has("at_least", Flag, "`tasks_before` is a lower bound"),
            has("late", Flag, "Its start deadline has passed: it is in the late scheduling class"),
            has(
                "shared",
                Flag,
                "Tasks of the other scheduling class wait too and have a share of the starts",
            ),
            may_have("tenants_before", Whole, "Customers ahead of you; null if unknown"),
            may_have("rate", Number, "Recent starts of your tasks per second; null if unknown"),
        ],
    ),
    (
        "placing",
        "A resource manager is placing it.",
        &[has("until", Time, "If there is no room until then, it is ready again")],
    ),
    ("running", "It runs.", PLACED),
    (
        "completion",
        "It runs: its call was taken on, and it is to be completed.",
        &[
            has("attempt", Whole, "Which attempt, 1 upwards"),
            has("since", Time, "When it was placed"),
            has("until", Time, "End of its execution cap"),
        ],
    ),
    ("stopping", "It runs; a stop was requested.", PLACED),
    (
        "ended",
        "It has finished.",
        &[
            has("at", Time, "When"),
            may_have("exit_code", Whole, "Exit code of its last attempt"),
            may_have("because", Text, "Why it ended so"),
        ],
    ),
];

const PLACED: &[Field] = &[
    has("attempt", Whole, "1 upwards"),
    may_have("executor", Text, "Where it runs"),
    has("since", Time, "When it was placed"),
];

/// The explanation and all that it refers to.
pub(super) fn add(components: ComponentsBuilder) -> ComponentsBuilder {
    let components = components
        .schema("Explanation", explanation())
        .schema("StartEstimate", estimate())
        .schema("ConcurrencyHolder", holder())
        .schema("OpenParent", open_parent());
    let mut whole = OneOfBuilder::new()
        .description(Some("What a task waits for or does. Later versions may add reasons."));
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

/// What a task waits for and its estimated start.
fn explanation() -> ObjectBuilder {
    let reasons = ArrayBuilder::new()
        .items(Ref::from_schema_name("Reason"))
        .description(Some("What it waits for, the decisive reason first"));
    let whole = ObjectBuilder::new()
        .description(Some("What a task waits for and its estimated start."))
        .property("id", has("id", Text, "The task").schema())
        .property("state", Ref::from_schema_name("State"))
        .property("at", has("at", Time, "Time of this explanation").schema())
        .property("reasons", reasons)
        .property("eta", Ref::from_schema_name("StartEstimate"))
        .property(
            "expires_at",
            may_have("expires_at", Time, "When it expires unless started").schema(),
        );
    let names = ["id", "state", "at", "reasons", "eta", "expires_at"];
    names.into_iter().fold(whole, ObjectBuilder::required)
}

fn estimate() -> ObjectBuilder {
    let time = |name, text| may_have(name, Time, text).schema();
    let eta = ObjectBuilder::new()
        .description(Some("Estimated start of a task."))
        .property("earliest", time("earliest", "Earliest start, as far as known"))
        .property("estimate", time("estimate", "Estimated start"))
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
            Code => plain(Type::String).min_length(Some(3)).max_length(Some(3)).into(),
            Whole => plain(Type::Integer).into(),
            Number => plain(Type::Number).into(),
            Flag => plain(Type::Boolean).into(),
            Word(schema) => Ref::from_schema_name(schema).into(),
            Holders => ArrayBuilder::new()
                .items(Ref::from_schema_name("ConcurrencyHolder"))
                .description(Some(self.text))
                .into(),
            Parents => ArrayBuilder::new()
                .items(Ref::from_schema_name("OpenParent"))
                .description(Some(self.text))
                .into(),
        }
    }
}

fn holder() -> ObjectBuilder {
    let fields = [
        has("id", Text, "The task"),
        has("state", Word("State"), "State of the task"),
        may_have("since", Time, "Start of its attempt; null while queued"),
        may_have("ends_by", Time, "When its execution cap ends the attempt; null while queued"),
    ];
    with(
        ObjectBuilder::new().description(Some("A task that counts against a concurrency key.")),
        &fields,
    )
}

fn open_parent() -> ObjectBuilder {
    let fields = [
        has("id", Text, "The task"),
        has("state", Word("State"), "State of the task"),
        has("on", Word("Condition"), "How it must end"),
    ];
    with(ObjectBuilder::new().description(Some("A task that another one waits for.")), &fields)
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
                Code => "EUR".into(),
                Parents => serde_json::json!([]),
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
