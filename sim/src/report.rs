//! Reports over seeds and policies.

use crate::measure::Measure;
use crate::policy::PolicyName;
use crate::random::Random;
use crate::run::run;
use crate::scenario::{Scenario, Sizes};
use crate::world::World;
use serde::Serialize;
use std::collections::BTreeSet;

/// Result of a simulation.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub scenario: &'static str,
    /// Its sizes.
    pub sizes: Sizes,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds; figures are means over them.
    pub seeds: u64,
    /// By policy and group of tenants.
    pub rows: Vec<PolicyFigures>,
    /// By policy: percentiles of waits of started tasks, seconds, of the first seed.
    pub waits: Vec<(PolicyName, Vec<f64>)>,
}

/// The figures of a policy for a group of tenants, or for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PolicyFigures {
    /// The policy.
    pub policy: PolicyName,
    /// The group of tenants: `all` or a name of the scenario.
    pub group: &'static str,
    /// Tasks that arrived.
    pub tasks: f64,
    /// Tasks that started.
    pub started: f64,
    /// p50 of the wait from arrival to start, seconds.
    pub wait_p50_s: f64,
    /// p99 of the wait.
    pub wait_p99_s: f64,
    /// Maximum of the wait.
    pub wait_max_s: f64,
    /// Fraction of tasks that missed their start deadline, 0 to 1.
    pub missed: f64,
    /// Share of all service, 0 to 1.
    pub share: f64,
    /// Jain's index of service by weight in the worst window of ten seconds; 1 without competition.
    pub jain: f64,
    /// Largest relative deviation of a tenant from its fair share in a window.
    pub share_error: f64,
    /// Utilisation of the executors, in dominant shares.
    pub utilisation: f64,
}

/// Runs `scenario` for each of `policies` with `seeds` seeds from `seed`. `progress` gets the number of ended tasks and
/// the total.
#[must_use]
pub fn compare(
    scenario: &Scenario,
    sizes: Sizes,
    policies: &[PolicyName],
    (seed, seeds): (u64, u64),
    progress: &mut dyn FnMut(usize, usize),
) -> Report {
    let sizes = sizes.or(scenario.sizes);
    let mut rows: Vec<PolicyFigures> = Vec::new();
    let mut waits = Vec::new();
    let mut done = 0;
    for this in seed..seed + seeds {
        let world = scenario.draw(sizes, &mut Random::new(this));
        let all = world.tasks.len() * policies.len() * usize::try_from(seeds).unwrap_or(usize::MAX);
        for policy in policies {
            let mut report_progress = |ended| progress(done + ended, all);
            let measure = run(&world, policy.start(&world).as_mut(), &mut report_progress);
            done += world.tasks.len();
            if this == seed {
                waits.push((*policy, hundredths(&waits_of(&world, &measure, None))));
            }
            add(&mut rows, rows_of(&world, &measure, *policy), seeds as f64);
        }
    }
    Report { scenario: scenario.name, sizes, seed, seeds, rows, waits }
}

/// Adds one seed to the means.
fn add(means: &mut Vec<PolicyFigures>, rows: Vec<PolicyFigures>, seeds: f64) {
    for row in rows {
        let part = row.map(|figure| figure / seeds);
        let known =
            means.iter_mut().find(|mean| (mean.policy, mean.group) == (row.policy, row.group));
        match known {
            Some(mean) => *mean = mean.plus(&part),
            None => means.push(part),
        }
    }
}

fn rows_of(world: &World, measure: &Measure<'_>, policy: PolicyName) -> Vec<PolicyFigures> {
    let groups: BTreeSet<_> = world.tenants.iter().map(|tenant| tenant.group).collect();
    let named = groups.iter().copied().filter(|_| groups.len() > 1).map(Some);
    std::iter::once(None).chain(named).map(|group| row(world, measure, policy, group)).collect()
}

fn row(
    world: &World,
    measure: &Measure<'_>,
    policy: PolicyName,
    group: Option<&'static str>,
) -> PolicyFigures {
    let of_group = |tenant: usize| group.is_none_or(|name| world.tenants[tenant].group == name);
    let tasks = || world.tasks.iter().zip(&measure.starts).filter(|(t, _)| of_group(t.tenant));
    let waits = waits_of(world, measure, group);
    let end = measure.now;
    let missed = tasks().filter(|(task, start)| start.unwrap_or(end) > task.deadline()).count();
    let count = tasks().count();
    let all: f64 = measure.service.iter().sum();
    let own: f64 =
        measure.service.iter().enumerate().filter(|(t, _)| of_group(*t)).map(|(_, s)| s).sum();
    PolicyFigures {
        policy,
        group: group.unwrap_or("all"),
        tasks: count as f64,
        started: waits.len() as f64,
        wait_p50_s: quantile(&waits, 0.5),
        wait_p99_s: quantile(&waits, 0.99),
        wait_max_s: quantile(&waits, 1.0),
        missed: missed as f64 / count.max(1) as f64,
        share: own / all,
        jain: measure.windows.iter().map(|window| window.jain).fold(1.0, f64::min),
        share_error: measure.windows.iter().map(|window| window.error).fold(0.0, f64::max),
        utilisation: all / (end - domain::time::Timestamp::UNIX_EPOCH).as_seconds_f64(),
    }
}

/// Sorted, in seconds.
fn waits_of(world: &World, measure: &Measure<'_>, group: Option<&str>) -> Vec<f64> {
    let started =
        world.tasks.iter().zip(&measure.starts).filter(|(task, _)| {
            group.is_none_or(|group| world.tenants[task.tenant].group == group)
        });
    let mut waits: Vec<f64> = started
        .filter_map(|(task, start)| Some(((*start)? - task.arrival).as_seconds_f64()))
        .collect();
    waits.sort_by(f64::total_cmp);
    waits
}

/// Of a sorted list; 0 of none.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

fn hundredths(sorted: &[f64]) -> Vec<f64> {
    (0..=100).map(|part| quantile(sorted, f64::from(part) / 100.0)).collect()
}

impl PolicyFigures {
    fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            policy: self.policy,
            group: self.group,
            tasks: of(self.tasks),
            started: of(self.started),
            wait_p50_s: of(self.wait_p50_s),
            wait_p99_s: of(self.wait_p99_s),
            wait_max_s: of(self.wait_max_s),
            missed: of(self.missed),
            share: of(self.share),
            jain: of(self.jain),
            share_error: of(self.share_error),
            utilisation: of(self.utilisation),
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            policy: self.policy,
            group: self.group,
            tasks: self.tasks + other.tasks,
            started: self.started + other.started,
            wait_p50_s: self.wait_p50_s + other.wait_p50_s,
            wait_p99_s: self.wait_p99_s + other.wait_p99_s,
            wait_max_s: self.wait_max_s + other.wait_max_s,
            missed: self.missed + other.missed,
            share: self.share + other.share,
            jain: self.jain + other.jain,
            share_error: self.share_error + other.share_error,
            utilisation: self.utilisation + other.utilisation,
        }
    }
}
