//! The table on standard output.

use super::{Machine, Results, Versions};
use crate::cpu::Cpu;
use crate::statistics::median;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// In the order in which a task meets them.
const PROCESSES: [&str; 7] =
    ["api", "scheduler", "resource-manager", "executor", "postgres", "rabbitmq", "bench"];

pub(super) fn print(results: &Results) -> io::Result<()> {
    let mut out = io::stdout().lock();
    print_machine(&mut out, &results.machine, &results.versions)?;
    figures(&mut out, results)?;
    cpu(&mut out, results)?;
    for problem in &results.problems {
        writeln!(out, "VOID {problem}")?;
    }
    Ok(())
}

/// What was measured on and with.
pub fn print_machine(
    out: &mut impl Write,
    machine: &Machine,
    versions: &Versions,
) -> io::Result<()> {
    writeln!(
        out,
        "\n{}, {} cores, {} MiB, Linux {}",
        machine.cpu, machine.cores, machine.memory_mib, machine.kernel
    )?;
    writeln!(
        out,
        "Postgres {}, RabbitMQ {}, {}, {}\n",
        versions.postgres, versions.rabbitmq, versions.rust, versions.berth
    )
}

fn figures(out: &mut impl Write, results: &Results) -> io::Result<()> {
    if results.figures.is_empty() {
        return Ok(());
    }
    writeln!(out, "{:<30} {:>12}   runs; what else", "figure", "median")?;
    for (key, figure) in &results.figures {
        let runs: Vec<String> = figure.runs.iter().map(|value| shown(*value)).collect();
        let extra = figure
            .extra
            .iter()
            .filter_map(|(name, values)| Some(format!("{name} {}", shown(median(values)?))));
        let extra: Vec<String> = extra.collect();
        let middle = figure.median.map_or_else(|| "-".to_owned(), shown);
        writeln!(
            out,
            "{key:<30} {middle:>12}   {}{}{}",
            runs.join(" "),
            if extra.is_empty() { "" } else { "; " },
            extra.join(", ")
        )?;
    }
    Ok(())
}

fn cpu(out: &mut impl Write, results: &Results) -> io::Result<()> {
    let with_cpu: BTreeMap<_, _> =
        results.figures.iter().filter(|(_, figure)| !figure.cpu.is_empty()).collect();
    if with_cpu.is_empty() {
        return Ok(());
    }
    write!(out, "\n{:<30}", "CPU us a task, median")?;
    for name in PROCESSES {
        write!(out, " {:>10}", name.replace("resource-manager", "resource-m"))?;
    }
    writeln!(out, " {:>10} {:>10} {:>10}", "cores busy", "others", "stolen")?;
    for (key, figure) in with_cpu {
        write!(out, "{key:<30}")?;
        let middle = |of: &dyn Fn(&Cpu) -> Option<f64>| {
            median(&figure.cpu.iter().filter_map(of).collect::<Vec<_>>())
        };
        for name in PROCESSES {
            let us = middle(&|cpu| cpu.us_per_item.get(name).copied());
            write!(out, " {:>10}", us.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}")))?;
        }
        let cores: [fn(&Cpu) -> f64; 3] =
            [|cpu| cpu.busy_cores, |cpu| cpu.other_cores, |cpu| cpu.stolen_cores];
        for of in cores {
            write!(out, " {:>10.2}", middle(&|cpu| Some(of(cpu))).unwrap_or(0.0))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Three digits that count, or all before the point.
pub fn shown(value: f64) -> String {
    match value.abs() {
        big if big >= 1000.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
