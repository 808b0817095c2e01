//! `bench/report/results.json`, replaced by each run.

use super::Results;
use std::fs;
use std::path::PathBuf;
use testkit::settings;

pub(super) fn write(results: &Results) -> anyhow::Result<PathBuf> {
    let folder = settings::workspace().join("bench/report");
    fs::create_dir_all(&folder)?;
    let path = folder.join("results.json");
    fs::write(&path, serde_json::to_vec_pretty(results)?)?;
    Ok(path)
}
