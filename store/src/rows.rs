//! Rows as an argument of a statement: `unnest($1::name[])`, where the database knows `name` as a composite type.
//!
//! With an array for each column Postgres unnests each into a store of its own, which made a statement with 29 of them that stores
//! four tasks three times as dear.

/// Lets a struct that derives [`sqlx::Encode`] be a row of the composite type `$name`, and slices of it an argument. Its fields are those of
/// the type, in their order.
macro_rules! row_of {
    ($name:literal: $row:ty) => {
        impl sqlx::Type<sqlx::Postgres> for $row {
            fn type_info() -> sqlx::postgres::PgTypeInfo {
                sqlx::postgres::PgTypeInfo::with_name($name)
            }
        }

        impl sqlx::postgres::PgHasArrayType for $row {
            fn array_type_info() -> sqlx::postgres::PgTypeInfo {
                sqlx::postgres::PgTypeInfo::array_of($name)
            }
        }
    };
}
pub(crate) use row_of;
