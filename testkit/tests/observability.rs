//! What operators are given to watch Berth with names what is there: docs, alert rules and dashboards.
//!
//! Run by `make check`. The truth is the program's source ([`declared`]): each metric is documented, and each one that is documented,
//! watched or drawn is declared, with those labels. `scripts/observability check` asks `promtool` whether rules and queries mean
//! something.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that cannot go on fails its test")]

mod declared;
mod promql;

use declared::Program;
use promql::named;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static PROGRAM: LazyLock<Program> = LazyLock::new(Program::read);

/// Pages on which each `berth_…` is a metric.
const PAGES: [&str; 5] = ["observability", "limits", "retries", "operations", "tenants"];
/// What Prometheus itself adds to each series.
const OF_THE_SCRAPE: [&str; 2] = ["instance", "job"];
/// Labels whose values are not the program's: what operators named, and bounds.
const FREE: [&str; 4] = ["pool", "le", "instance", "job"];
/// Of Prometheus, not of Berth.
const ITS_OWN: [&str; 1] = ["up"];

fn read(path: &str) -> String {
    std::fs::read_to_string(testkit::settings::workspace().join(path)).expect(path)
}

fn page(name: &str) -> String {
    read(&format!("docs/{name}.md"))
}

/// What follows each `berth_…` of a page: the name and the text after it.
fn mentions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("`berth_").chain(text.match_indices("(berth_")).map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.split_at(end)
    })
}

/// What is wrong with a query's names, if anything. `recorded`: names that rules make.
fn faults(query: &str, recorded: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known: BTreeSet<&str> = OF_THE_SCRAPE.into();
    let query_names = named(query);
    for selector in &query_names.selectors {
        let name = selector.name.as_str();
        if recorded.contains(name) || ITS_OWN.contains(&name) {
            continue;
        }
        let Some((family, has_bounds)) = PROGRAM.family_of(name) else {
            faults.push(format!("no metric `{name}` is declared"));
            continue;
        };
        let mut labels: BTreeSet<&str> = family.labels.iter().map(String::as_str).collect();
        labels.extend(has_bounds.then_some("le"));
        for (label, operator, value) in &selector.matchers {
            if !labels.contains(label.as_str()) && !OF_THE_SCRAPE.contains(&label.as_str()) {
                faults.push(format!("`{name}` has no label `{label}`"));
            }
            let may_be_a_pattern = operator.contains('~');
            // Statuses are numbers.
            let is_said = |value: &&str| {
                FREE.contains(&label.as_str())
                    || may_be_a_pattern && value.contains(['.', '*'])
                    || value.parse::<u16>().is_ok()
                    || PROGRAM.words.contains(*value)
            };
            let values =
                if may_be_a_pattern { value.split('|').collect() } else { vec![value.as_str()] };
            faults.extend(values.into_iter().filter(|value| !is_said(value)).map(|value| {
                format!("the program never says `{value}`, as `{name}` is asked for")
            }));
        }
        known.extend(labels);
    }
    let unknown = query_names.grouped_by.iter().filter(|label| !known.contains(label.as_str()));
    faults.extend(unknown.map(|label| format!("nothing in it has the label `{label}`")));
    faults
}

/// An alert or recording rule: the keys of its block, with values as they are written.
type Rule = BTreeMap<String, String>;

/// The rules of the file. It has no key twice in a rule, and each value on the line of its key or indented below it.
fn rules() -> Vec<Rule> {
    let text = read("packaging/prometheus/berth.rules.yml");
    let mut rules: Vec<Rule> = Vec::new();
    let mut key = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let content = line.trim_start();
        let begins = content
            .strip_prefix("- ")
            .filter(|rest| rest.starts_with("alert:") || rest.starts_with("record:"));
        if begins.is_some() {
            rules.push(Rule::new());
        }
        let Some(rule) = rules.last_mut() else { continue };
        // A new group's name ends the last rule of the one before.
        let content = begins.unwrap_or(content).trim_start_matches("- ");
        match content.split_once(": ").or_else(|| content.strip_suffix(':').map(|key| (key, ""))) {
            Some((name, value)) if name.chars().all(|c| c.is_ascii_lowercase() || c == '_') => {
                name.clone_into(&mut key);
                rule.insert(key.clone(), value.trim_start_matches(">-").to_owned());
            }
            _ => {
                let value = rule.entry(key.clone()).or_default();
                value.push(' ');
                value.push_str(content);
            }
        }
    }
    rules
}

fn alerts() -> BTreeMap<String, Rule> {
    rules().into_iter().filter_map(|rule| Some((rule.get("alert")?.clone(), rule))).collect()
}

