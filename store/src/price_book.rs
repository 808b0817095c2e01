//! Price books: dated prices. Written by the platform's operators, read by everybody.
//!
//! Few and small: they are read whole. What is written here has passed [`PriceBook::problems`].

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PriceBookName;
use domain::price::{Billing, PriceBook};
use domain::time::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::json;
use sqlx::PgConnection;

/// More price books than an installation has; a list ends here.
const MOST: i64 = 1000;

/// A price book as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceBookRecord {
    /// Its name.
    pub name: PriceBookName,
    /// Counts its changes, from 1.
    pub version: i64,
    /// Its prices.
    pub book: PriceBook,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What became of a price book that was to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PriceBookStored {
    /// It is new.
    Created(PriceBookRecord),
    /// It is changed.
    Updated(PriceBookRecord),
    /// It was so.
    Unchanged(PriceBookRecord),
    /// It would change the price of what is used already: JSON pointers, and what each should be.
    Alters(Vec<(String, String)>),
    /// It is in this version, and not in the one that was asked for; `None`: there is none.
    VersionMismatch {
        /// The version.
        version: Option<i64>,
    },
}

/// What became of a price book that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone.
    Yes,
    /// It is in this version, and not in the one that was asked for.
    VersionMismatch {
        /// The version.
        version: i64,
    },
    /// A plan names it, or did: what was used then has its prices.
    InUse,
    /// There is none of this name.
    NotFound,
}

fn read<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Malformed {
        what,
        row: "a price book or plan".into(),
        value: text.chars().take(200).collect(),
    })
}

/// Reads the column `document` of a price book.
pub(crate) fn book_of(text: &str) -> Result<PriceBook, StoreError> {
    read("document", text)
}

/// Reads the column `billing` of a plan.
pub(crate) fn billing_of(text: &str) -> Result<Billing, StoreError> {
    read("billing", text)
}

/// Reads a name that the table's check admitted.
pub(crate) fn name_of(text: String) -> Result<PriceBookName, StoreError> {
    text.parse().map_err(|_| StoreError::Malformed {
        what: "name",
        row: "a price book".into(),
        value: text,
    })
}

struct Row {
    name: String,
    version: i64,
    document: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Row {
    fn record(self) -> Result<PriceBookRecord, StoreError> {
        let Self { name, version, document, created_at, updated_at } = self;
        let (name, book) = (name_of(name)?, book_of(&document)?);
        Ok(PriceBookRecord { name, version, book, created_at, updated_at })
    }
}

/// Every price book, by name.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &AdminDb) -> Result<Vec<PriceBookRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        r#"select name, version, document::text as "document!", created_at, updated_at from price_book order by name limit $1"#,
        MOST
    );
    let rows = named("price_book.list", query.fetch_all(db.pool())).await?;
    rows.into_iter().map(Row::record).collect()
}

/// The price book of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(
    db: &AdminDb,
    name: &PriceBookName,
) -> Result<Option<PriceBookRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        r#"select name, version, document::text as "document!", created_at, updated_at from price_book where name = $1"#,
        name.as_str()
    );
    let row = named("price_book.find", query.fetch_optional(db.pool())).await?;
    row.map(Row::record).transpose()
}

/// Stores a price book, new or changed, in the request of `by`: with `if_version` only in that version, with 0 only where there is none.
/// Prices that are in effect stay as they are, by the database's clock.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &AdminDb,
    name: &PriceBookName,
    if_version: Option<i64>,
    book: &PriceBook,
    by: By,
) -> Result<PriceBookStored, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let before = match if_version {
        Some(1..) => lock(&mut tx, name).await?,
        // Made first, so that of two who make the same one at once one finds the other's.
        _ => match make(&mut tx, name, book).await? {
            Some(made) => {
                let act = Act::new(AuditAction::PriceBookPut, name).to(json!(book));
                audit::record_and_commit(tx, PLATFORM, by, act).await?;
                return Ok(PriceBookStored::Created(made));
            }
            None => lock(&mut tx, name).await?,
        },
    };
    let version = before.as_ref().map(|(before, _)| before.version);
    let Some((before, now)) = before.filter(|_| if_version.is_none() || if_version == version)
    else {
        return Ok(PriceBookStored::VersionMismatch { version });
    };
    if before.book == *book {
        return Ok(PriceBookStored::Unchanged(before));
    }
    let altered = book.alterations(&before.book, now);
    if !altered.is_empty() {
        return Ok(PriceBookStored::Alters(altered));
    }
    set(&mut tx, name, book).await?;
    let (after, _) = lock(&mut tx, name).await?.ok_or(StoreError::Contended)?;
    let act = Act::new(AuditAction::PriceBookPut, name);
    let act = act.from(json!(before.book)).to(json!(book));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(PriceBookStored::Updated(after))
}

/// How a price book is, to the end of the transaction, and what time it is.
async fn lock(
    tx: &mut PgConnection,
    name: &PriceBookName,
) -> Result<Option<(PriceBookRecord, Timestamp)>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        r#"select name, version, document::text as "document!", created_at, updated_at from price_book where name = $1 for no key update"#,
        name.as_str()
    );
    let row = named("price_book.lock", query.fetch_optional(&mut *tx)).await?;
    let Some(record) = row.map(Row::record).transpose()? else { return Ok(None) };
    // Only now: it may have waited for the lock.
    let now = named(
        "price_book.now",
        sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#).fetch_all(tx),
    )
    .await?;
    Ok(now.first().map(|now| (record, *now)))
}

async fn make(
    tx: &mut PgConnection,
    name: &PriceBookName,
    book: &PriceBook,
) -> Result<Option<PriceBookRecord>, StoreError> {
    let query = sqlx::query!(
        r#"insert into price_book (name, document) values ($1, $2::text::jsonb) on conflict (name) do nothing
            returning version, created_at, updated_at"#,
        name.as_str(),
        json!(book).to_string()
    );
    let row = named("price_book.make", query.fetch_optional(tx)).await?;
    Ok(row.map(|row| PriceBookRecord {
        name: name.clone(),
        version: row.version,
        book: book.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
    }))
}

/// Changes a price book that is locked.
async fn set(
    tx: &mut PgConnection,
    name: &PriceBookName,
    book: &PriceBook,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update price_book set document = $2::text::jsonb, version = version + 1, updated_at = now() where name = $1",
        name.as_str(),
        json!(book).to_string()
    );
    named("price_book.set", query.execute(tx)).await.map(|_| ())
}

/// Deletes a price book that no plan has ever named, in the request of `by`, with `if_version` only in that version.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &AdminDb,
    name: &PriceBookName,
    if_version: Option<i64>,
    by: By,
) -> Result<Deleted, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let Some((before, _)) = lock(&mut tx, name).await? else { return Ok(Deleted::NotFound) };
    if if_version.is_some_and(|wanted| wanted != before.version) {
        return Ok(Deleted::VersionMismatch { version: before.version });
    }
    let query = sqlx::query!("delete from price_book where name = $1", name.as_str());
    match named("price_book.delete", query.execute(&mut *tx)).await {
        Ok(_) => {}
        // A foreign key: the database decides, however two requests meet.
        Err(error) if error.sqlstate().as_deref() == Some("23503") => return Ok(Deleted::InUse),
        Err(error) => return Err(error),
    }
    let act = Act::new(AuditAction::PriceBookDelete, name).from(json!(before.book));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Deleted::Yes)
}
