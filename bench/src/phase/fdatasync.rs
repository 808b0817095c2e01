//! Durable writes of 8 kB per second: the bound of single commits.

use crate::report::Measured;
use runtime::clock;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Writes one page of an existing file over and over, as a database writes its log.
pub fn fdatasync(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let page = [7u8; 8192];
    // Where the private engines have their data, too.
    let file: File = tempfile::tempfile()?;
    file.write_all_at(&[0u8; 16 * 8192], 0)?;
    file.sync_all()?;
    let (began, mut done) = (clock::monotonic(), 0u32);
    while began.elapsed() < length {
        file.write_all_at(&page, u64::from(done % 16) * 8192)?;
        file.sync_data()?;
        done += 1;
    }
    Ok(vec![Measured::new("fdatasync_per_s", f64::from(done) / began.elapsed().as_secs_f64())])
}
