//! The provider with the real Terraform, against a whole Berth (`berth up`).
//!
//! Needs `terraform` in the PATH and `berth` in `BERTH_TEST_BIN_DIR` or in the target folder of Berth; without one of them everything
//! is skipped, and said so. Arguments choose tests by parts of their names. `CONFIGURATIONS` and `SEED` set how many random
//! configurations are applied, and which; `CUTS` how often an apply is cut off, `KILLS` how often its server is killed;
//! `FIGURES=1` measures, with `PROVIDER=path` another build.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test, which Clippy does not see because it has its own main; it is outside Berth's processes"
)]

mod cut_off;
mod examples;
mod figures;
mod prices;
mod random;
mod secrets;
mod semantics;
mod server;
mod spend;
mod terraform;
mod webhooks;

use server::Server;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// The one of `make check`; all others are of `make test`.
const OF_CHECK: &str = "each_example_passes_its_own_test";

type Test = (&'static str, fn(&Server));

const TESTS: &[Test] = &[
    (OF_CHECK, examples::each_example_passes_its_own_test),
    ("each_example_lives_and_leaves_nothing", examples::each_example_lives_and_leaves_nothing),
    ("drift_is_seen_and_repaired", semantics::drift_is_seen_and_repaired),
    ("forms_of_a_value_are_no_change", semantics::forms_of_a_value_are_no_change),
    (
        "an_outage_or_a_refused_key_deletes_nothing",
        semantics::an_outage_or_a_refused_key_deletes_nothing,
    ),
    (
        "a_concurrent_change_is_a_readable_conflict",
        semantics::a_concurrent_change_is_a_readable_conflict,
    ),
    ("a_plan_says_what_the_api_would_refuse", semantics::a_plan_says_what_the_api_would_refuse),
    ("a_protected_tenant_stays", semantics::a_protected_tenant_stays),
    (
        "keys_are_in_no_state_plan_or_log_and_rotate",
        secrets::keys_are_in_no_state_plan_or_log_and_rotate,
    ),
    ("the_rest_of_a_lost_key_is_revoked", secrets::the_rest_of_a_lost_key_is_revoked),
    (
        "a_plan_is_billed_as_configured_and_its_price_book_stays",
        prices::a_plan_is_billed_as_configured_and_its_price_book_stays,
    ),
    ("prices_in_effect_are_refused_by_the_plan", prices::prices_in_effect_are_refused_by_the_plan),
    ("all_but_the_amount_of_a_cap_replaces_it", spend::all_but_the_amount_of_a_cap_replaces_it),
    (
        "how_a_tenant_is_billed_is_set_and_set_back",
        spend::how_a_tenant_is_billed_is_set_and_set_back,
    ),
    (
        "a_webhook_changes_in_place_and_its_secret_is_in_no_state",
        webhooks::a_webhook_changes_in_place_and_its_secret_is_in_no_state,
    ),
    ("random_configurations_live", random::random_configurations_live),
    ("an_apply_that_was_cut_off_converges", cut_off::an_apply_that_was_cut_off_converges),
    (
        "an_apply_whose_server_is_killed_converges",
        cut_off::an_apply_whose_server_is_killed_converges,
    ),
    ("figures", figures::figures),
];

fn main() -> ExitCode {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let server = match Server::start() {
        Ok(server) => server,
        Err(missing) => {
            println!("SKIPPED: {missing}");
            return ExitCode::SUCCESS;
        }
    };
    let mut failed = Vec::new();
    for (name, test) in TESTS {
        let chosen = match wanted.as_slice() {
            [] => *name != OF_CHECK,
            parts => parts.iter().any(|part| name.contains(part.as_str())),
        };
        if !chosen {
            continue;
        }
        let began = Instant::now();
        let passed = catch_unwind(AssertUnwindSafe(|| test(&server))).is_ok();
        let outcome = if passed { "ok" } else { "FAILED" };
        println!("{name}: {outcome}, {:.1} s", began.elapsed().as_secs_f64());
        if !passed {
            failed.push(*name);
        }
    }
    drop(server);
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("FAILED: {}", failed.join(", "));
    ExitCode::FAILURE
}
