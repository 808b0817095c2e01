//! Figures, with `FIGURES=1`: a thousand schedules, the size of the program and the time to its schema.

use crate::server::Server;
use crate::terraform::{Folder, provider};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub fn figures(server: &Server) {
    if std::env::var_os("FIGURES").is_none() {
        println!("  SKIPPED: FIGURES is not set");
        return;
    }
    let folder = Folder::new(
        server,
        "thousand",
        r#"
        resource "berth_schedule" "a" {
          count  = 1000
          name   = "thousand-${count.index}"
          timing = { specs = [{ every = { every = "24h" } }] }
          task   = { run = { noop = {} } }
        }
        "#,
    );
    let program = fs::metadata(provider()).unwrap();
    println!("  program: {:.1} MB", program.len() as f64 / 1e6);
    let timed = |what: &str, work: &dyn Fn()| {
        let (began, watch) = (Instant::now(), Watch::start());
        work();
        let (seconds, mib) = (began.elapsed().as_secs_f64(), watch.most_kib() / 1024);
        println!("  {what}: {seconds:.1} s, {mib} MiB");
    };
    timed("apply of 1000 new schedules", &|| folder.apply());
    timed("plan of 1000 unchanged schedules", &|| folder.is_done());
    timed("destroy of 1000 schedules", &|| folder.destroy());
}

/// Watches the memory of the provider, which Terraform starts and ends.
struct Watch {
    most_kib: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn start() -> Self {
        let watch = Self { most_kib: Arc::default(), over: Arc::default() };
        let (most, over) = (Arc::clone(&watch.most_kib), Arc::clone(&watch.over));
        thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                most.fetch_max(provider_kib(), Ordering::SeqCst);
                thread::sleep(Duration::from_millis(20));
            }
        });
        watch
    }

    fn most_kib(&self) -> u64 {
        self.over.store(true, Ordering::SeqCst);
        self.most_kib.load(Ordering::SeqCst)
    }
}

/// The most that a provider of this build has had that runs now.
fn provider_kib() -> u64 {
    let program = fs::canonicalize(provider()).unwrap();
    let mut most = 0;
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        if fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program) {
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
            most = most.max(kib.unwrap_or(0));
        }
    }
    most
}
