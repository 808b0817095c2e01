//! Each role in processes of its own, as in earnest: started, watched, started again, ended in order.
//!
//! They are the very commands a person would type (`berth api` ...), told by their environment. Addresses are settled for the
//! run, so that executors find a resource manager that was started again.

use super::super::child::{
    Keeper, Launch, MergedLog, OURSELVES, Output, StopSteps, Supervised, Surroundings,
};
use super::super::engine::{free_port, owner_of};
use super::super::folder::Folder;
use super::super::settings::Settings;
use super::share;
use crate::failure::Failure;
use nix::sys::signal::Signal;
use runtime::clock;
use runtime::config::{self, Config};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

/// More than any role takes to drain with the short times of `berth up`.
const STOP: StopSteps = &[(Signal::SIGTERM, Duration::from_secs(20))];
const ADDRESS_LIMIT: Duration = Duration::from_secs(30);

/// Processes of each role.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Of the API.
    pub api: u16,
    /// Schedulers.
    pub scheduler: u16,
    /// Resource managers.
    pub resource_manager: u16,
    /// Notifiers.
    pub notifier: u16,
    /// Executors.
    pub executor: u16,
}

/// What all processes are made from.
pub struct Plan<'a> {
    settings: &'a Settings,
    config: &'a Config,
    folder: &'a Folder,
    keeper: &'a Keeper,
    log: &'a MergedLog,
    /// Our own variables, none of which a child gets unseen.
    ours: Vec<String>,
}

/// One process of a role.
#[derive(Debug)]
struct Member {
    role: &'static str,
    process: Supervised,
    ready_file: PathBuf,
}

/// The running processes, in the order in which they end.
#[derive(Debug)]
pub struct Full {
    members: Vec<Member>,
    listens: Vec<SocketAddr>,
}

impl<'a> Plan<'a> {
    /// Takes note of what is there.
    pub fn new(
        settings: &'a Settings,
        config: &'a Config,
        folder: &'a Folder,
        (keeper, log): (&'a Keeper, &'a MergedLog),
    ) -> Result<Self, Failure> {
        let ours = config::variables()?.into_iter().map(|(name, _)| name).collect();
        fs::create_dir_all(folder.file("ready")).map_err(failed)?;
        Ok(Self { settings, config, folder, keeper, log, ours })
    }

    fn start(
        &self,
        role: &'static str,
        name: &str,
        own: &[(String, String)],
    ) -> Result<Member, Failure> {
        let ready_file = self.folder.file("ready").join(name);
        fs::remove_file(&ready_file).ok();
        let mut environment = self.settings.of_role(role)?;
        environment.extend(own.iter().cloned());
        let ready = ready_file.to_string_lossy().into_owned();
        environment.push(("BERTH_READY_FILE".to_owned(), ready));
        let launch = Launch {
            program: OURSELVES.into(),
            arguments: vec![role.into()],
            surroundings: Surroundings::Without(self.ours.clone()),
            environment,
            folder: self.folder.path().to_owned(),
            user: None,
            death: Signal::SIGKILL,
            output: Output::Pipes,
        };
        let process = Supervised::start(name, self.keeper, launch, STOP, Some(self.log.clone()));
        Ok(Member { role, process, ready_file })
    }

    fn start_all(
        &self,
        role: &'static str,
        own: &[Vec<(String, String)>],
    ) -> Result<Vec<Member>, Failure> {
        let alone = own.len() == 1;
        let named = own.iter().enumerate().map(|(number, own)| {
            let name = if alone { role.to_owned() } else { format!("{role}-{}", number + 1) };
            self.start(role, &name, own)
        });
        named.collect()
    }
}

