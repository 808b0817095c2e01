//! Room on the disk that no folder shows: files that are deleted while a command holds them.

use crate::agent::{Agent, Home};
use crate::rm::{Rm, bash, outcome};
use domain::task::LeaseKey;
use protocol::Capacity;
use protocol::result::Outcome;

fn small(rm: &Rm, script: &str) -> LeaseKey {
    rm.assign_with(&bash(script), |assignment| {
        let resources =
            Capacity { memory_mib: 128, disk_mib: 16, cpu_millis: 500, ..Capacity::default() };
        assignment.resources = Some(resources);
    })
}

/// Makes a file of 4 MiB, deletes it and keeps it open.
const HOLD: &str = "hold() { exec {fd}>f; rm f; head -c 4M /dev/zero >&$fd; }";

/// Maps six files of 4 MiB each, then closes and deletes them.
const MAP: &str = "import mmap,os,time
all=[]
for i in range(6):
    f=open('f','wb+'); f.write(b'x'*(4<<20)); f.flush(); all.append(mmap.mmap(f.fileno(),4<<20)); f.close(); os.unlink('f')
time.sleep(60)";

in_both_modes! { a_deleted_file_that_is_held_counts_on_the_disk }

async fn a_deleted_file_that_is_held_counts_on_the_disk(isolation: &str) {
    counts(Home::new(), isolation).await;
}

#[tokio::test]
async fn so_it_does_under_an_ordinary_user() {
    counts(Home::unprivileged(), "auto").await;
}

async fn counts(home: Home, isolation: &str) {
    let rm = Rm::start().await;
    let _agent = Agent::start_with(&home, &[&rm.address], &[("EXECUTOR__ISOLATION", isolation)]);
    rm.hello(0).await;
    let open = small(&rm, &format!("{HOLD}; for i in 1 2 3 4 5 6; do hold; done; sleep 60"));
    // By a child that the first process knows nothing of any more.
    let child = format!("{HOLD}; (for i in 1 2 3 4 5 6; do hold; done; exec sleep 60) & sleep 60");
    let child = small(&rm, &child);
    let mapped = small(&rm, &format!("command -v python3 || exit 77; exec python3 -c \"{MAP}\""));
    // Two files in five processes are 8 MiB, not 40.
    let few = format!("{HOLD}; hold; hold; for i in 1 2 3 4; do sleep 1.6 & done; wait");
    let few = small(&rm, &few);
    // Seen and then let go of.
    let again =
        format!("{HOLD}; for i in 1 2 3 4 5 6 7 8; do hold; sleep 0.3; exec {{fd}}>&-; done");
    let again = small(&rm, &again);
    for (what, lease) in [("open", open), ("child", child), ("mapped", mapped)] {
        let result = rm.result(lease).await;
        if what == "mapped" && result.exit_code == Some(77) {
            eprintln!("SKIPPED: needs python3");
            continue;
        }
        assert_eq!(outcome(&result), Outcome::KilledResources, "{what}: {}", result.reason);
        assert!(result.reason.starts_with("disk: over its 16 MiB; "), "{what}: {}", result.reason);
    }
    for (what, lease) in [("few", few), ("again", again)] {
        let result = rm.result(lease).await;
        assert_eq!(outcome(&result), Outcome::Succeeded, "{what}: {}", result.reason);
    }
}
