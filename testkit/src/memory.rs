//! How much memory a process takes, as the kernel counts it.

use anyhow::Context;

/// Resident now, KiB.
pub fn resident_kib(pid: u32) -> anyhow::Result<usize> {
    field(pid, "VmRSS:")
}

/// Most that was ever resident, KiB.
pub fn peak_kib(pid: u32) -> anyhow::Result<usize> {
    field(pid, "VmHWM:")
}

fn field(pid: u32, name: &str) -> anyhow::Result<usize> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let text = status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
    Ok(text.with_context(|| format!("no {name} in {status}"))?.trim().parse()?)
}
