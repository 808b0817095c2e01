//! What is kept between two commands, and what is made from the arguments: profiles, completions, manual pages.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `berth` with its own home and nothing else of Berth in its environment.
fn berth(home: &Path, line: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BERTH_"))
    {
        command.env_remove(name);
    }
    let pipes =
        command.args(line).env("HOME", home).env_remove("XDG_CONFIG_HOME").stdin(Stdio::piped());
    let mut child = pipes.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that reads nothing may be gone by now.
    let _written = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_login_is_kept_for_its_owner_only_and_used_from_then_on() {
    let home = tempfile::tempdir().unwrap();
    let login = ["login", "--offline", "--server", "http://127.0.0.1:1"];
    let output = berth(home.path(), &login, "berth_live_hunter2\n");
    assert!(output.status.success(), "{}", error(&output));
    assert!(!error(&output).contains("hunter2"));
    let file = home.path().join(".config/berth/config.toml");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&file).unwrap().contains("berth_live_hunter2"));

    // The kept server is asked, with the kept key: so it is unreachable, and not without a key.
    let output = berth(home.path(), &["list"], "");
    assert_eq!(output.status.code(), Some(5), "{}", error(&output));
    assert!(error(&output).contains("http://127.0.0.1:1") && !error(&output).contains("hunter2"));
    // Another server does not get this key.
    let output = berth(home.path(), &["list", "--server", "http://127.0.0.1:2"], "");
    assert_eq!(output.status.code(), Some(4), "{}", error(&output));

    let staging = ["login", "--offline", "--profile", "staging", "--server", "http://127.0.0.1:3"];
    assert!(berth(home.path(), &staging, "berth_test_k\n").status.success());
    let listed = String::from_utf8(berth(home.path(), &["profile", "list"], "").stdout).unwrap();
    assert!(
        listed.contains("*  staging")
            && listed.contains("default")
            && !listed.contains("berth_test_k"),
        "{listed}"
    );
    assert!(berth(home.path(), &["profile", "use", "default"], "").status.success());
    assert!(error(&berth(home.path(), &["list"], "")).contains("http://127.0.0.1:1"));
    assert!(
        error(&berth(home.path(), &["list", "--profile", "staging"], ""))
            .contains("http://127.0.0.1:3")
    );
    let output = berth(home.path(), &["profile", "use", "nobody"], "");
    assert!(
        output.status.code() == Some(2) && error(&output).contains("default, staging"),
        "{}",
        error(&output)
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600,
        "after a rewrite, too"
    );
}

#[test]
fn an_operators_key_is_kept_beside_the_customers_and_each_command_uses_its_own() {
    let home = tempfile::tempdir().unwrap();
    let none = berth(home.path(), &["admin", "tenant", "list"], "");
    let said = error(&none);
    assert_eq!(none.status.code(), Some(4), "{said}");
    for hint in ["BERTH_OPERATOR_KEY", "berth admin login", "--first", "operator.env"] {
        assert!(said.contains(hint), "{hint}: {said}");
    }
    let server = ["--server", "http://127.0.0.1:1"];
    let login = |line: &[&str], key: &str| {
        let output = berth(home.path(), &[line, &server].concat(), key);
        assert!(output.status.success(), "{}", error(&output));
    };
    login(&["admin", "login", "--offline"], "berthop_live_hunter2\n");
    // One kind of key is none of the other.
    assert_eq!(berth(home.path(), &["list"], "").status.code(), Some(4));
    assert_eq!(berth(home.path(), &["admin", "plan", "list"], "").status.code(), Some(5));
    login(&["login", "--offline"], "berth_live_hunter3\n");
    let file = fs::read_to_string(home.path().join(".config/berth/config.toml")).unwrap();
    assert!(file.contains("berthop_live_hunter2") && file.contains("berth_live_hunter3"));
    for line in [&["list"][..], &["admin", "whoami"]] {
        let output = berth(home.path(), line, "");
        assert_eq!(output.status.code(), Some(5), "{}", error(&output));
        assert!(!error(&output).contains("hunter"), "{}", error(&output));
    }
    let other = ["admin", "whoami", "--server", "http://127.0.0.1:2"];
    assert_eq!(berth(home.path(), &other, "").status.code(), Some(4));
}

#[test]
fn a_file_that_is_broken_or_open_to_others_is_told_without_its_keys() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/berth");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("config.toml");
    fs::write(&file, "[profiles.a]\nserver = \"http://127.0.0.1:1\"\napi_key = \"hunter2").unwrap();
    let output = berth(home.path(), &["list"], "");
    let said = error(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("config.toml, line 3") && !said.contains("hunter2"), "{said}");
    fs::write(
        &file,
        "current = \"a\"\n[profiles.a]\nserver = \"http://127.0.0.1:1\"\napi_key = \"hunter2\"\n",
    )
    .unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(error(&berth(home.path(), &["list"], "")).contains("chmod 600"));
    let output = berth(home.path(), &["login", "--server", "http://127.0.0.1:1"], "\n");
    assert!(
        output.status.code() == Some(2) && error(&output).contains("empty"),
        "{}",
        error(&output)
    );
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script =
            String::from_utf8(berth(home.path(), &["completions", shell], "").stdout).unwrap();
        for command in ["submit", "watch", "login", "profile", "logs"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    let output = berth(home.path(), &["man", home.path().to_str().unwrap()], "");
    assert!(output.status.success(), "{}", error(&output));
    for page in ["berth.1", "berth-submit.1", "berth-watch.1", "berth-profile-use.1"] {
        assert!(home.path().join(page).is_file(), "{page}");
    }
    let nowhere = berth(home.path(), &["man", "/does/not/exist"], "");
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn a_file_of_tasks_that_cannot_be_read_is_told() {
    let home = tempfile::tempdir().unwrap();
    let line = ["submit", "--file", "/does/not/exist", "--api-key", "k"];
    let output = berth(home.path(), &line, "");
    assert!(
        output.status.code() == Some(2) && error(&output).contains("/does/not/exist"),
        "{}",
        error(&output)
    );
    let line = ["submit", "--file", "-", "--api-key", "k", "--server", "http://127.0.0.1:1"];
    let output = berth(home.path(), &line, "\n\n");
    assert!(
        output.status.code() == Some(2) && error(&output).contains("no line with a task"),
        "{}",
        error(&output)
    );
}
