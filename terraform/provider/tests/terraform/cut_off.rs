//! An apply whose server disappears in the middle, with answers on their way.

use crate::random::Dice;
use crate::server::Server;
use crate::terraform::Folder;
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

pub fn an_apply_that_was_cut_off_converges(server: &Server) {
    let cuts = std::env::var("CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let cutter = Cutter::new(&server.address);
    let mut dice = Dice::new(7);
    for cut in 0..cuts {
        let configuration = format!(
            r#"
            resource "berth_schedule" "a" {{
              count  = 15
              name   = "cut-{cut}-${{count.index}}"
              timing = {{ specs = [{{ every = {{ every = "90m" }} }}] }}
              task   = {{ run = {{ noop = {{}} }} }}
            }}
            resource "berth_operator_key" "a" {{
              count  = 3
              name   = "cut-{cut}-${{count.index}}"
              scopes = ["read"]
            }}
            "#
        );
        let mut folder = Folder::new(server, &format!("cut-{cut}"), &configuration);
        folder.environment.insert("BERTH_SERVER".to_owned(), format!("http://{}", cutter.address));
        cutter.left.store(i64::try_from(16 + dice.below(28)).unwrap(), Ordering::SeqCst);
        let said = folder.run(&["apply", "-auto-approve"]);
        assert!(said.code == 1 && said.says("Error"), "the apply was not cut off:\n{}", said.text);
        cutter.left.store(i64::MAX, Ordering::SeqCst);
        folder.apply();
        folder.is_done();
        assert_eq!(folder.resources().len(), 18);
        let prefix = format!("cut-{cut}-");
        let schedules = server.tenant().get("v1/schedules?limit=200").unwrap();
        let keys = server.operator().get("v1/admin/operator-keys").unwrap();
        for (list, wanted) in [(schedules, 15), (keys, 3)] {
            let found = list["data"].as_array().unwrap().iter();
            let found =
                found.filter(|item| item["name"].as_str().unwrap().starts_with(&prefix)).count();
            assert_eq!(found, wanted, "cut {cut} doubled or lost objects");
        }
        folder.destroy();
    }
}
