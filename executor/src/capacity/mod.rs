//! What this machine offers: as configured, or as found where the configuration says 0.

use domain::resources::Resources;
use nix::sys::statvfs::statvfs;
use protocol::Capacity;
use runtime::config::ExecutorConfig;
use std::path::Path;

/// Memory left to the system and to Berth when it is detected, MiB, and at least a tenth.
const SYSTEM_MEMORY_MIB: u64 = 256;

/// The capacity that `Hello` announces.
pub(crate) fn announced(config: &ExecutorConfig) -> Capacity {
    Capacity::new(offered(config), config.port_first)
}

/// What an executor with these settings offers on this machine, if no other runs there. What cannot be detected counts
/// as nothing, so that too little is offered and never too much.
#[must_use]
pub fn offered(config: &ExecutorConfig) -> Resources {
    let detected = |configured: u64, detect: &dyn Fn() -> u64| {
        let amount = if configured == 0 { detect() } else { configured };
        u32::try_from(amount).unwrap_or(u32::MAX)
    };
    Resources {
        cpu_millis: detected(config.cpu_millis.into(), &cpu_millis),
        memory_mib: detected(config.memory_mib, &memory_mib),
        disk_mib: detected(config.disk_mib, &|| free_disk_mib(&config.data_dir)),
        iops: config.iops,
        ports: config.port_count.into(),
    }
}

fn cpu_millis() -> u64 {
    std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64 * 1000)
}

fn memory_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = total_kib(&text).unwrap_or(0) / 1024;
    total.saturating_sub(SYSTEM_MEMORY_MIB.max(total / 10))
}

fn total_kib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Of the disk that holds `folder`, or will once it is made.
fn free_disk_mib(folder: &Path) -> u64 {
    let there = folder.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
    statvfs(there).map_or(0, |found| {
        let blocks: u64 = found.blocks_available();
        blocks.saturating_mul(found.fragment_size()) / (1024 * 1024)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_something_to_offer() {
        assert_eq!(total_kib("MemTotal:       24684756 kB\nMemFree: 1 kB\n"), Some(24_684_756));
        assert!(cpu_millis() >= 1000);
        assert!(memory_mib() > 0);
        assert!(free_disk_mib(Path::new("/")) > 0);
        assert!(free_disk_mib(Path::new("/no/such/folder")) > 0);
    }
}
