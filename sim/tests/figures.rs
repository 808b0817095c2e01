//! The figures that the batcher's order must reach: means of five seeds.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use sim::{PolicyFigures, PolicyName, Report, Sizes, compare, find};

const SEEDS: (u64, u64) = (1, 5);

fn simulate(scenario: &str, sizes: Sizes, policies: &[PolicyName]) -> Report {
    compare(find(scenario).unwrap(), sizes, policies, SEEDS, &mut |_, _| ())
}

fn berth(scenario: &str, sizes: Sizes) -> Report {
    simulate(scenario, sizes, &[PolicyName::Berth])
}

fn group(report: &Report, name: &str) -> PolicyFigures {
    *report.rows.iter().find(|row| row.group == name).unwrap()
}

fn at_load(load: f64) -> Sizes {
    Sizes { load: Some(load), ..Sizes::default() }
}

#[test]
fn deadlines_are_kept_below_saturation() {
    let all = group(&berth("poisson", at_load(0.95)), "all");
    assert!(all.missed <= 0.001, "{all:?}");
}

#[test]
fn few_deadlines_are_missed_at_a_tenth_too_much_and_nobody_starves() {
    let all = group(&berth("poisson", at_load(1.10)), "all");
    assert!(all.missed <= 0.125 && all.wait_max_s <= 90.0, "{all:?}");
}

#[test]
fn not_many_more_are_missed_than_must_be_at_a_third_too_much() {
    let all = group(&berth("poisson", at_load(1.30)), "all");
    assert!(all.missed <= 0.26, "{all:?}");
}

#[test]
fn gold_misses_at_most_half_of_what_bronze_does() {
    let report = berth("gold-bronze", at_load(1.10));
    let (gold, bronze) = (group(&report, "gold"), group(&report, "bronze"));
    assert!(bronze.missed > 0.02 && gold.missed <= bronze.missed / 2.0, "{gold:?} {bronze:?}");
}

#[test]
fn a_flood_delays_nobody_else() {
    let report = berth("flood", Sizes::default());
    let (light, all) = (group(&report, "light"), group(&report, "all"));
    assert!(light.wait_p99_s <= 0.05 && light.missed <= 0.0, "{light:?}");
    assert!(all.utilisation >= 0.99, "{all:?}");
}

#[test]
fn backlogged_tenants_share_by_their_weights() {
    let all = group(&berth("weights", Sizes::default()), "all");
    assert!(all.jain >= 0.98 && all.share_error <= 0.05, "{all:?}");
}

#[test]
fn wide_caps_cost_an_honest_tenant_nothing() {
    let wide = group(&berth("caps", Sizes::default()), "caps of 60 s");
    assert!((wide.share - 0.5).abs() <= 0.015, "{wide:?}");
}

#[test]
fn a_liar_gains_nothing() {
    let liar = group(&berth("liar", Sizes::default()), "liar");
    assert!(liar.share <= 1.1 / 10.0, "{liar:?}");
}

#[test]
fn dominant_shares_are_even() {
    let all = group(&berth("dominant", Sizes::default()), "all");
    assert!(all.share_error <= 0.05, "{all:?}");
}

#[test]
fn a_seed_gives_the_same_figures_again() {
    let sizes = Sizes { tasks: Some(1000), ..at_load(1.2) };
    let rows = || simulate("poisson", sizes, &PolicyName::ALL).rows;
    assert_eq!(rows(), rows());
}

#[test]
fn every_scenario_ends_under_every_policy() {
    let small =
        Sizes { executors: Some(3), tenants: Some(5), tasks: Some(500), ..Sizes::default() };
    for scenario in &sim::SCENARIOS {
        let report = simulate(scenario.name, small, &PolicyName::ALL);
        for row in report.rows.iter().filter(|row| row.group == "all") {
            assert!(row.tasks >= 500.0 && row.started > 0.0, "{} {row:?}", scenario.name);
            assert!(row.utilisation > 0.0 && row.utilisation <= 1.6, "{} {row:?}", scenario.name);
        }
    }
}
