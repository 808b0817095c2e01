//! `GET /v1/admin/usage-events`.

use crate::send::Call;
use crate::{Client, ClientError, Cursor};
use bytes::Bytes;

/// Events for a billing provider.
#[derive(Debug, Clone)]
pub struct UsageEvents {
    /// An event a line, in JSON; empty where there is nothing new.
    pub lines: Bytes,
    /// Where to go on, also where there was nothing. Keep it after the events were sent: then none is left out.
    pub next: Cursor,
}

impl Client {
    /// At most `limit` events (1 to 10000; the server's default is 1000) of this format, `openmeter` or `stripe`, behind a cursor; from the
    /// beginning without one. An operator key is needed.
    ///
    /// # Errors
    /// 400 for another format or limit, or a cursor of another cluster; no response.
    pub async fn usage_events(
        &self,
        format: &str,
        limit: Option<u32>,
        after: Option<&Cursor>,
    ) -> Result<UsageEvents, ClientError> {
        let query = [
            ("format", Some(format.to_owned())),
            ("limit", limit.map(|limit| limit.to_string())),
            ("cursor", after.map(|cursor| cursor.as_str().to_owned())),
        ];
        let (lines, next) =
            self.fetch_page(Call::get("v1/admin/usage-events").query(query)).await?;
        let next = next.ok_or_else(|| self.not_the_api("the response has no Next-Cursor"))?;
        Ok(UsageEvents { lines, next })
    }
}
