//! Each setting, one by one: it can be set by its environment variable, and a secret is never shown.
#![expect(clippy::panic, reason = "a test helper that fails is a failed test")]

use runtime::config::{Config, load_from};
use std::collections::BTreeSet;

/// Every key with a good value other than its default.
const OTHERS: &[(&str, &str)] = &[
    ("database.url", "postgres://marker_url@h/d"),
    ("database.service_password", "1234567"),
    ("database.role_prefix", "other_"),
    ("database.api_url", "postgres://marker_api@h/d"),
    ("database.submit_url", "postgres://marker_submit@h/d"),
    ("database.scheduler_url", "postgres://marker_scheduler@h/d"),
    ("database.rm_url", "postgres://marker_rm@h/d"),
    ("database.notifier_url", "postgres://marker_notifier@h/d"),
    ("database.admin_url", "postgres://marker_admin@h/d"),
    ("database.api_connections", "91"),
    ("database.tenant_connections", "91"),
    ("database.tenant_waiting", "91"),
    ("database.tenant_wait", "17s"),
    ("database.submit_connections", "91"),
    ("database.admin_connections", "91"),
    ("database.scheduler_connections", "91"),
    ("database.rm_connections", "91"),
    ("database.acquire_timeout", "17s"),
    ("database.statement_timeout", "17s"),
    ("database.pooler", "true"),
    ("bus.kind", "in_process"),
    ("bus.url", "amqp://marker_amqp@h/%2f"),
    ("bus.ca_file", "/other/ca.pem"),
    ("bus.client_cert_file", "/other/cert.pem"),
    ("bus.client_key_file", "/other/key.pem"),
    ("bus.queue_prefix", "other"),
    ("bus.queue_type", "classic"),
    ("bus.publish_timeout", "17s"),
    ("bus.hint_ttl", "3s"),
    ("bus.hint_max_length", "91"),
    ("bus.prefetch", "91"),
    ("bus.heartbeat", "17s"),
    ("bus.reconnect_max", "17s"),
    ("bus.wake_interval", "17ms"),
    ("billing.seller", "Other Ltd"),
    ("redis.url", "redis://marker_redis@h/0"),
    ("redis.ca_file", "/other/ca.pem"),
    ("redis.client_cert_file", "/other/cert.pem"),
    ("redis.client_key_file", "/other/key.pem"),
    ("redis.key_prefix", "other"),
    ("redis.connect_timeout", "91ms"),
    ("redis.command_timeout", "91ms"),
    ("api.listen", "127.0.0.1:91"),
    ("api.metrics_listen", "127.0.0.1:92"),
    ("api.tls_cert_file", "/other/cert.pem"),
    ("api.tls_key_file", "/other/key.pem"),
    ("api.workers", "91"),
    ("api.max_task_bytes", "2048"),
    ("api.max_batch_bytes", "1048576"),
    ("api.max_batch_tasks", "91"),
    ("api.max_request_memory", "33554432"),
    ("api.max_tenant_request_memory", "20971520"),
    ("api.write_timeout", "17s"),
    ("api.submit_writers", "9"),
    ("api.key_cache_ttl", "1200ms"),
    ("api.shutdown_grace", "17s"),
    ("api.request_timeout", "17s"),
    ("api.max_streams", "91"),
    ("api.max_tenant_streams", "9"),
    ("api.stream_keep_alive", "17s"),
    ("api.peer_requests_per_second", "91"),
    ("api.peer_request_burst", "91"),
    ("api.public_status", "true"),
    ("api.tenant_computing", "91"),
    ("api.tenant_computing_waiting", "91"),
    ("api.tenant_computing_wait", "17s"),
    ("api.trusted_proxies", "10.9.0.0/16"),
    ("auth.environment", "test"),
    ("auth.key_hash_secret", "marker-key-hash"),
    ("auth.executor_secret", "marker-executor"),
    ("auth.jwt_key", "marker-jwt"),
    ("auth.jwt_previous_key", "marker-previous-jwt"),
    ("auth.access_token_life", "7m"),
    ("auth.refresh_token_life", "91h"),
    ("auth.invitation_life", "91h"),
    ("auth.sign_up_plan", "other"),
    ("limits.max_execution_cap", "17h"),
    ("limits.default_execution_cap", "17s"),
    ("limits.max_delay_tolerance", "17h"),
    ("limits.default_delay_tolerance", "17s"),
    ("limits.max_attempts", "91"),
    ("limits.default_max_attempts", "9"),
    ("limits.max_env_entries", "91"),
    ("limits.max_argv", "91"),
    ("limits.idempotency_retention", "48h"),
    ("limits.history_retention_days", "91"),
    ("limits.deleted_tenant_grace", "91h"),
    ("limits.partitions_ahead_days", "9"),
    ("scheduler.listen", "127.0.0.1:91"),
    ("scheduler.batcher_lease", "2s"),
    ("scheduler.tick_max", "91ms"),
    ("scheduler.tick_busy", "91ms"),
    ("scheduler.horizon", "91ms"),
    ("scheduler.hint_batch", "91"),
    ("scheduler.sweep_age", "17s"),
    ("scheduler.due_window", "910ms"),
    ("scheduler.due_batch", "91"),
    ("scheduler.max_batch", "91"),
    ("schedules.shards", "91"),
    ("schedules.lease", "2s"),
    ("schedules.window", "17s"),
    ("schedules.max_timers", "9100"),
    ("schedules.fire_batch", "91"),
    ("schedules.misfire_after", "17s"),
    ("schedules.missed_after", "17s"),
    ("resource_manager.listen", "127.0.0.1:91"),
    ("resource_manager.tls_cert_file", "/other/cert.pem"),
    ("resource_manager.tls_key_file", "/other/key.pem"),
    ("resource_manager.health_listen", "127.0.0.1:91"),
    ("resource_manager.lease_term", "17s"),
    ("resource_manager.kill_grace", "17s"),
    ("resource_manager.hint_hold", "91ms"),
    ("resource_manager.report_interval", "91ms"),
    ("resource_manager.claim_batch", "91"),
    ("resource_manager.settle_batch", "91"),
    ("resource_manager.retry_percent_of_first_attempts", "91"),
    ("resource_manager.retry_per_second", "91"),
    ("resource_manager.retry_burst", "91"),
    ("resource_manager.breaker_failures", "91"),
    ("resource_manager.breaker_probe_interval", "17s"),
    ("resource_manager.retry_max_hold", "17s"),
    ("resource_manager.output_batch_bytes", "65536"),
    ("resource_manager.quarantine_after", "91"),
    ("resource_manager.quarantine_min", "17s"),
    ("resource_manager.quarantine_max", "17m"),
    ("resource_manager.max_connections", "91"),
    ("resource_manager.first_call_timeout", "17s"),
    ("resource_manager.shutdown_grace", "17s"),
    ("notifier.listen", "127.0.0.1:91"),
    ("notifier.private_targets", "true"),
    ("notifier.name_servers", "10.0.0.2"),
    ("notifier.timeout", "17s"),
    ("notifier.concurrency", "91"),
    ("notifier.webhook_concurrency", "9"),
    ("notifier.disable_failures", "91"),
    ("notifier.disable_after", "17h"),
    ("executor.id", "other"),
    ("executor.pool", "other"),
    ("executor.drivers", "noop"),
    ("executor.resource_managers", "http://other:1"),
    ("executor.ca_file", "/other/ca.pem"),
    ("executor.health_listen", "127.0.0.1:91"),
    ("executor.data_dir", "/other"),
    ("executor.run_as_user", "other"),
    ("executor.run_as_uids", "3000000000-3000000999"),
    ("executor.isolation", "none"),
    ("executor.visible_paths", "/opt"),
    ("executor.max_processes", "91"),
    ("executor.max_open_files", "91"),
    ("executor.max_files", "191"),
    ("executor.cpu_millis", "91"),
    ("executor.memory_mib", "91"),
    ("executor.disk_mib", "91"),
    ("executor.iops", "91"),
    ("executor.port_first", "2048"),
    ("executor.port_count", "91"),
    ("executor.name_servers", "10.0.0.2"),
    ("executor.lookup_timeout", "17s"),
    ("executor.max_lookups", "91"),
    ("executor.max_lookups_per_tenant", "9"),
    ("executor.output_head_bytes", "91"),
    ("executor.output_tail_bytes", "91"),
    ("executor.drain_grace", "17s"),
    ("executor.spool_max_bytes", "1048576"),
    ("telemetry.log", "debug"),
    ("telemetry.format", "json"),
    ("telemetry.log_queue_bytes", "65536"),
    ("telemetry.otlp_endpoint", "http://127.0.0.1:4317"),
    ("telemetry.otlp_protocol", "http"),
    ("telemetry.otlp_ca_file", "/other/ca.pem"),
    ("telemetry.otlp_headers", "authorization=Bearer x"),
    ("telemetry.otlp_metrics_interval", "30s"),
];

