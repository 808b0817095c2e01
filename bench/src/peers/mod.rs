//! Other task systems, measured in the same run and in turn with Berth: `make bench ARGS="--peers"`.
//!
//! Each has a driver in `bench/peers`, a program that runs one phase: `DRIVER PHASE AMOUNT URL` prints one line of JSON,
//! `{"version": "1.2.3", "figures": {"drain_per_s": 1234.5}}`, or fails. A new peer is one driver, its pinned version and an
//! entry in [`list`]. The rule: peers are installed and run to be measured, and never linked.

mod comparison;
mod driver;
mod engine;
mod install;
mod list;
mod phase;
mod run;

pub use run::run;
