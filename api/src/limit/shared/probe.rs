//! Asks since when buckets count.

use super::connection::{Away, Redis};
use std::time::Duration;

impl Redis {
    /// How long until buckets count; nothing where they do. `anew_in`: they must begin anew, in so long, unless they are about to.
    ///
    /// # Errors
    /// When Redis does not answer in time.
    pub(crate) async fn probe(&self, is_back: bool, anew_in: Duration) -> Result<Duration, Away> {
        let mut connection = self.connection.clone();
        let mut call = self.probe.prepare_invoke();
        call.key(self.since_key())
            .arg(u8::from(is_back))
            .arg(u64::try_from(anew_in.as_micros()).unwrap_or(u64::MAX));
        let wait_us: u64 = self.in_time(call.invoke_async(&mut connection)).await?;
        Ok(Duration::from_micros(wait_us))
    }
}
