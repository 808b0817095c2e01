//! A secret that was made just now, which is in this answer alone: no URL, cookie or log has it, and no cache keeps the page.

use super::words::path;
use crate::frame::{Frame, Section};
use crate::visit::Visit;
use crate::words::Moment;
use api_types::{Secret, Webhook};
use askama::Template;

/// The page.
#[derive(Template)]
#[template(path = "webhooks/secret.html")]
pub(super) struct SecretPage {
    frame: Frame,
    title: &'static str,
    name: String,
    path: String,
    secret: Option<Secret>,
    old_until: Option<Moment>,
}

impl SecretPage {
    /// Of a webhook that has its secret with it.
    pub(super) fn of(visit: &Visit, webhook: Webhook, title: &'static str) -> Self {
        let name = webhook.name.to_string();
        Self {
            frame: Frame::new(visit, Section::Webhooks, title),
            title,
            path: path(&name),
            name,
            secret: webhook.secret.as_deref().map(Secret::from),
            old_until: webhook.old_secret_until.map(Moment),
        }
    }
}
