//! Settings: which layer wins, and that nothing unknown, mistyped or out of range gets through.
#![expect(clippy::expect_used, reason = "a test helper that fails is a failed test")]

use runtime::config::{Config, ConfigError, DEFAULT_TOML, load_from};
use std::io::Write;

fn with(environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let owned = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    load_from(None, owned)
}

fn with_file(text: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    let owned = environment.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    load_from(Some(file.path()), owned)
}

fn refused(result: Result<Config, ConfigError>) -> String {
    result.expect_err("must be refused").to_string()
}

#[test]
fn the_defaults_are_complete_and_in_range() {
    // A key of the file without a field is refused by serde, a field without a key is missing.
    let config = with(&[]).expect("the defaults load");
    assert_eq!(config.api.listen.port(), 8080);
    assert_eq!(config.resource_manager.lease_term.as_secs(), 15);
    assert_eq!(config.executor.resource_managers, ["http://127.0.0.1:7070"]);
}

#[test]
fn every_default_has_a_comment_above_it() {
    let lines: Vec<&str> = DEFAULT_TOML.lines().collect();
    for pair in lines.windows(2) {
        let is_setting = !pair[1].starts_with('#') && pair[1].contains(" = ");
        assert!(!is_setting || pair[0].starts_with('#'), "no comment above: {}", pair[1]);
    }
}

#[test]
fn the_environment_beats_the_file_and_the_file_beats_the_defaults() {
    let file = "[api]\nworkers = 5\nmax_batch_tasks = 77\n";
    let config = with_file(file, &[("BERTH_API__WORKERS", "9")]).expect("good settings");
    assert_eq!((config.api.workers, config.api.http_workers()), (9, 9));
    assert_eq!(config.api.max_batch_tasks, 77);
    assert_eq!(config.api.submit_writers, 1);
}

#[test]
fn an_unknown_key_in_the_file_is_refused_by_its_name() {
    let error = refused(with_file("[scheduler]\nhorizont = \"50ms\"\n", &[]));
    assert!(error.contains("`scheduler.horizont`"), "{error}");
    assert!(error.contains("did you mean `scheduler.horizon`?"), "{error}");
    let error = refused(with_file("[schedular]\nhorizon = \"50ms\"\n", &[]));
    assert!(error.contains("`schedular`") && error.contains("`scheduler`"), "{error}");
    let error = refused(with_file("workers = 3\n", &[]));
    assert!(error.contains("`workers`"), "{error}");
}

#[test]
fn an_unknown_key_in_the_environment_is_refused_by_its_name() {
    let error = refused(with(&[("BERTH_FOO__BAR", "1")]));
    assert!(error.contains("`foo.bar`") && error.contains("BERTH_FOO__BAR"), "{error}");
    let error = refused(with(&[("BERTH_DATABASE__RM_ULR", "x")]));
    assert!(error.contains("did you mean `database.rm_url`?"), "{error}");
    let error = refused(with(&[("BERTH_API__LISTEN__PORT", "1")]));
    assert!(error.contains("`api.listen__port`"), "{error}");
}

#[test]
fn one_underscore_too_few_is_refused_and_other_variables_are_left_alone() {
    let error = refused(with(&[("BERTH_BUS_URL", "amqp://x")]));
    assert!(error.contains("BERTH_BUS__URL"), "{error}");
    with(&[("BERTH_CONFIG", "x"), ("BERTH_TEST_DATABASE_URL", "y"), ("HOME", "/")])
        .expect("these are no settings");
}

#[test]
fn all_problems_are_told_at_once_with_their_origin() {
    let file = "[bus]\nprefetch = 0\n";
    let error = refused(with_file(file, &[("BERTH_SCHEDULER__HORIZON", "300ms")]));
    assert!(error.contains("`scheduler.horizon` (the environment variable BERTH_SCHEDULER__HORIZON): is \"300ms\"; use \"0s\" to \"250ms\""), "{error}");
    assert!(error.contains("`bus.prefetch` (the file "), "{error}");
    assert!(error.contains("is 0; use a number from 1 to 1000"), "{error}");
}

#[test]
fn no_number_of_http_threads_is_half_of_the_cores() {
    let config = with_file("", &[("BERTH_API__WORKERS", "0")]).expect("good settings");
    assert_eq!(config.api.http_workers(), runtime::cores::half());
    assert_eq!([0, 1, 2, 3, 8].map(runtime::cores::half_of), [1, 1, 1, 1, 4]);
    let error = refused(with_file("", &[("BERTH_API__WORKERS", "257")]));
    assert!(error.contains("`api.workers`") && error.contains("from 0 to 256"), "{error}");
}

#[test]
fn a_value_of_the_wrong_form_is_refused_with_its_key() {
    for (variable, value, key, advice) in [
        ("BERTH_API__WORKERS", "two", "`api.workers`", "whole number"),
        ("BERTH_API__WORKERS", "-1", "`api.workers`", ""),
        ("BERTH_API__LISTEN", "localhost", "`api.listen`", "IP:port"),
        ("BERTH_DATABASE__POOLER", "yes", "`database.pooler`", "true or false"),
        ("BERTH_DATABASE__RM_URL", "mysql://x", "`database.rm_url`", "postgres://"),
        ("BERTH_SCHEDULER__SWEEP_AGE", "5", "`scheduler.sweep_age`", "\"90s\""),
        ("BERTH_BUS__KIND", "kafka", "`bus.kind`", "rabbitmq"),
        ("BERTH_BUS__HEARTBEAT", "1500ms", "`bus.heartbeat`", "whole seconds"),
        ("BERTH_TELEMETRY__OTLP_PROTOCOL", "kafka", "`telemetry.otlp_protocol`", "http"),
        ("BERTH_TELEMETRY__LOG_QUEUE_BYTES", "1", "`telemetry.log_queue_bytes`", "4096"),
        ("BERTH_EXECUTOR__POOL", "No Pool", "`executor.pool`", "a-z"),
        ("BERTH_EXECUTOR__RESOURCE_MANAGERS", "", "`executor.resource_managers`", "at least one"),
        ("BERTH_EXECUTOR__PORT_FIRST", "65000", "`executor.port_count`", "65535"),
        ("BERTH_BUS__HINT_TTL", "6s", "`scheduler.sweep_age`", "bus.hint_ttl"),
        ("BERTH_LIMITS__DEFAULT_EXECUTION_CAP", "25h", "`limits.default_execution_cap`", "24h"),
    ] {
        let error = refused(with(&[(variable, value)]));
        assert!(error.contains(key) && error.contains(advice), "{variable}={value}: {error}");
    }
}

#[test]
fn a_file_that_is_missing_or_not_toml_is_refused_by_its_path() {
    let error = load_from(Some(std::path::Path::new("/nonexistent/berth.toml")), []);
    assert!(refused(error).contains("/nonexistent/berth.toml"));
    let error = with_file("[api\n", &[]);
    assert!(matches!(error, Err(ConfigError::Syntax { .. })), "{error:?}");
}

#[test]
fn a_list_is_read_with_commas_or_as_in_the_file() {
    for text in
        ["http://a:1,http://b:2", " http://a:1 , http://b:2,", r#"["http://a:1", "http://b:2"]"#]
    {
        let config = with(&[("BERTH_EXECUTOR__RESOURCE_MANAGERS", text)]).expect(text);
        assert_eq!(config.executor.resource_managers, ["http://a:1", "http://b:2"]);
    }
}
