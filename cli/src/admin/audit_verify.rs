//! `berth admin audit verify`.
//!
//! Reads every link of a chain and computes it anew, here: the database is asked for rows and for nothing else. It has no route: the
//! word of a server that was tampered with is worth nothing on whether its log was.

use super::database;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format};
use crate::settings_arguments::SettingsArguments;
use domain::audit::{Gap, PLATFORM, Verifier};
use domain::id::TenantId;
use runtime::config;
use serde_json::json;
use store::StoreError;
use store::connect::AdminDb;

/// Whose audit.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth admin audit verify --tenant acme\n\nExit code 0: intact; 7: rows are missing or changed."
)]
pub struct AuditVerifyArguments {
    /// Tenant, by name or id. Default: all tenants and the platform.
    #[arg(long, value_name = "NAME|ID")]
    pub tenant: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// Rows read at once.
const PAGE: i64 = 1000;

/// One chain, walked to its end.
struct Walked {
    tenant: TenantId,
    rows: u64,
    gaps: Vec<Gap>,
}

/// Walks the chains and names what is wrong.
pub async fn run(arguments: &AuditVerifyArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let walked = walk_all(&db, arguments.tenant.as_deref(), format).await;
    db.close().await;
    let (chains, broken) = walked?;
    if broken == 0 {
        return Ok(());
    }
    let message = format!("{broken} of {chains} audit chains are not intact");
    Err(Failure::new(Exit::Gap, message))
}

async fn walk_all(
    db: &AdminDb,
    tenant: Option<&str>,
    format: Format,
) -> Result<(u64, u64), Failure> {
    let failed = |error: StoreError| database::failure(&error);
    let (mut chains, mut broken, mut after) = (0, 0, None);
    loop {
        let page = match tenant {
            Some(text) => vec![known(db, text).await?],
            None => store::audit::chains(db, after, PAGE).await.map_err(failed)?,
        };
        for of in &page {
            let walked = walk(db, *of).await.map_err(failed)?;
            chains += 1;
            broken += u64::from(!walked.gaps.is_empty());
            show(&walked, format)?;
        }
        after = page.last().copied();
        if tenant.is_some() || after.is_none() {
            return Ok((chains, broken));
        }
    }
}

/// The tenant that is meant by a name or an id, and is there or was: a chain of nobody would be whole.
async fn known(db: &AdminDb, text: &str) -> Result<TenantId, Failure> {
    let failed = |error: StoreError| database::failure(&error);
    // What reads as an id is one, whatever tenants are called.
    let id = match text.parse() {
        Ok(id) => Some(id),
        Err(_) => store::tenant::find_by_name(db, text).await.map_err(failed)?,
    };
    let found = match id {
        Some(id) => store::tenant::get(db, id).await.map_err(failed)?,
        None => None,
    };
    found.map(|tenant| tenant.id).ok_or_else(|| {
        let text = format!("no tenant `{text}`; see `berth admin tenant list`");
        Failure::new(Exit::NotFound, text)
    })
}

async fn walk(db: &AdminDb, tenant: TenantId) -> Result<Walked, StoreError> {
    // The head first: what is sealed meanwhile comes after it.
    let head = store::audit::head(db, tenant).await?;
    let (mut verifier, mut rows) = (Verifier::default(), 0);
    loop {
        let mut links = store::audit::links(db, tenant, verifier.position(), PAGE).await?;
        let full = links.len() as i64 == PAGE;
        // Behind a head that was set back there are more, and that is to be seen; with a sound one there may be new ones.
        let latest = store::audit::head(db, tenant).await?;
        let grown = latest.position > head.position;
        links.retain(|link| !grown || link.position <= head.position);
        let ended = links.is_empty() || !full;
        links.iter().for_each(|link| verifier.walk(link));
        rows += links.len() as u64;
        if ended {
            return Ok(Walked { tenant, rows, gaps: verifier.finish(head) });
        }
    }
}

fn show(walked: &Walked, format: Format) -> Result<(), Failure> {
    let gaps: Vec<String> = walked.gaps.iter().map(ToString::to_string).collect();
    let tenant = Some(walked.tenant).filter(|tenant| *tenant != PLATFORM);
    let name = tenant.map_or_else(|| "platform".to_owned(), |tenant| tenant.to_string());
    match format {
        Format::Json => {
            output::line(&json!({"tenant": tenant, "rows": walked.rows, "gaps": gaps}).to_string())
        }
        Format::Table if gaps.is_empty() => {
            output::line(&format!("{name}: {} rows, whole", walked.rows))
        }
        Format::Table => gaps.iter().try_for_each(|gap| output::line(&format!("{name}: {gap}"))),
    }
}
