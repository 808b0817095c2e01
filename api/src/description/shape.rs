//! Gives derived schemas the forms that generators of clients understand.
//!
//! Types are derived as serde reads and writes them. Three things are said better than that: what is exactly one of several things is
//! a `oneOf` of named schemas; so is an enum of which some variants hold something; and what an answer has always is required there,
//! null or not. The rule for answers: what may be null is always there, what may be absent is never null.

use utoipa::openapi::schema::{
    AdditionalProperties, Components, Object, ObjectBuilder, SchemaType, Type,
};
use utoipa::openapi::{OneOf, OneOfBuilder, Ref, RefOr, Schema};

/// Requests of which exactly one field is given.
const EXACTLY_ONE: [&str; 2] = ["Run", "When"];
/// Enums of which some variants hold something.
const ENUMS: [&str; 1] = ["Misfire"];

pub(super) fn shape(components: &mut Components) {
    for schema in components.schemas.values_mut() {
        each_object(schema, &mut lift_descriptions);
    }
    for name in EXACTLY_ONE {
        if let Some(RefOr::T(Schema::Object(whole))) = components.schemas.remove(name) {
            add(components, name, one_field_each(name, whole));
        }
    }
    for name in ENUMS {
        if let Some(RefOr::T(Schema::OneOf(whole))) = components.schemas.remove(name) {
            add(components, name, named_variants(name, whole));
        }
    }
    for schema in components.schemas.values_mut() {
        each_object(schema, &mut require_nullable);
    }
}

/// An object, or each that is a part of a whole.
fn each_object(schema: &mut RefOr<Schema>, change: &mut impl FnMut(&mut Object)) {
    if let RefOr::T(Schema::Object(object)) = schema {
        change(object);
    } else if let RefOr::T(Schema::AllOf(all)) = schema {
        for part in &mut all.items {
            each_object(part, change);
        }
    }
}

/// A schema that refers to its branches, and these.
type Branches = (OneOfBuilder, Vec<(String, Object)>);

fn add(components: &mut Components, name: &str, (mut whole, branches): Branches) {
    for (branch, object) in branches {
        whole = whole.item(Ref::from_schema_name(&branch));
        components.schemas.insert(branch, Schema::Object(object).into());
    }
    components.schemas.insert(name.to_owned(), Schema::OneOf(whole.build()).into());
}

/// A branch for each field, which has this field alone.
fn one_field_each(name: &str, whole: Object) -> Branches {
    let branch = |(field, schema): (String, RefOr<Schema>)| {
        let schema = without_null(schema);
        let object = ObjectBuilder::new()
            .description(description(&schema))
            .required(&field)
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        (branch_name(name, &field), object.property(field, schema).build())
    };
    let one = OneOfBuilder::new().description(whole.description).examples(whole.examples);
    (one, whole.properties.into_iter().map(branch).collect())
}

/// A branch for each variant that holds something, and one for the names of all others.
fn named_variants(name: &str, whole: OneOf) -> Branches {
    let (mut words, mut texts, mut branches) = (Vec::new(), Vec::new(), Vec::new());
    for variant in whole.items {
        let RefOr::T(Schema::Object(mut variant)) = variant else { continue };
        if let Some(values) = variant.enum_values {
            texts.extend(values.iter().map(|value| {
                let word = value.as_str().unwrap_or_default();
                format!("`{word}`: {}", variant.description.as_deref().unwrap_or_default())
            }));
            words.extend(values);
        } else if let Some(field) = variant.properties.keys().next() {
            let branch = branch_name(name, field);
            variant.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            branches.push((branch, variant));
        }
    }
    let word = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .description(Some(texts.join(" ")))
        .enum_values(Some(words));
    branches.insert(0, (branch_name(name, "rule"), word.build()));
    (OneOfBuilder::new().description(whole.description).examples(whole.examples), branches)
}

/// `When` and `every` are `WhenEvery`.
pub(super) fn branch_name(whole: &str, branch: &str) -> String {
    let parts = branch.split('_').map(|part| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
    });
    whole.chars().chain(parts.flatten()).collect()
}

fn description(schema: &RefOr<Schema>) -> Option<String> {
    match schema {
        RefOr::Ref(to) => Some(to.description.clone()).filter(|text| !text.is_empty()),
        RefOr::T(Schema::Object(object)) => object.description.clone(),
        RefOr::T(_) => None,
    }
}

fn without_null(schema: RefOr<Schema>) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            if let SchemaType::Array(types) = object.schema_type {
                let kept: Vec<Type> =
                    types.into_iter().filter(|kind| *kind != Type::Null).collect();
                object.schema_type = match <[Type; 1]>::try_from(kept) {
                    Ok([kind]) => SchemaType::Type(kind),
                    Err(kept) => SchemaType::Array(kept),
                };
            }
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::OneOf(of)) => {
            let text = of.description.unwrap_or_default();
            let mut kept = of.items.into_iter().filter(|item| !is_null(item));
            match kept.next() {
                Some(RefOr::Ref(mut to)) => {
                    to.description = text;
                    RefOr::Ref(to)
                }
                Some(kept) => kept,
                None => RefOr::T(Schema::OneOf(OneOf::new())),
            }
        }
        same @ (RefOr::T(_) | RefOr::Ref(_)) => same,
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null))
}

fn is_nullable(schema: &RefOr<Schema>) -> bool {
    let has_null =
        |kind: &SchemaType| matches!(kind, SchemaType::Array(types) if types.contains(&Type::Null));
    match schema {
        RefOr::T(Schema::Object(object)) => has_null(&object.schema_type),
        RefOr::T(Schema::Array(array)) => has_null(&array.schema_type),
        RefOr::T(Schema::OneOf(of)) => of.items.iter().any(is_null),
        RefOr::T(_) | RefOr::Ref(_) => false,
    }
}

/// What a field is for stands at the field, and not within one of the two things that it may be: generators do not read it there.
fn lift_descriptions(object: &mut Object) {
    for property in object.properties.values_mut() {
        if let RefOr::T(Schema::OneOf(of)) = property
            && of.description.as_ref().is_none_or(String::is_empty)
            && let Some(RefOr::Ref(to)) =
                of.items.iter_mut().find(|item| matches!(item, RefOr::Ref(_)))
            && !to.description.is_empty()
        {
            of.description = Some(std::mem::take(&mut to.description));
        }
    }
}

/// Of an answer. Requests refuse fields that they do not know, and so are told apart.
fn require_nullable(object: &mut Object) {
    if object.additional_properties.is_some() {
        return;
    }
    for (name, property) in &object.properties {
        if is_nullable(property) && !object.required.contains(name) {
            object.required.push(name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_called_as_the_whole_and_what_it_holds() {
        assert_eq!(branch_name("When", "every"), "WhenEvery");
        assert_eq!(branch_name("Reason", "no_room"), "ReasonNoRoom");
    }
}