impl Full {
    /// Starts `counts` processes; the first API on the configured address, which must be free.
    pub fn start(plan: &Plan<'_>, counts: Counts) -> Result<Self, Failure> {
        let set = |name: &str, value: String| vec![(name.to_owned(), value)];
        let free = |ip: IpAddr| free_port().map(|port| SocketAddr::new(ip, port)).map_err(failed);
        let managers = managers(plan.config.resource_manager.listen, counts.resource_manager)?;
        let first = plan.config.api.listen;
        let mut listens = vec![if first.port() == 0 { free(first.ip())? } else { first }];
        for _ in 1..counts.api {
            listens.push(free(first.ip())?);
        }
        let listen_on = |name: &str, addresses: &[SocketAddr]| -> Vec<_> {
            addresses.iter().map(|address| set(name, address.to_string())).collect()
        };
        let apis = listen_on("BERTH_API__LISTEN", &listens);
        let all: Vec<String> =
            managers.iter().map(|address| format!("http://{}", reached(*address))).collect();
        let executors: Vec<_> = (0..counts.executor)
            .map(|number| executor(plan, number, counts.executor, &all.join(",")))
            .collect::<Result<_, _>>()?;
        let config = plan.config;
        let probes = |number, name, listen| probes(number, name, listen).into_iter();
        let scheduler = |number| probes(number, "SCHEDULER__LISTEN", config.scheduler.listen);
        let schedulers: Vec<Vec<_>> =
            (0..counts.scheduler).map(|number| scheduler(number).collect()).collect();

        let mut members = plan.start_all("api", &apis)?;
        members.extend(plan.start_all("scheduler", &schedulers)?);
        let notifier = |number| probes(number, "NOTIFIER__LISTEN", config.notifier.listen);
        let notifiers: Vec<Vec<_>> =
            (0..counts.notifier).map(|number| notifier(number).collect()).collect();
        members.extend(plan.start_all("notifier", &notifiers)?);
        members.extend(plan.start_all("executor", &executors)?);
        let mut managers = listen_on("BERTH_RESOURCE_MANAGER__LISTEN", &managers);
        for (number, manager) in (0..).zip(&mut managers) {
            let listen = config.resource_manager.health_listen;
            manager.extend(probes(number, "RESOURCE_MANAGER__HEALTH_LISTEN", listen));
        }
        members.extend(plan.start_all("resource-manager", &managers)?);
        Ok(Self { members, listens })
    }

    /// Where the APIs listen.
    pub fn listens(&self) -> &[SocketAddr] {
        &self.listens
    }

    /// Waits until every process is ready; from then on one that ends is started again.
    pub async fn ready(&self) -> Result<(), Failure> {
        let broken = || {
            let processes = self.members.iter().map(|member| &member.process);
            let mut over = processes.filter_map(|one| one.over().map(|why| (one.name(), why)));
            let (name, why) = over.next()?;
            Some(Failure::failed(format!("the {name} ended before it was ready: {why}")))
        };
        for member in &self.members {
            let address = member.health(&broken).await?;
            super::ready(member.process.name(), address, broken).await?;
            member.process.settle();
        }
        Ok(())
    }

    /// Ends them, role by role: no new requests, no new hand-outs; then what runs may end and is settled.
    pub async fn stop(self) {
        let mut members = self.members;
        while let Some(role) = members.first().map(|member| member.role) {
            let (now, later): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|member| member.role == role);
            stop_all(now).await;
            members = later;
        }
    }
}

impl Member {
    /// Where its probes answer, once it says so.
    async fn health(&self, broken: &impl Fn() -> Option<Failure>) -> Result<SocketAddr, Failure> {
        let until = clock::monotonic() + ADDRESS_LIMIT;
        loop {
            let said = fs::read_to_string(&self.ready_file).unwrap_or_default();
            let address = said.lines().find_map(|line| line.strip_prefix("health ")?.parse().ok());
            if let Some(address) = address {
                return Ok(address);
            }
            if let Some(failure) = broken() {
                return Err(failure);
            }
            if clock::monotonic() > until {
                let name = self.process.name();
                return Err(Failure::failed(format!(
                    "{name} did not start within {ADDRESS_LIMIT:?}"
                )));
            }
            clock::sleep(super::LOOK_EVERY).await;
        }
    }
}

/// All at once.
async fn stop_all(members: Vec<Member>) {
    let tasks = runtime::tasks::TaskGroup::new();
    let ends: Vec<_> =
        members.into_iter().map(|member| tasks.spawn("up_stop", member.process.stop())).collect();
    for mut end in ends {
        let _logged = end.join().await;
    }
}

