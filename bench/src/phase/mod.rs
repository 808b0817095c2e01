//! One file per figure, or per pair that is measured together. Each runs one round and fails if its tasks did not
//! succeed.

mod batch_and_drain;
mod body;
mod child_start;
mod commands;
mod delayed;
mod end_to_end;
mod event_times;
mod fdatasync;
mod fire_rate;
mod fire_scale;
mod fires;
mod flat;
mod flow;
mod graph;
mod graph_runs;
mod idle;
mod live_pages;
mod raw_chain;
mod raw_hop;
mod raw_postgres;
mod single_submit;
mod submit_to_start;
mod workflow_drain;

/// Seconds before a wait for a start is measured: processes that have just begun plan each statement for the first time, and the doctor
/// looks through all tables five seconds after the start, then once a minute.
const WARM_UP_S: u32 = 6;

pub use batch_and_drain::{batch_and_drain, keys};
pub use child_start::child_start;
pub use commands::commands;
pub use delayed::delayed;
pub use end_to_end::end_to_end;
pub use fdatasync::fdatasync;
pub use fire_rate::fire_rate;
pub use fire_scale::fire_scale;
pub use fires::{fires, herd};
pub use flat::flat;
pub use graph_runs::graph_runs;
pub use idle::idle;
pub use live_pages::live_pages;
pub use raw_chain::raw_chain;
pub use raw_hop::raw_hop;
pub use raw_postgres::{raw_batch, raw_drain, raw_single};
pub use single_submit::single_submit;
pub use submit_to_start::{
    steps_to_start, submit_to_start, submit_to_start_at_half, submit_to_start_embedded,
};
pub use workflow_drain::workflow_drain;