const SECRETS: [&str; 15] = [
    "database.url",
    "database.service_password",
    "database.api_url",
    "database.submit_url",
    "database.scheduler_url",
    "database.rm_url",
    "database.notifier_url",
    "database.admin_url",
    "bus.url",
    "redis.url",
    "auth.key_hash_secret",
    "auth.executor_secret",
    "auth.jwt_key",
    "auth.jwt_previous_key",
    "telemetry.otlp_headers",
];

fn variable(key: &str) -> String {
    format!("BERTH_{}", key.replacen('.', "__", 1).to_uppercase())
}

fn with(pairs: &[(&str, &str)]) -> Config {
    let environment = pairs.iter().map(|(key, value)| (variable(key), (*value).to_owned()));
    load_from(None, environment).unwrap_or_else(|error| panic!("{error}"))
}

/// `section.key` of each line of a config as TOML.
fn keys(toml: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut keys = BTreeSet::new();
    for line in toml.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once(" = ")
            && !line.starts_with('#')
        {
            keys.insert(format!("{section}.{key}"));
        }
    }
    keys
}

#[test]
fn each_setting_can_be_set_by_its_environment_variable() {
    let listed: BTreeSet<String> = OTHERS.iter().map(|(key, _)| (*key).to_owned()).collect();
    assert_eq!(listed, keys(runtime::config::DEFAULT_TOML), "this test must list every key");
    let default = with(&[]);
    for (key, value) in OTHERS {
        let config = with(&[(key, value)]);
        if SECRETS.contains(key) {
            continue;
        }
        assert_ne!(format!("{config:?}"), format!("{default:?}"), "{key} changed nothing");
        assert!(config.redacted_toml().contains(value), "{key}");
    }
    with(OTHERS);
}

