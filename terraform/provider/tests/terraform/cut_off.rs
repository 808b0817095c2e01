//! An apply whose server disappears in the middle, with answers on their way.

use crate::random::Dice;
use crate::server::Server;
use crate::terraform::Folder;
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

/// Stands before the server. After so many requests it drops every connection, and the answers of those that are on their way.
struct Cutter {
    address: String,
    left: Arc<AtomicI64>,
}

impl Cutter {
    fn new(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let (server, shared) = (server.to_owned(), Arc::clone(&left));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (server, left) = (server.clone(), Arc::clone(&shared));
                thread::spawn(move || pass(&client.unwrap(), &server, &left));
            }
        });
        Self { address, left }
    }
}

/// Passes a connection on: requests first, each of which counts, then their answers.
fn pass(client: &TcpStream, server: &str, left: &Arc<AtomicI64>) {
    if left.load(Ordering::SeqCst) <= 0 {
        return;
    }
    let Ok(upstream) = TcpStream::connect(server) else { return };
    let (mut from_server, mut to_client) =
        (upstream.try_clone().unwrap(), client.try_clone().unwrap());
    let answers = Arc::clone(left);
    let back = thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(count @ 1..) = from_server.read(&mut buffer) {
            // The server has done it, and its client does not learn so.
            if answers.load(Ordering::SeqCst) <= 0 || to_client.write_all(&buffer[..count]).is_err()
            {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let (mut from_client, mut to_server) = (client, &upstream);
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = from_client.read(&mut buffer) {
        if left.load(Ordering::SeqCst) <= 0 || to_server.write_all(&buffer[..count]).is_err() {
            break;
        }
        left.fetch_sub(1, Ordering::SeqCst);
    }
    let _ = client.shutdown(Shutdown::Read);
    let _ = upstream.shutdown(Shutdown::Write);
    let _ = back.join();
}

/// Schedules and keys of each apply that is cut off.
const SCHEDULES: usize = 15;
const KEYS: usize = 3;

fn times(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn folder(server: &Server, name: &str) -> Folder {
    let configuration = format!(
        r#"
        resource "berth_schedule" "a" {{
          count  = {SCHEDULES}
          name   = "{name}-${{count.index}}"
          timing = {{ specs = [{{ every = {{ every = "90m" }} }}] }}
          task   = {{ run = {{ noop = {{}} }} }}
        }}
        resource "berth_operator_key" "a" {{
          count  = {KEYS}
          name   = "{name}-${{count.index}}"
          scopes = ["read"]
        }}
        "#
    );
    Folder::new(server, name, &configuration)
}

/// How many of a list have a name that begins so.
fn named(list: &Json, prefix: &str) -> usize {
    let found = list["data"].as_array().unwrap().iter();
    found.filter(|item| item["name"].as_str().unwrap().starts_with(prefix)).count()
}

fn schedules(server: &Server, name: &str) -> Option<usize> {
    let list = server.tenant().get("v1/schedules?limit=200").ok()?;
    Some(named(&list, &format!("{name}-")))
}

/// The next apply makes what is missing, and nothing is there twice.
fn converges(server: &Server, folder: &Folder, name: &str) {
    folder.apply();
    folder.is_done();
    assert_eq!(folder.resources().len(), SCHEDULES + KEYS);
    assert_eq!(schedules(server, name), Some(SCHEDULES), "{name} doubled or lost schedules");
    let keys = server.operator().get("v1/admin/operator-keys").unwrap();
    assert_eq!(named(&keys, &format!("{name}-")), KEYS, "{name} doubled or lost keys");
    folder.destroy();
}

pub fn an_apply_that_was_cut_off_converges(server: &Server) {
    let cutter = Cutter::new(&server.address);
    let mut dice = Dice::new(7);
    for cut in 0..times("CUTS", 2) {
        let name = format!("cut-{cut}");
        let mut folder = folder(server, &name);
        folder.environment.insert("BERTH_SERVER".to_owned(), format!("http://{}", cutter.address));
        cutter.left.store(i64::try_from(16 + dice.below(28)).unwrap(), Ordering::SeqCst);
        let said = folder.run(&["apply", "-auto-approve"]);
        assert!(said.code == 1 && said.says("Error"), "the apply was not cut off:\n{}", said.text);
        cutter.left.store(i64::MAX, Ordering::SeqCst);
        converges(server, &folder, &name);
    }
}

pub fn an_apply_whose_server_is_killed_converges(server: &Server) {
    let mut dice = Dice::new(11);
    for kill in 0..times("KILLS", 1) {
        let name = format!("kill-{kill}");
        let folder = folder(server, &name);
        let made = usize::try_from(1 + dice.below(8)).unwrap();
        let said = thread::scope(|scope| {
            let apply = scope.spawn(|| folder.run(&["apply", "-auto-approve"]));
            while schedules(server, &name).unwrap() < made {
                assert!(!apply.is_finished(), "the apply ended before it made {made} schedules");
            }
            server.kill();
            let said = apply.join().unwrap();
            server.start_again();
            said
        });
        assert!(said.code == 1 && said.says("Error"), "the apply survived:\n{}", said.text);
        converges(server, &folder, &name);
    }
}