fn recorded() -> BTreeSet<String> {
    rules().iter().filter_map(|rule| rule.get("record").cloned()).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()));
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    headings
        .map(|heading| {
            heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
        })
        .collect()
}

#[test]
fn each_metric_is_documented_with_its_labels() {
    let pages = PAGES.map(page);
    let main = &pages[0];
    let mut wrong = Vec::new();
    for (name, family) in &PROGRAM.metrics {
        let labels = family.labels.join(",");
        let full =
            if labels.is_empty() { format!("`{name}`") } else { format!("`{name}{{{labels}}}`") };
        if !pages.iter().any(|page| page.contains(&full)) {
            wrong.push(format!("{full} is on no page"));
        }
        let marked = main.contains(&format!("{full} (h)"));
        if marked != family.is_histogram && main.contains(&full) {
            wrong.push(format!("{full} is {}marked (h)", if marked { "" } else { "not " }));
        }
    }
    assert!(PROGRAM.metrics.len() > 90, "{} metrics were found", PROGRAM.metrics.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_documented_metric_is_declared() {
    let mut wrong = Vec::new();
    for (page_name, text) in PAGES.map(|name| (name, page(name))) {
        for (name, after) in mentions(&text) {
            let Some(family) = PROGRAM.metrics.get(name) else {
                wrong.push(format!("{page_name}.md: no metric `{name}` is declared"));
                continue;
            };
            let Some((inside, _)) = after.strip_prefix('{').and_then(|rest| rest.split_once('}'))
            else {
                continue;
            };
            let labels = inside.split(',').map(|part| part.split('=').next().unwrap_or_default());
            let unknown = labels.filter(|label| !family.labels.iter().any(|known| known == label));
            wrong.extend(
                unknown.map(|label| format!("{page_name}.md: `{name}` has no label `{label}`")),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_rules_name_what_is_declared() {
    let recorded = recorded();
    let mut wrong = Vec::new();
    for rule in rules() {
        let name = rule.get("alert").or_else(|| rule.get("record")).expect("a name");
        let query = rule.get("expr").unwrap_or_else(|| panic!("{name} has no expr"));
        assert!(!named(query).selectors.is_empty(), "{name} asks for nothing: {query}");
        wrong.extend(faults(query, &recorded).iter().map(|fault| format!("{name}: {fault}")));
    }
    // Those that its texts name.
    let text = read("packaging/prometheus/berth.rules.yml");
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for word in words.filter(|word| word.starts_with("berth_")) {
        if !PROGRAM.metrics.contains_key(word) && PROGRAM.family_of(word).is_none() {
            wrong.push(format!("a text names `{word}`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_alert_says_what_to_do_and_is_documented() {
    let main = page("observability");
    let mut wrong = Vec::new();
    let alerts = alerts();
    for (name, rule) in &alerts {
        let of = |key: &str| rule.get(key).map_or("", String::as_str).trim();
        if !["{severity: critical}", "{severity: warning}"].contains(&of("labels")) {
            wrong.push(format!("{name}: severity is {}", of("labels")));
        }
        for key in ["summary", "description"] {
            if of(key).len() < 20 {
                wrong.push(format!("{name}: its {key} is \"{}\"", of(key)));
            }
        }
        let (file, anchor) = of("runbook_url").split_once('#').unwrap_or_default();
        if file.is_empty() || !anchors(&read(file)).contains(anchor) {
            wrong.push(format!("{name}: no heading for {}", of("runbook_url")));
        }
        let bold = format!("**{name}**");
        let is_critical = of("labels").contains("critical");
        let marked = main.contains(&format!("{bold} (critical)"));
        if !main.contains(&bold) || marked != is_critical {
            wrong.push(format!("{name} is not documented, or not as what it is"));
        }
    }
    let bold = main.split("**Berth").skip(1).filter_map(|rest| rest.split_once("**"));
    let unknown =
        bold.map(|(name, _)| format!("Berth{name}")).filter(|name| !alerts.contains_key(name));
    wrong.extend(unknown.map(|name| format!("observability.md: there is no alert {name}")));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not() {
    let text = read("packaging/prometheus/berth.test.yml");
    let mut fires = BTreeSet::new();
    let mut silent = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in text.lines() {
        if let Some((_, series)) = line.split_once("series: '") {
            let (series, _) = series.split_once("',").expect("a series and its values");
            wrong.extend(
                faults(series, &BTreeSet::new()).iter().map(|fault| format!("{series}: {fault}")),
            );
        }
        let Some((_, rest)) = line.split_once("alertname=\"") else { continue };
        let (alert, rest) = rest.split_once('"').expect("a name");
        let is_silent = rest.ends_with("exp_samples: []}");
        if is_silent {
            silent.insert(alert.to_owned())
        } else {
            fires.insert(alert.to_owned())
        };
    }
    let alerts: BTreeSet<String> = alerts().into_keys().collect();
    assert!(alerts.len() >= 40, "{} alerts were found", alerts.len());
    assert_eq!(fires, alerts, "alerts with a test in which they fire, and all alerts");
    assert_eq!(silent, alerts, "alerts with a test in which they do not, and all alerts");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The panels of a dashboard that show something, and all of its queries.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let panels = dashboard["panels"].as_array().expect("panels");
    panels.iter().filter(|panel| panel["type"] != "row").collect()
}

fn dashboards() -> Vec<(String, Value)> {
    let folder = testkit::settings::workspace().join("packaging/grafana");
    let files = std::fs::read_dir(folder).expect("the dashboards").flatten();
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a dashboard");
        (path.display().to_string(), serde_json::from_str(&text).expect("JSON"))
    };
    let found: Vec<_> = files.map(|file| read(file.path())).collect();
    assert!(found.len() >= 6, "{} dashboards", found.len());
    found
}

#[test]
fn the_dashboards_draw_what_is_declared() {
    let mut wrong = Vec::new();
    for (file, dashboard) in dashboards() {
        let variables = dashboard["templating"]["list"].as_array().expect("variables");
        let names: BTreeSet<&str> =
            variables.iter().filter_map(|one| one["name"].as_str()).collect();
        for query in variables.iter().filter_map(|one| one["query"].as_str()) {
            if let Some((metric, label)) =
                query.strip_prefix("label_values(").and_then(|rest| rest.split_once(", "))
            {
                let query = format!("sum by ({} ({metric})", label);
                wrong.extend(
                    faults(&query, &BTreeSet::new()).iter().map(|fault| format!("{file}: {fault}")),
                );
            }
        }
        for panel in panels(&dashboard) {
            let title = panel["title"].as_str().expect("a title");
            let targets = panel["targets"].as_array().expect("targets");
            assert!(!targets.is_empty(), "{file}: {title} shows nothing");
            for target in targets {
                let query = target["expr"].as_str().expect("a query");
                let used = query.split('$').skip(1).map(|rest| {
                    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .next()
                        .unwrap_or_default()
                });
                for variable in
                    used.filter(|name| *name != "__rate_interval" && !names.contains(name))
                {
                    wrong.push(format!("{file}: {title}: no variable ${variable}"));
                }
                let query = query.replace("$__rate_interval", "5m");
                wrong.extend(
                    faults(&query, &BTreeSet::new())
                        .iter()
                        .map(|fault| format!("{file}: {title}: {fault}")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_dashboards_have_a_data_source_units_and_room_for_each_panel() {
    let mut titles = BTreeSet::new();
    for (file, dashboard) in dashboards() {
        let name = dashboard["uid"].as_str().expect("a uid").to_owned();
        assert!(file.ends_with(&format!("/{name}.json")), "{file} is {name}");
        assert!(titles.insert(dashboard["title"].as_str().expect("a title").to_owned()), "{file}");
        assert_eq!(dashboard["templating"]["list"][0]["type"], "datasource", "{file}");
        let mut taken = BTreeSet::new();
        let mut ids = BTreeSet::new();
        for panel in dashboard["panels"].as_array().expect("panels") {
            let at = |key: &str| panel["gridPos"][key].as_u64().expect("a place");
            let (x, y) = (at("x"), at("y"));
            assert!(
                ids.insert(panel["id"].as_u64().expect("an id")) && x + at("w") <= 24,
                "{file}: {panel}"
            );
            for cell in (x..x + at("w")).flat_map(|x| (y..y + at("h")).map(move |y| (x, y))) {
                assert!(taken.insert(cell), "{file}: {} lies over another", panel["title"]);
            }
        }
        for panel in panels(&dashboard) {
            let title = &panel["title"];
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{file}: {title}");
            let unit = panel["fieldConfig"]["defaults"]["unit"].as_str();
            assert!(unit.is_some_and(|unit| !unit.is_empty()), "{file}: {title} has no unit");
            for target in panel["targets"].as_array().expect("targets") {
                let unit_of_time = target["expr"].as_str().is_some_and(|query| {
                    query.starts_with("histogram_quantile") && query.contains("_seconds_bucket")
                });
                assert!(!unit_of_time || unit == Some("s"), "{file}: {title} shows seconds");
            }
        }
    }
}
