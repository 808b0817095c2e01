//! The parts of a [`TaskSpec`](domain::task::TaskSpec) as their columns hold them: JSON, written and read here and nowhere
//! else.
//!
//! They are text columns (the labels' is cast), and so `sqlx::types::Json`, which is `jsonb`, does not fit. Each is written
//! straight into the buffer of its statement. One that cannot be read is no error of a statement: a row that was spoilt, or
//! stored by a later release, must not lose the others. Of runs see [`domain::task::StoredRun`].

use domain::dependency::Dependencies;
use domain::task::{Labels, RetryPolicy};
use serde::Serialize;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, Postgres};

/// A value that is bound as text, in JSON.
pub(super) struct JsonText<'a, T>(pub(super) &'a T);

impl<T> sqlx::Type<Postgres> for JsonText<'_, T> {
    fn type_info() -> PgTypeInfo {
        <str as sqlx::Type<Postgres>>::type_info()
    }
}

impl<T: Serialize> sqlx::Encode<'_, Postgres> for JsonText<'_, T> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        serde_json::to_writer(&mut **buffer, self.0)?;
        Ok(IsNull::No)
    }
}

/// The retry policy of a task; `None`, the default one, where there is none or it cannot be read.
pub(crate) fn retry(json: Option<&str>) -> Option<RetryPolicy> {
    json.and_then(|json| serde_json::from_str(json).ok())
}

/// What a task depends on; nothing where it cannot be read.
pub(crate) fn depends_on(json: Option<&str>) -> Option<Dependencies> {
    json.and_then(|json| serde_json::from_str(json).ok())
}

/// The labels of a task; none where they cannot be read.
pub(crate) fn labels(json: Option<&str>) -> Labels {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}
