//! Processes of roles: a shell script stands in for `berth`, since this is about starting and ending, not about roles.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::poll;
use testkit::process::{RoleCommand, RoleProcess};
use testkit::spawn;

const SOON: Duration = Duration::from_secs(10);

fn start(folder: &tempfile::TempDir, script: &str) -> RoleProcess {
    let command = RoleCommand::of_program("/bin/sh", "role", folder.path()).arg("-c").arg(script);
    command.env("BERTH_API__LISTEN", "127.0.0.1:0").start().unwrap()
}

/// The one-letter state in `/proc`, `None` when the process is gone.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

async fn comes_to(pid: u32, wanted: Option<char>) {
    poll::until(&format!("state {wanted:?}"), SOON, || async { state(pid) == wanted })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_role_is_asked_for_the_addresses_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let script = "printf 'http 127.0.0.1:81\\nhealth 127.0.0.1:82\\n' >r && mv r \"$BERTH_READY_FILE\"; exec sleep 60";
    let mut role = start(&folder, &format!("cd {}; {script}", folder.path().display()));
    let addresses = role.ready(SOON).await.unwrap();
    assert_eq!(addresses.get("http").unwrap().port(), 81);
    assert_eq!(addresses.get("health").unwrap().port(), 82);
}

#[tokio::test]
async fn a_role_that_ends_before_it_is_ready_is_told_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut role = start(&folder, "echo no database here >&2; exit 3");
    let told = role.ready(SOON).await.unwrap_err().to_string();
    assert!(told.contains("no database here") && told.contains("exit status: 3"), "{told}");
}

#[tokio::test]
async fn a_role_gets_the_settings_named_for_it_and_none_of_the_tests() {
    let folder = tempfile::tempdir().unwrap();
    let role = start(&folder, "env | grep ^BERTH_ | grep -v READY_FILE; echo end");
    role.log_line(SOON, |line| (line == "end").then_some(())).await.unwrap();
    assert_eq!(role.log(), "BERTH_API__LISTEN=127.0.0.1:0\nend\n");
}

#[tokio::test]
async fn a_role_is_frozen_thawed_asked_to_end_and_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut role = start(&folder, "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done");
    role.log_line(SOON, |line| (line == "up").then_some(())).await.unwrap();
    role.stop().unwrap();
    comes_to(role.pid(), Some('T')).await;
    role.cont().unwrap();
    role.term().unwrap();
    assert_eq!(role.wait(SOON).await.unwrap().code(), Some(7));

    let mut role = start(&folder, "exec sleep 60");
    let pid = role.pid();
    role.kill9().unwrap();
    assert_eq!(state(pid), None);
    assert_eq!(role.wait(SOON).await.unwrap().signal(), Some(9));
}

#[tokio::test]
async fn a_dropped_role_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let role = start(&folder, "exec sleep 60");
    let pid = role.pid();
    drop(role);
    comes_to(pid, None).await;
}

#[test]
fn a_child_outlives_the_thread_that_asked_for_it() {
    let asking = std::thread::spawn(|| {
        let mut command = spawn::dying_with_us("sleep");
        spawn::spawn({
            command.arg("60").stdin(Stdio::null());
            command
        })
        .unwrap()
    });
    let mut child = asking.join().unwrap();
    // The death signal of a child tied to that thread would have come before its pid could be asked for again.
    let seen = Command::new("kill").args(["-0", &child.id().to_string()]).status().unwrap();
    assert!(seen.success() && child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}