fn executor(
    plan: &Plan<'_>,
    number: u16,
    count: u16,
    managers: &str,
) -> Result<Vec<(String, String)>, Failure> {
    let executor = &plan.config.executor;
    let mut settings = if count == 1 {
        Vec::new()
    } else {
        share::of_executor(plan.config, &::executor::offered(executor), number, count)
    };
    let mut set = |name: &str, value: String| settings.push((name.to_owned(), value));
    set("BERTH_EXECUTOR__RESOURCE_MANAGERS", managers.to_owned());
    if let Some((name, value)) = probes(number, "EXECUTOR__HEALTH_LISTEN", executor.health_listen) {
        set(&name, value);
    }
    if count > 1 {
        let id = executor.id()?;
        // Names are short: 63 letters at most.
        let short: String = id.as_str().chars().take(58).collect();
        set("BERTH_EXECUTOR__ID", format!("{short}-{}", number + 1));
        let folder = executor.data_dir.join((number + 1).to_string());
        set("BERTH_EXECUTOR__DATA_DIR", folder.to_string_lossy().into_owned());
    }
    Ok(settings)
}

/// Where so many resource managers listen: the first where it was asked for, each other on a free port of the same host. No port is left
/// open, because executors are told them.
fn managers(first: SocketAddr, count: u16) -> Result<Vec<SocketAddr>, Failure> {
    let mut all = Vec::new();
    for number in 0..count {
        let port = if number == 0 && first.port() != 0 {
            TcpListener::bind(first).map_err(|error| taken(first, &error))?;
            first.port()
        } else {
            free_port().map_err(failed)?
        };
        all.push(SocketAddr::new(first.ip(), port));
    }
    Ok(all)
}

/// The address by which a process of this machine reaches one that listens there.
fn reached(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// Where the probes of the next processes of a role answer: only the first can have the port that was asked for.
fn probes(number: u16, name: &str, listen: SocketAddr) -> Option<(String, String)> {
    let other = SocketAddr::new(listen.ip(), 0);
    (number > 0 && listen.port() != 0).then(|| (format!("BERTH_{name}"), other.to_string()))
}

fn taken(address: SocketAddr, error: &io::Error) -> Failure {
    let owner = match error.kind() {
        io::ErrorKind::AddrInUse => format!("{address} is in use by {}", owner_of(address)),
        _ => format!("cannot listen on {address}: {error}"),
    };
    Failure::failed(format!(
        "{owner}; stop it, or choose another address in resource_manager.listen (BERTH_RESOURCE_MANAGER__LISTEN)"
    ))
}

fn failed(error: io::Error) -> Failure {
    Failure::failed(format!("cannot start the roles: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_resource_manager_has_the_address_that_was_asked_for_and_the_others_free_ports() {
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let asked = local(free_port().unwrap());
        let all = managers(asked, 3).unwrap();
        assert_eq!((all.len(), all[0]), (3, asked));
        assert!(all.iter().all(|address| address.port() != 0 && address.ip() == asked.ip()));
        assert!(managers(local(0), 2).unwrap().iter().all(|address| address.port() != 0));
        let _taken = TcpListener::bind(asked).unwrap();
        let text = managers(asked, 1).unwrap_err().to_string();
        assert!(
            text.contains("is in use by") && text.contains("RESOURCE_MANAGER__LISTEN"),
            "{text}"
        );
    }

    #[test]
    fn who_listens_everywhere_is_reached_on_this_machine_and_one_port_is_for_one_process() {
        let reached = |text: &str| reached(text.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:7070"), "127.0.0.1:7070");
        assert_eq!(reached("[::]:7070"), "[::1]:7070");
        assert_eq!(reached("127.0.0.2:7070"), "127.0.0.2:7070");
        let of = |number, text: &str| probes(number, "X__LISTEN", text.parse().unwrap());
        let other = ("BERTH_X__LISTEN".to_owned(), "127.0.0.1:0".to_owned());
        assert_eq!(of(1, "127.0.0.1:9000"), Some(other));
        assert_eq!((of(0, "127.0.0.1:9000"), of(1, "127.0.0.1:0")), (None, None));
    }
}
