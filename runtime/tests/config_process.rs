//! Settings from a real process's environment: this binary runs itself with variables set.
#![expect(clippy::expect_used, reason = "a test helper that fails is a failed test")]

use runtime::config::{load, load_around, variable};
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

/// This binary again, running just `test`, which sees `BERTH_TEST_INNER` and does the inner part.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test]).env("BERTH_TEST_INNER", "1");
    command
}

fn is_inner() -> bool {
    variable("BERTH_TEST_INNER").is_some()
}

#[test]
fn berth_config_names_the_file_and_the_environment_beats_it() {
    if is_inner() {
        let config = load(None).expect("good settings");
        assert_eq!((config.api.workers, config.api.submit_writers), (9, 7));
        return;
    }
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), "[api]\nworkers = 5\nsubmit_writers = 7\n").expect("written");
    let status = again("berth_config_names_the_file_and_the_environment_beats_it")
        .env("BERTH_CONFIG", file.path())
        .env("BERTH_API__WORKERS", "9")
        .status();
    assert!(status.expect("it runs").success());
}

#[test]
fn a_variable_beats_a_programs_weaker_settings_and_its_stronger_ones_beat_that() {
    if is_inner() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let weaker = [pair("BERTH_API__WORKERS", "5"), pair("BERTH_API__SUBMIT_WRITERS", "6")];
        let stronger = [pair("BERTH_API__MAX_BATCH_TASKS", "8")];
        let config = load_around(None, &weaker, &stronger).expect("good settings");
        let api = config.api;
        assert_eq!((api.workers, api.submit_writers, api.max_batch_tasks), (9, 6, 8));
        return;
    }
    let status =
        again("a_variable_beats_a_programs_weaker_settings_and_its_stronger_ones_beat_that")
            .env("BERTH_API__WORKERS", "9")
            .env("BERTH_API__MAX_BATCH_TASKS", "9")
            .status();
    assert!(status.expect("it runs").success());
}

#[test]
fn a_setting_that_is_not_unicode_is_refused_by_its_name() {
    if is_inner() {
        let error = load(None).expect_err("not Unicode").to_string();
        assert!(error.contains("BERTH_TELEMETRY__LOG"), "{error}");
        return;
    }
    let status = again("a_setting_that_is_not_unicode_is_refused_by_its_name")
        .env("BERTH_TELEMETRY__LOG", std::ffi::OsString::from_vec(vec![0xff, b'x']))
        .status();
    assert!(status.expect("it runs").success());
}

#[test]
#[cfg(not(feature = "fault-points"))]
fn faults_are_refused_by_a_build_that_has_no_fault_points() {
    if is_inner() {
        let error = load(None).expect_err("no fault points");
        assert!(matches!(error, runtime::config::ConfigError::NoFaultPoints), "{error}");
        return;
    }
    let status = again("faults_are_refused_by_a_build_that_has_no_fault_points")
        .env("BERTH_FAULTS", "a.b=kill")
        .status();
    assert!(status.expect("it runs").success());
}
