//! Finds out which limits this executor may set, by setting them.
//!
//! A controller counts only when a trial group could be made, limited, entered and removed: files that exist
//! say little about what a container or a missing delegation allows.

use super::group::Group;
use super::mounts::{self, Hierarchy};
use super::place::{Controller, Place, Version};
use crate::arguments::WAIT;
use crate::limits::Limits;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::available_parallelism;

/// Name of the group that is made only to see whether it can be.
const TRIAL: &str = "trial";
/// Where this process goes when its own group of version 2 must hold no process.
const LEAF: &str = "berth-agent";

/// What can be limited, and why the rest cannot.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) places: Vec<Place>,
    pub(crate) missing: Vec<(Controller, String)>,
}

/// Looks for a place for each controller. `name` is that of the executor's folder, its own. Blocks.
pub(crate) fn find(name: &str) -> Found {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found = Found::default();
    for controller in Controller::ALL {
        let place = match mounts::first(&mountinfo, &own, controller) {
            Some(hierarchy) => first_place(&hierarchy, controller, name),
            None => match mounts::second(&mountinfo, &own) {
                Some(hierarchy) => second_place(&hierarchy, controller, name),
                None => Err("no control groups are mounted".to_owned()),
            },
        };
        match place.and_then(|place| trial(&place).map(|()| place)) {
            Ok(place) => found.places.push(place),
            Err(why) => found.missing.push((controller, why)),
        }
    }
    found
}

fn first_place(hierarchy: &Hierarchy, controller: Controller, name: &str) -> Result<Place, String> {
    let parent = if hierarchy.own.is_dir() { &hierarchy.own } else { &hierarchy.mount };
    let folder = parent.join(name);
    make(&folder)?;
    if controller == Controller::Cpu {
        weigh(&folder.join("cpu.shares"), 1024);
    }
    Ok(Place { controller, version: Version::V1, folder })
}

fn second_place(
    hierarchy: &Hierarchy,
    controller: Controller,
    name: &str,
) -> Result<Place, String> {
    let parent = match hierarchy.own.parent() {
        // An executor that started us, or an earlier life of this process, went there.
        Some(above) if hierarchy.own.file_name().is_some_and(|own| own == LEAF) => above.to_owned(),
        _ => hierarchy.own.clone(),
    };
    let offered = fs::read_to_string(parent.join("cgroup.controllers")).unwrap_or_default();
    if !offered.split_whitespace().any(|one| one == controller.name()) {
        return Err(format!("the group {} does not offer it", parent.display()));
    }
    hand_down(&parent, controller)?;
    let folder = parent.join(name);
    make(&folder)?;
    hand_down(&folder, controller)?;
    if controller == Controller::Cpu {
        weigh(&folder.join("cpu.weight"), 100);
    }
    Ok(Place { controller, version: Version::V2, folder })
}

/// Makes all attempts together weigh, on each processor, as much as two processes beside them. What the kernel gives a
/// group, `usual`, it shares out over the processors: there even our own start of one attempt would outweigh them all.
fn weigh(file: &Path, usual: usize) {
    let processors = available_parallelism().map_or(1, NonZero::get);
    // Without it attempts are slower beside others, and no less limited.
    fs::write(file, (usual * processors * 2).min(10_000).to_string()).ok();
}

/// Offers the controller to the groups inside `folder`. A group whose insides are limited may hold no process
/// itself, unless it is the root: then this process steps aside, which helps where it is alone.
fn hand_down(folder: &Path, controller: Controller) -> Result<(), String> {
    let control = folder.join("cgroup.subtree_control");
    let offer = || fs::write(&control, format!("+{}", controller.name()));
    let offered = offer().or_else(|_| {
        let leaf = folder.join(LEAF);
        if !leaf.is_dir() {
            fs::create_dir(&leaf)?;
        }
        fs::write(leaf.join("cgroup.procs"), std::process::id().to_string())?;
        offer()
    });
    offered.map_err(|error| format!("{}: {error}", control.display()))
}

fn make(folder: &Path) -> Result<(), String> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn trial(place: &Place) -> Result<(), String> {
    let limits = Limits {
        memory_bytes: 256 * 1024 * 1024,
        cpu_millis: 1000,
        processes: 64,
        disk_bytes: 0,
        open_files: 0,
        files: 0,
    };
    let with_path = |error: io::Error| format!("{}: {error}", place.folder.display());
    let group = Group::make(std::slice::from_ref(place), TRIAL, &limits).map_err(with_path)?;
    let entered = rest().and_then(|mut process| {
        let entered = group.admit(process.id()).and_then(|()| group.limit_cpu(&limits));
        drop(process.stdin.take());
        process.wait()?;
        entered
    });
    group.end();
    entered.map_err(with_path)
}

/// A process that does nothing until its input ends.
fn rest() -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(WAIT).env_clear().stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
