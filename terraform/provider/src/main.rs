//! The Terraform provider of Berth.
//!
//! Terraform starts it, and speaks to it through [`plugin`]. What it keeps is in [`resources`], what it reads in [`data`], and what is
//! never stored in [`ephemeral`]; [`provider`] has the rules of all of them. `terraform-provider-berth docs` writes the pages in
//! terraform/docs.

mod data;
mod documents;
mod ephemeral;
mod plugin;
mod provider;
mod resources;
mod schema;
mod value;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["docs", examples, docs] => documents::write(examples.as_ref(), docs.as_ref()),
        _ => serve(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    // Terraform makes ten calls at a time by default; they wait for the network.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let served = runtime.block_on(plugin::serve(provider::Service::new()));
    // Terraform is gone: nothing waits for what is not answered by now.
    runtime.shutdown_background();
    served
}
