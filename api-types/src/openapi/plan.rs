//! Plans as schemas, made from the table of limits so that they cannot differ.

use domain::plan::{LIMITS, LimitRange};
use std::borrow::Cow;
use utoipa::openapi::schema::{
    AdditionalProperties, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Limits of a plan, as they are sent.
#[derive(Debug)]
pub struct PlanLimits;

impl PartialSchema for PlanLimits {
    fn schema() -> RefOr<Schema> {
        let text = "Limits of a plan, and by which prices it is billed.";
        let object = with_limits(ObjectBuilder::new().description(Some(text)));
        let object =
            object.property("billing", billing("As before where it is left out; null: by none."));
        let required = LIMITS.iter().filter(|limit| limit.required);
        required
            .fold(object, |object, limit| object.required(limit.name))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .into()
    }
}

impl ToSchema for PlanLimits {
    fn name() -> Cow<'static, str> {
        "PlanLimits".into()
    }
}

/// A plan, as it is shown.
#[derive(Debug)]
pub struct Plan;

impl PartialSchema for Plan {
    fn schema() -> RefOr<Schema> {
        let time = |text| of(Type::String, Some(KnownFormat::DateTime)).description(Some(text));
        let name = of(Type::String, None).description(Some("Its name."));
        let object = ObjectBuilder::new().description(Some("A plan.")).property("name", name);
        let version = of(Type::Integer, Some(KnownFormat::Int64))
            .description(Some("Version, from 1; counts changes."));
        let object = object.property("version", version);
        let object = with_limits(object)
            .property(
                "billing",
                billing("By which prices it is billed; null: what is used costs nothing."),
            )
            .property("created_at", time("When it was created."))
            .property("updated_at", time("When it was last changed."));
        let limits = LIMITS.iter().map(|limit| limit.name);
        ["name", "version"]
            .into_iter()
            .chain(limits)
            .chain(["billing", "created_at", "updated_at"])
            .fold(object, ObjectBuilder::required)
            .into()
    }
}

impl ToSchema for Plan {
    fn name() -> Cow<'static, str> {
        "Plan".into()
    }
}

/// What may be null.
fn billing(text: &str) -> RefOr<Schema> {
    let null = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Null));
    let given = Ref::from_schema_name(super::price::Billing::name());
    OneOfBuilder::new().item(null).item(given).description(Some(text)).into()
}

fn with_limits(object: ObjectBuilder) -> ObjectBuilder {
    LIMITS.iter().fold(object, |object, limit| {
        let schema = range(limit.range).description(Some(limit.text));
        object.property(limit.name, schema)
    })
}

fn range(range: LimitRange) -> ObjectBuilder {
    match range {
        LimitRange::Whole { least, most, .. } => {
            let narrow = i32::try_from(most).is_ok();
            let format = if narrow { KnownFormat::Int32 } else { KnownFormat::Int64 };
            of(Type::Integer, Some(format)).minimum(Some(least)).maximum(Some(most))
        }
        LimitRange::Positive(most) => of(Type::Number, Some(KnownFormat::Double))
            .exclusive_minimum(Some(0))
            .maximum(Some(most)),
        LimitRange::Switch => of(Type::Boolean, None),
    }
}

fn of(kind: Type, format: Option<KnownFormat>) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(kind))
        .format(format.map(SchemaFormat::KnownFormat))
}
