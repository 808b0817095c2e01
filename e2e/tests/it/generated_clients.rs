//! Clients that others generate of the OpenAPI document: made here by the generators most used, type-checked, and used against a
//! real api. What they do is in scripts/openapi/client.py and client.ts.

use e2e::{Cluster, Customer, Role, Shape};
use runtime::clock;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Of the script, when its tools are not there.
const NO_TOOLS: i32 = 3;

async fn ended(command: &mut tokio::process::Command) -> anyhow::Result<Output> {
    let command = command.stdin(Stdio::null()).kill_on_drop(true);
    Ok(clock::timeout(Duration::from_secs(100), command.output()).await??)
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_clients_compile_and_submit_get_page_explain_and_read_problems()
-> anyhow::Result<()> {
    let alone = [Role::Scheduler, Role::ResourceManager, Role::Executor]
        .into_iter()
        .fold(Shape::default().with(Role::Api, 1), |shape, role| shape.with(role, 0));
    let cluster = Cluster::start(alone).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let server = &cluster.api_urls()[0];
    let served = reqwest::get(format!("{server}/openapi.json")).await?.bytes().await?;
    let folder = tempfile::tempdir()?;
    let document = folder.path().join("openapi.json");
    std::fs::write(&document, &served)?;

    // The command needs no server, and gives the same.
    let program = testkit::program::find("cli", "berth")?;
    let printed = ended(tokio::process::Command::new(program).arg("openapi")).await?;
    assert_eq!(printed.stdout.trim_ascii_end(), &served[..]);

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/openapi/clients");
    let mut clients = tokio::process::Command::new(script);
    let done = ended(clients.arg(&document).arg(server).arg(customer.key())).await?;
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    if done.status.code() == Some(NO_TOOLS) {
        eprintln!("SKIPPED: {said}");
        return Ok(());
    }
    assert!(done.status.success(), "{}: {said}", done.status);
    assert!(said.contains("python: ok") && said.contains("typescript: ok"), "{said}");
    Ok(())
}
