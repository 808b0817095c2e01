//! What one of several executors on this machine may offer: an even part of what one alone would.
//!
//! Each of them alone would find the whole machine and offer it, and it would be given away several times over. What the
//! person has set is left as it is.

use domain::resources::Resources;
use runtime::config::Config;

/// Settings of executor `number` (from 0) of `count`, where one alone would offer `whole`.
pub fn of_executor(
    config: &Config,
    whole: &Resources,
    number: u16,
    count: u16,
) -> Vec<(String, String)> {
    let executor = &config.executor;
    let parts = u64::from(count.max(1));
    let mut settings = Vec::new();
    let mut set = |name: &str, value: u64| settings.push((name.to_owned(), value.to_string()));
    for (name, is_detected, whole) in [
        ("BERTH_EXECUTOR__CPU_MILLIS", executor.cpu_millis == 0, whole.cpu_millis),
        ("BERTH_EXECUTOR__MEMORY_MIB", executor.memory_mib == 0, whole.memory_mib),
        ("BERTH_EXECUTOR__DISK_MIB", executor.disk_mib == 0, whole.disk_mib),
    ] {
        if is_detected {
            // 0 would mean "find out" again.
            set(name, (u64::from(whole) / parts).max(1));
        }
    }
    set("BERTH_EXECUTOR__IOPS", u64::from(whole.iops) / parts);
    let ports = executor.port_count / count.max(1);
    set("BERTH_EXECUTOR__PORT_FIRST", u64::from(executor.port_first) + u64::from(ports * number));
    set("BERTH_EXECUTOR__PORT_COUNT", u64::from(ports));
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::load_from;

    const WHOLE: Resources =
        Resources { cpu_millis: 2000, memory_mib: 8000, disk_mib: 90_000, iops: 10_000, ports: 0 };

    fn number(settings: &[(String, String)], name: &str) -> Option<u64> {
        let name = format!("BERTH_EXECUTOR__{name}");
        settings.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok())
    }

    #[test]
    fn nothing_is_offered_twice() {
        let config = load_from(None, []).unwrap();
        let parts: Vec<_> = (0..3).map(|n| of_executor(&config, &WHOLE, n, 3)).collect();
        let firsts: Vec<_> = parts.iter().map(|p| number(p, "PORT_FIRST").unwrap()).collect();
        assert_eq!(firsts, [20_000, 20_333, 20_666]);
        for (name, whole) in
            [("CPU_MILLIS", 2000), ("MEMORY_MIB", 8000), ("DISK_MIB", 90_000), ("IOPS", 10_000)]
        {
            let offered: u64 = parts.iter().map(|part| number(part, name).unwrap()).sum();
            assert!(offered <= whole && offered > whole * 9 / 10, "{name}: {offered}");
        }
    }

    #[test]
    fn what_was_set_is_left_alone() {
        let set = [("BERTH_EXECUTOR__CPU_MILLIS".to_owned(), "500".to_owned())];
        let config = load_from(None, set).unwrap();
        assert_eq!(number(&of_executor(&config, &WHOLE, 0, 2), "CPU_MILLIS"), None);
    }
}