#[test]
fn no_secret_is_shown_by_debug_or_by_the_redacted_settings() {
    let config = with(OTHERS);
    let shown = format!("{config:?}{config:#?}{}", config.redacted_toml());
    for (key, value) in OTHERS.iter().filter(|(key, _)| SECRETS.contains(key)) {
        assert!(!shown.contains(value), "{key} is shown");
    }
    assert!(!shown.contains("marker"), "{shown}");
    assert_eq!(keys(config.redacted_toml()), keys(runtime::config::DEFAULT_TOML));
}

#[test]
fn a_secret_of_the_wrong_type_is_not_quoted() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), "[database]\nservice_password = 7654321\n").expect("written");
    let error = load_from(Some(file.path()), []).expect_err("a number is no password").to_string();
    assert!(error.contains("database.service_password") && !error.contains("7654321"), "{error}");
}

#[test]
fn the_shown_settings_load_again() {
    let plain: Vec<_> = OTHERS.iter().filter(|(key, _)| !SECRETS.contains(key)).copied().collect();
    let config = with(&plain);
    let shown = config.redacted_toml().replace("\"[redacted]\"", "\"amqp://h\"");
    let shown = shown.replacen("\nurl = \"amqp://h\"\n", "\nurl = \"postgres://h/d\"\n", 2);
    let shown = shown.replacen("\nurl = \"postgres://h/d\"\n", "\nurl = \"amqp://h\"\n", 1);
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), shown).expect("written");
    let again = load_from(Some(file.path()), []).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.redacted_toml(), config.redacted_toml());
}
