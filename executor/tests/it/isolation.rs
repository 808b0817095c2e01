//! What an isolated command sees and cannot do, asked from inside.

use crate::agent::{Agent, Home};
use crate::host::{marked, unique_marker, until};
use crate::rm::{LIMIT, Rm, bash, outcome};
use nix::sys::signal::Signal;
use protocol::Capacity;
use protocol::output_chunk::Stream;
use protocol::result::Outcome;
use std::fs;
use std::process::Command;

/// What a mount may show of the machine's own file systems.
const SYSTEM: [&str; 7] = ["/bin", "/etc", "/lib", "/lib32", "/lib64", "/sbin", "/usr"];

/// Runs a script and returns what it wrote.
async fn said(rm: &Rm, script: &str) -> String {
    let lease = rm.assign(&bash(script));
    let result = rm.result(lease).await;
    let (out, err) = (rm.output_text(lease, Stream::Stdout), rm.output_text(lease, Stream::Stderr));
    assert_eq!(outcome(&result), Outcome::Succeeded, "{}\n{out}\n{err}", result.reason);
    out
}

/// `a=b` lines.
fn value<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    assert!(found.is_some(), "no {name} in\n{text}");
    found.unwrap()
}

/// `text` is what a command wrote of itself.
fn has_its_user_and_knows_no_path_of_the_host(home: &Home, text: &str) {
    if nix::unistd::geteuid().is_root() {
        let uid: u32 = value(text, "uid").parse().unwrap();
        let own =
            if home.is_unprivileged() { 65_534..=65_534 } else { 2_000_000_000..=2_000_065_535 };
        assert!(own.contains(&uid), "{text}");
    }
    let mounts = value(text, "mounts");
    if !is_overlay(home.path()) && (is_of_root(home) || may_users_mount()) {
        assert_eq!(mounts, "", "no path of the executor's");
        assert_eq!(value(text, "work"), "/;empty;files;overlay;");
    } else {
        // An overlay cannot be mounted: the path of the work folder alone is there.
        assert_eq!(mounts.matches(';').count(), 1, "{mounts}");
        assert!(mounts.contains("/data/work/task_") && mounts.ends_with("-1 /work;"), "{mounts}");
    }
    // Whatever else is mounted shows a path that each machine has.
    let roots = value(text, "roots").split_whitespace().filter_map(|mount| mount.split_once('>'));
    let strange: Vec<_> =
        roots.filter(|(root, target)| *target != "/work" && !may_show(root, target)).collect();
    assert!(strange.is_empty(), "{strange:?} in\n{text}");
}

