//! Asks since when buckets count.

use super::away::Away;
use super::connection::{Redis, micros};
use std::time::Duration;

/// Buckets begin anew where nobody was told for so long that they count. The second between two probes, and what an outage may
/// take that is charged afterwards.
pub(super) const UNCOUNTED: Duration = Duration::from_secs(3);

impl Redis {
    /// How long until buckets count; nothing where they do. Where the caller was `away`, and for a while of that nobody else
    /// counted here either, they begin anew, in `anew_in`.
    ///
    /// # Errors
    /// When Redis does not answer in time.
    pub(crate) async fn probe(
        &self,
        away: Option<Duration>,
        anew_in: Duration,
    ) -> Result<Duration, Away> {
        self.probe_after(UNCOUNTED, away, anew_in).await
    }

    /// The same, with the time in which nobody must have counted.
    pub(super) async fn probe_after(
        &self,
        uncounted: Duration,
        away: Option<Duration>,
        anew_in: Duration,
    ) -> Result<Duration, Away> {
        let mut connection = self.connection();
        let mut call = self.probe.prepare_invoke();
        call.key(self.since_key())
            .key(self.key("seen"))
            .arg(away.map_or(0, micros))
            .arg(micros(anew_in))
            .arg(micros(uncounted));
        let wait_us: u64 = self.in_time(call.invoke_async(&mut connection)).await?;
        Ok(Duration::from_micros(wait_us))
    }
}
