//! What one of several executors on this machine may offer: an even part of its cores, memory and ports.
//!
//! Each of them alone would find the whole machine and offer it, and it would be given away several times over. What the
//! person has set is left as it is.

use runtime::config::Config;

/// Memory left to the system and to Berth, MiB, and at least a tenth: as an executor alone has it.
const SYSTEM_MEMORY_MIB: u64 = 256;

/// Settings of executor `number` (from 0) of `count`.
pub fn of_executor(config: &Config, number: u16, count: u16) -> Vec<(String, String)> {
    let executor = &config.executor;
    let mut settings = Vec::new();
    let mut set = |name: &str, value: u64| settings.push((name.to_owned(), value.to_string()));
    let parts = u64::from(count.max(1));
    if executor.cpu_millis == 0 {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        set("BERTH_EXECUTOR__CPU_MILLIS", (cores as u64 * 1000 / parts).max(1));
    }
    if executor.memory_mib == 0 {
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        if let Some(total) = total_mib(&meminfo) {
            let offered = total.saturating_sub(SYSTEM_MEMORY_MIB.max(total / 10));
            set("BERTH_EXECUTOR__MEMORY_MIB", (offered / parts).max(1));
        }
    }
    let ports = executor.port_count / count.max(1);
    set("BERTH_EXECUTOR__PORT_FIRST", u64::from(executor.port_first) + u64::from(ports * number));
    set("BERTH_EXECUTOR__PORT_COUNT", u64::from(ports));
    settings
}

fn total_mib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::load_from;

    fn number(settings: &[(String, String)], name: &str) -> Option<u64> {
        settings.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.parse().ok())
    }

    #[test]
    fn no_port_and_no_core_is_offered_twice() {
        let config = load_from(None, []).unwrap();
        let parts: Vec<_> = (0..3).map(|n| of_executor(&config, n, 3)).collect();
        let firsts: Vec<_> =
            parts.iter().map(|p| number(p, "BERTH_EXECUTOR__PORT_FIRST").unwrap()).collect();
        assert_eq!(firsts, [20_000, 20_333, 20_666]);
        let cores = std::thread::available_parallelism().unwrap().get() as u64;
        let offered: u64 =
            parts.iter().map(|p| number(p, "BERTH_EXECUTOR__CPU_MILLIS").unwrap()).sum();
        assert!(offered <= cores * 1000);
    }

    #[test]
    fn what_was_set_is_left_alone() {
        let set = [("BERTH_EXECUTOR__CPU_MILLIS".to_owned(), "500".to_owned())];
        let config = load_from(None, set).unwrap();
        assert_eq!(number(&of_executor(&config, 0, 2), "BERTH_EXECUTOR__CPU_MILLIS"), None);
    }
}
