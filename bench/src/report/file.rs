//! `bench/report/results.json` and the chart beside it, replaced by each run.

use super::{Results, chart};
use std::fs;
use std::path::PathBuf;
use testkit::settings;

pub(super) fn write(results: &Results) -> anyhow::Result<PathBuf> {
    let folder = settings::workspace().join("bench/report");
    fs::create_dir_all(&folder)?;
    let path = folder.join("results.json");
    fs::write(&path, serde_json::to_vec_pretty(results)?)?;
    fs::write(path.with_extension("svg"), chart::svg(results))?;
    Ok(path)
}
