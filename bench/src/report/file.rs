//! The files of `bench/report`, replaced by each run.

use super::{Results, chart};
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use testkit::settings;

pub(super) fn write(results: &Results) -> anyhow::Result<PathBuf> {
    let path = write_json("results.json", results)?;
    fs::write(path.with_extension("svg"), chart::svg(results))?;
    Ok(path)
}

/// Writes one file, and returns where it is.
pub fn write_json(name: &str, content: &impl Serialize) -> anyhow::Result<PathBuf> {
    let folder = settings::workspace().join("bench/report");
    fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    fs::write(&path, serde_json::to_vec_pretty(content)?)?;
    Ok(path)
}