/// Whether a mount at `target` may show that it is `root` of some file system: a whole one, a part of the system, a device, or what
/// bubblewrap has made: the root, and files of its own in /etc.
fn may_show(root: &str, target: &str) -> bool {
    let is_below = |part: &&str| {
        root.strip_prefix(*part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match root {
        "/" => true,
        "/newroot" => target == "/",
        _ if root.starts_with("/bindfile") => target.starts_with("/etc/"),
        _ => target == format!("/dev{root}") || SYSTEM.iter().any(|part| is_below(part)),
    }
}

/// Whether the executor of `home` runs as root.
fn is_of_root(home: &Home) -> bool {
    nix::unistd::geteuid().is_root() && !home.is_unprivileged()
}

/// Whether an ordinary user can mount an overlay in a user namespace: from Linux 5.11, and where AppArmor does not forbid it
/// to programs without a profile (Ubuntu 24.04).
fn may_users_mount() -> bool {
    let release = nix::sys::utsname::uname().unwrap().release().to_str().unwrap().to_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    let restricted = fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    version >= (5, 11) && restricted.map_or(true, |text| text.trim() != "1")
}

/// Of a container's own file system, on which no second overlay can write.
fn is_overlay(path: &std::path::Path) -> bool {
    nix::sys::statfs::statfs(path)
        .is_ok_and(|found| found.filesystem_type() == nix::sys::statfs::OVERLAYFS_SUPER_MAGIC)
}

async fn sees_only_its_own(home: Home) {
    let rm = Rm::start().await;
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    if !agent.isolates().await {
        return;
    }
    fs::write(home.shared("of-the-host"), "x").unwrap();
    let (host, port) = rm.address.trim_start_matches("http://").split_once(':').unwrap();
    let script = format!(
        "echo fds=$(ls /proc/self/fd)
         try() {{ if eval \"$2\" >/dev/null 2>&1; then echo \"$1=yes\"; else echo \"$1=no\"; fi; }}
         echo uid=$(id -u); echo pwd=$PWD; echo folder=$(stat -c %a .)
         while read -r name value; do echo \"${{name%:}}=$value\"; done < /proc/self/status
         for path in / /usr /etc /dev /proc/sys /bin; do try write$path \"touch ${{path%/}}/berth-test\"; done
         for path in /tmp /work /dev/shm; do try write$path \"touch $path/berth-test\"; done
         for name in user pid mnt ipc net uts; do echo ns_$name=$(readlink /proc/self/ns/$name); done
         try data 'ls {home}'; try shared 'cat {home}/shared/of-the-host'; try spool 'cat {home}/data/spool'
         echo tmp=$(ls /tmp | wc -l); echo processes=$(ls -d /proc/[0-9]* | wc -l)
         try agent 'kill -0 {pid}'; try shadow 'ls /etc/shadow'; try run 'ls /run /var /home /root /sys'
         try connect 'exec 3<>/dev/tcp/{host}/{port}'; echo interfaces=$(tail -n +3 /proc/net/dev | wc -l)
         try mount 'mount -t tmpfs x /tmp'; try unshare 'unshare -U true'; try chroot 'chroot / true'
         echo roots=$(cut -d' ' -f4,5 /proc/self/mountinfo | tr ' ' '>' | tr '\n' ' ')
         echo mounts=$(grep -F {name} /proc/self/mountinfo | cut -d' ' -f4,5 | tr '\n' ';')
         echo work=$(grep ' /work ' /proc/self/mountinfo | cut -d' ' -f4)';'$(grep ' /work ' /proc/self/mountinfo | grep -oE '(lower|upper|work)dir=[^,]*' | cut -d= -f2 | tr '\n' ';')
         try thread 'sort --parallel=2 /etc/passwd'; try passwd 'id -un'; echo oom=$(cat /proc/self/oom_score_adj)",
        home = home.path().display(),
        name = home.path().file_name().unwrap().to_str().unwrap(),
        pid = agent.pid(),
    );
    let text = said(&rm, &script).await;
    has_its_user_and_knows_no_path_of_the_host(&home, &text);
    for (name, wanted) in [
        ("pwd", "/work"),
        ("fds", "0 1 2 3"),
        ("folder", "700"),
        ("CapEff", "0000000000000000"),
        ("CapBnd", "0000000000000000"),
        ("CapPrm", "0000000000000000"),
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
        ("tmp", "1"),
        ("interfaces", "1"),
        ("oom", "800"),
    ] {
        assert_eq!(value(&text, name), wanted, "{name} in\n{text}");
    }
    for no in [
        "write/",
        "write/usr",
        "write/etc",
        "write/dev",
        "write/proc/sys",
        "write/bin",
        "data",
        "shared",
        "spool",
        "agent",
        "shadow",
        "run",
        "connect",
        "mount",
        "unshare",
        "chroot",
    ] {
        assert_eq!(value(&text, no), "no", "{no} in\n{text}");
    }
    for yes in ["write/tmp", "write/work", "write/dev/shm", "thread", "passwd"] {
        assert_eq!(value(&text, yes), "yes", "{yes} in\n{text}");
    }
    for space in ["user", "pid", "mnt", "ipc", "net", "uts"] {
        let ours = fs::read_link(format!("/proc/self/ns/{space}")).unwrap();
        assert_ne!(value(&text, &format!("ns_{space}")), ours.to_str().unwrap(), "{space}");
    }
    // bubblewrap, ours, the shell, and what it just ran.
    let processes: usize = value(&text, "processes").parse().unwrap();
    assert!(processes <= 8, "{processes} processes are visible");
    // Nothing is left for the next one.
    assert_eq!(said(&rm, "ls -A /tmp /dev/shm /work | grep berth; true").await, "");
    assert!(!fs::exists("/tmp/berth-test").unwrap());
}

#[tokio::test]
async fn an_isolated_command_of_root_sees_its_folder_and_a_read_only_system_and_nothing_else() {
    sees_only_its_own(Home::new()).await;
}

#[tokio::test]
async fn an_isolated_command_of_an_ordinary_user_sees_no_more() {
    sees_only_its_own(Home::unprivileged()).await;
}

#[tokio::test]
async fn a_pool_opens_the_network_and_nothing_else() {
    let (rm, home) = (Rm::start_with(|script| script.network = true).await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let address = rm.address.trim_start_matches("http://").replace(':', "/");
    let script = format!(
        "exec 3<>/dev/tcp/{address} && echo connect=yes; grep -E '^(CapEff|Seccomp):' /proc/self/status | tr -d '\\t' | tr : =
         test -e /etc/resolv.conf && echo resolv=yes; touch /x 2>/dev/null || echo closed=yes"
    );
    let text = said(&rm, &script).await;
    assert_eq!(value(&text, "connect"), "yes");
    if agent.isolates().await {
        assert_eq!((value(&text, "CapEff"), value(&text, "Seccomp")), ("0000000000000000", "2"));
        assert_eq!(value(&text, "closed"), "yes");
        if fs::exists("/etc/resolv.conf").unwrap() {
            assert_eq!(value(&text, "resolv"), "yes");
        }
    }
}

#[tokio::test]
async fn paths_of_the_machine_are_visible_where_the_operator_says_so_and_read_only() {
    let (rm, home) = (Rm::start().await, Home::new());
    // Not in /tmp, which every command has of its own.
    let Ok(shown) = tempfile::Builder::new().tempdir_in("/var") else {
        return eprintln!("SKIPPED: needs to write in /var");
    };
    Command::new("chmod").arg("755").arg(shown.path()).status().unwrap();
    fs::write(shown.path().join("model"), "weights").unwrap();
    let path = shown.path().to_str().unwrap();
    let agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__VISIBLE_PATHS", path)]);
    rm.hello(0).await;
    let text =
        said(&rm, &format!("cat {path}/model; touch {path}/x 2>/dev/null || echo closed")).await;
    assert_eq!(text, "weightsclosed\n");
    if agent.isolates().await {
        assert_eq!(said(&rm, "ls -A /var | wc -l").await, "1\n");
    }
}

/// The program, where bubblewrap cannot be found.
fn without_bubblewrap() -> Option<Vec<&'static str>> {
    let hide = vec![
        "bwrap",
        "--die-with-parent",
        "--dev-bind",
        "/",
        "/",
        "--ro-bind",
        "/dev/null",
        "/usr/bin/bwrap",
        "--",
    ];
    let works = Command::new(hide[0]).args(&hide[1..]).arg("true").status();
    let works = works.is_ok_and(|status| status.success()) && fs::exists("/usr/bin/bwrap").unwrap();
    if !works {
        eprintln!("SKIPPED: bubblewrap cannot be hidden here");
    }
    works.then_some(hide)
}

#[tokio::test]
async fn without_bubblewrap_commands_run_as_before_and_the_executor_says_so() {
    let Some(hide) = without_bubblewrap() else { return };
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start_below(&home, &[&rm.address], &[], &hide);
    rm.hello(0).await;
    let report = agent.enforces().await;
    assert!(report.contains("bubblewrap is not installed"), "{report}");
    assert!(
        report.split("not enforced: ").nth(1).unwrap().contains("network namespace"),
        "{report}"
    );
    assert_eq!(said(&rm, "echo works").await, "works\n");
}

#[tokio::test]
async fn bubblewrap_that_is_demanded_and_missing_stops_the_start() {
    let Some(hide) = without_bubblewrap() else { return };
    let home = Home::new();
    let settings = [("EXECUTOR__ISOLATION", "bubblewrap")];
    let mut agent = Agent::start_below(&home, &["http://127.0.0.1:9"], &settings, &hide);
    assert!(!agent.wait(LIMIT).await.success());
    assert!(
        agent.log().contains("bubblewrap is not installed. Install bubblewrap"),
        "{}",
        agent.log()
    );
}

#[tokio::test]
async fn groups_and_processes_of_an_earlier_boot_are_gone_when_the_next_one_starts() {
    let (rm, home) = (Rm::start().await, Home::new());
    let agent = Agent::start(&home, &[&rm.address]);
    rm.hello(0).await;
    let marker = unique_marker();
    let lease = rm.assign(&bash(&format!("while :; do sleep 1; done; : {marker}")));
    until("it runs", LIMIT, || !marked(&marker).is_empty()).await;
    let groups = || {
        let name = format!("{}*", lease.task);
        let found = Command::new("find")
            .args(["/sys/fs/cgroup", "-maxdepth", "6", "-type", "d", "-name", &name])
            .output()
            .unwrap();
        String::from_utf8(found.stdout).unwrap().lines().count()
    };
    let limited = agent.enforces().await.split(';').next().unwrap().contains("memory");
    assert_eq!(groups() > 0, limited);
    agent.signal(Signal::SIGSTOP);
    crate::trees::kill_supervisors(&agent);
    agent.kill9();
    let _agent = Agent::start(&home, &[&rm.address]);
    rm.hello(1).await;
    assert_eq!((marked(&marker), groups(), home.work_folders()), (Vec::new(), 0, 0));
}

#[tokio::test]
async fn limits_of_each_process_and_of_its_tmp_are_those_of_the_task() {
    let (rm, home) = (Rm::start().await, Home::new());
    let settings = [("EXECUTOR__MAX_OPEN_FILES", "200")];
    let agent = Agent::start_with(&home, &[&rm.address], &settings);
    rm.hello(0).await;
    let script = "ulimit -n; ulimit -Hn; ulimit -c; head -c 6M /dev/zero > /tmp/x 2>/dev/null; stat -c %s /tmp/x";
    let lease = rm.assign_with(&bash(script), |assignment| {
        let disk = Capacity { memory_mib: 64, disk_mib: 4, cpu_millis: 500, ..Capacity::default() };
        assignment.resources = Some(disk);
    });
    rm.result(lease).await;
    let text = rm.output_text(lease, Stream::Stdout);
    assert!(text.starts_with("200\n200\n0\n"), "{text}");
    if agent.isolates().await {
        assert!(text.ends_with("\n4194304\n"), "{text}");
    }
}
