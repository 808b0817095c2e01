//! `berth webhook rotate`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::set::secret;
use super::show::{tell, tell_secret};
use crate::failure::Failure;
use crate::lifetime::overlap;
use crate::output::{self, Format};
use chrono::TimeDelta;
use client::WebhookRotate;
use domain::id::WebhookName;
use domain::time::format_time;

/// Which webhook, and for how long its secret stays good.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth webhook rotate ops --keep-old 1h")]
pub struct RotateArguments {
    /// Name.
    pub name: WebhookName,
    /// Time for which the old secret signs as well, such as 0s, 12h or 7d; up to 30d. Default: 24h.
    #[arg(long, value_name = "DURATION", value_parser = overlap)]
    pub keep_old: Option<TimeDelta>,
    /// File with the new secret: whsec_ and the base64 of 24 to 64 bytes. Default: a random one.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<String>,
}

/// Gives a webhook another secret and prints it.
pub async fn run(connection: &Connection, arguments: &RotateArguments) -> Result<(), Failure> {
    let keep_old = arguments.keep_old.and_then(|length| length.to_std().ok());
    let own = arguments.secret_file.as_deref().map(secret).transpose()?;
    let rotate = WebhookRotate { secret: own.clone(), keep_old: keep_old.map(Into::into) };
    let name = &arguments.name;
    let rotated = connection.client.rotate_webhook(name, &rotate).await;
    let rotated = rotated.map_err(|error| failure(&error))?;
    if connection.format == Format::Json {
        return output::document(rotated.json());
    }
    match &rotated.secret {
        _ if own.is_some() => tell(connection, Ok(rotated)),
        Some(secret) => {
            if let Some(end) = rotated.old_secret_until {
                let end = format_time(end);
                output::remark(&format!("The old secret signs as well until {end}."));
            }
            tell_secret(&format!("Webhook `{name}` has another secret."), secret)
        }
        None => Err(Failure::failed(format!(
            "webhook `{name}` has another secret, but the response with it was lost: rotate it again"
        ))),
    }
}
