//! Random configurations: each is applied, drifts, is imported, and ends.

use crate::examples::imported;
use crate::server::Server;
use crate::terraform::Folder;
use std::fmt::Write;

/// Numbers from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn maybe(&mut self) -> bool {
        self.below(2) == 0
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub fn random_configurations_live(server: &Server) {
    let (seed, count) = (setting("SEED", 1), setting("CONFIGURATIONS", 5));
    // Once named, it stays.
    let book = serde_json::json!({"currency": "EUR", "prices": [{"effective_from": "2026-01-01T00:00:00Z"}]});
    server.operator().put("v1/admin/price-books/random", &book);
    for number in 0..count {
        let mut dice = Dice::new(seed.wrapping_add(number));
        let text = configuration(&mut dice);
        let folder = Folder::new(server, &format!("random-{number}"), &text);
        println!("  seed {}: {} lines", seed.wrapping_add(number), text.lines().count());
        folder.apply();
        folder.is_done();
        drifts(server, &folder, &mut dice);
        folder.apply();
        folder.is_done();
        imported(&folder);
        folder.destroy();
    }
}

/// One of the objects is deleted, or changed, by the API.
fn drifts(server: &Server, folder: &Folder, dice: &mut Dice) {
    let resources = folder.resources();
    let (kind, _, attributes) =
        &resources[usize::try_from(dice.below(resources.len() as u64)).unwrap()];
    let name = attributes["name"].as_str().or(attributes["key"].as_str()).unwrap();
    let path: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    match kind.as_str() {
        "berth_schedule" => server.tenant().delete(&format!("v1/schedules/{path}")),
        "berth_workflow" => server.tenant().delete(&format!("v1/workflows/{path}")),
        "berth_concurrency_limit" => {
            let running = attributes["running"].as_u64().unwrap() + 1;
            let body = serde_json::json!({"running": running});
            server.tenant().put(&format!("v1/concurrency-limits/{path}"), &body);
        }
        "berth_spend_cap" => server.tenant().delete(&format!("v1/spend-caps/{path}")),
        "berth_webhook" => server.tenant().delete(&format!("v1/webhooks/{path}")),
        "berth_plan" => server.operator().delete(&format!("v1/admin/plans/{path}")),
        "berth_price_book" => server.operator().delete(&format!("v1/admin/price-books/{path}")),
        "berth_pool" => server.operator().delete(&format!("v1/admin/pools/{path}")),
        other => panic!("{other} has no drift"),
    }
    let said = folder.plan();
    assert_eq!(said.code, 2, "the drift of {kind} {name} is not seen:\n{}", said.text);
}

fn configuration(dice: &mut Dice) -> String {
    let mut text = String::new();
    for index in 0..=dice.below(4) {
        let resource = match dice.below(9) {
            0 => plan(dice, index),
            1 => pool(dice, index),
            2 => workflow(dice, index),
            3 => limit(dice, index),
            4 => price_book(dice, index),
            5 => spend_cap(dice, index),
            6 => webhook(dice, index),
            _ => schedule(dice, index),
        };
        text.push_str(&resource);
    }
    text
}

fn plan(dice: &mut Dice, index: u64) -> String {
    let mut text =
        format!("resource \"berth_plan\" \"r{index}\" {{\n  name = \"random-{index}\"\n");
    for (name, values) in [
        ("running_tasks", &["1", "1e3", "10000000"][..]),
        ("weight", &["0.1", "1", "2.25", "1000", "1.7"]),
        ("flexible", &["true", "false"]),
        ("stored_output_bytes", &["0", "1125899906842624"]),
        ("submits_per_hour", &["0", "7"]),
        (
            "billing",
            &[
                "{ price_book = \"random\" }",
                "{ price_book = \"random\", included = { tasks = 5 }, minimum = 1e15 }",
            ],
        ),
    ] {
        if dice.maybe() {
            let _ = writeln!(text, "  {name} = {}", dice.one(values));
        }
    }
    text + "}\n"
}

fn price_book(dice: &mut Dice, index: u64) -> String {
    let mut prices = String::new();
    for from in ["2026-01-01T00:00:00+05:30", "2037-01-01T00:00:00.5Z", "2038-01-01T00:00:00Z"] {
        let _ = write!(prices, "{{ effective_from = \"{from}\"");
        for (name, values) in [
            ("rates", &["{}", "{ cpu_core = 1e10, port = 1 }"][..]),
            ("tiers", &["{}", "{ basic = {}, premium = { disk_gib = 3 } }"]),
            ("each", &["{ task = 20 }", "{ fire = 7, stored_gib_month = 1e10 }"]),
            (
                "discounts",
                &[
                    "{ flexible_percent = 100 }",
                    "{ tolerance = [{ at_least_s = 1, percent = 0 }, { at_least_s = 60, percent = 5 }] }",
                ],
            ),
            ("volume", &["[]", "[{ above = 1, percent = 1 }, { above = 1e12, percent = 2 }]"]),
        ] {
            if dice.maybe() {
                let _ = write!(prices, ", {name} = {}", dice.one(values));
            }
        }
        prices.push_str(" }, ");
    }
    let currency = dice.one(&["EUR", "JPY", "USD"]);
    format!(
        "resource \"berth_price_book\" \"r{index}\" {{\n  name = \"random-{index}\"\n  currency = \"{currency}\"\n  prices = [{prices}]\n}}\n"
    )
}

fn pool(dice: &mut Dice, index: u64) -> String {
    let mut text =
        format!("resource \"berth_pool\" \"r{index}\" {{\n  name = \"random-{index}\"\n");
    for (name, values) in [
        ("command_network", &["true", "false"][..]),
        ("private_targets", &["true", "false"]),
        ("max_executor", &["{ cpu_millis = 0 }", "{ ports = 3, iops = 2147483647 }"]),
        (
            "granted_to",
            &[
                "{ everyone = true }",
                "{ plans = [\"free\", \"default\"] }",
                "{ everyone = true, plans = [\"default\", \"free\"], tenants = [] }",
            ],
        ),
    ] {
        if dice.maybe() {
            let _ = writeln!(text, "  {name} = {}", dice.one(values));
        }
    }
    text + "}\n"
}

fn workflow(dice: &mut Dice, index: u64) -> String {
    let nodes = dice.one(&[
        "a = { task = { run = { noop = {} } } }",
        "a = { task = { run = { noop = { sleep = \"1500ms\" } } } }, b = { after = [\"a\"], wait = { delay = \"90s\" } }",
        "a = { wait = { approval = true } }, b = { after = [\"a\"], task = { run = { command = { argv = [\"x\", \"ä\"] } } } }",
    ]);
    let rest = dice.one(&[
        "",
        ", deadline = \"7200s\"",
        ", description = \"d\", labels = { b = \"1\", a = \"2\" }",
    ]);
    format!(
        "resource \"berth_workflow\" \"r{index}\" {{\n  name = \"random-{index}\"\n  definition = jsonencode({{ nodes = {{ {nodes} }}{rest} }})\n}}\n"
    )
}

fn limit(dice: &mut Dice, index: u64) -> String {
    let key = dice.one(&["plain", "with space", "a/b?c#d", "ünï"]);
    let running = dice.one(&["0", "1", "999999"]);
    format!(
        "resource \"berth_concurrency_limit\" \"r{index}\" {{\n  key = \"{key} {index}\"\n  running = {running}\n}}\n"
    )
}

fn spend_cap(dice: &mut Dice, index: u64) -> String {
    let amount = dice.one(&["0", "1e15", "250000000"]);
    let period = dice.one(&["day", "month"]);
    let scope = dice.one(&[
        "",
        "zone = \"America/New_York\"",
        "label = { key = \"team\", value = \"\" }",
        "label = { key = \"with space\", value = \"ünï/?#\" }",
        "schedule = \"of no schedule\"",
    ]);
    format!(
        "resource \"berth_spend_cap\" \"r{index}\" {{\n  name = \"random-{index}\"\n  amount = {amount}\n  currency = \"EUR\"\n  \
         period = \"{period}\"\n  {scope}\n}}\n"
    )
}

fn webhook(dice: &mut Dice, index: u64) -> String {
    let events = dice.one(&["", "events = []", "events = [\"berth.task.*\", \"berth.quota.*\"]"]);
    let more = dice.one(&[
        "",
        "labels = { team = \"\", \"with space\" = \"ünï/?#\" }",
        "headers = { \"X-A\" = \"a: b\" }\n  paused = true",
        "payload = jsonencode({ text = { \"$event\" = \"/type\" }, n = [1, null] })\n  ordered = true",
        "task_name = \"ünï\"\n  schedule = \"of no schedule\"\n  workflow = \"of none\"",
    ]);
    format!(
        "resource \"berth_webhook\" \"r{index}\" {{\n  name = \"random-{index}\"\n  url = \"https://a.example/{index}?a=b\"\n  \
         {events}\n  {more}\n}}\n"
    )
}

fn schedule(dice: &mut Dice, index: u64) -> String {
    let specs = dice.one(&[
        "{ cron = \"*/5 9-17 * * mon-fri\" }",
        "{ every = { every = \"5400s\" } }",
        "{ every = { every = \"90m\", anchor = \"2027-01-01T00:00:00+05:30\", counting = \"fixed_delay\" } }",
        "{ daily = { at = [\"09:00\", \"23:59:59\"] } }, { weekly = { on = [\"monday\", \"friday\"], at = [\"06:30\"] } }",
        "{ monthly = { on = [\"1\", \"31\", \"last\"], at = [\"00:00\"] } }, { yearly = { on = [\"02-29\"], at = [\"12:00\"] } }",
        "{ at = \"2037-01-01T00:00:00Z\" }",
        "{ after = \"36h\" }, { at = \"2038-01-01T00:00:00.5Z\" }",
    ]);
    let mut timing = format!("specs = [{specs}]");
    for (name, values) in [
        ("zone", &["\"UTC\"", "\"America/New_York\""][..]),
        ("end_at", &["\"2040-01-01T00:00:00+01:00\""]),
        ("max_fires", &["5"]),
        (
            "exclude",
            &[
                "[{ date = \"2027-05-01\" }]",
                "[{ from = \"2027-05-01T00:00:00+02:00\", to = \"2027-05-02T00:00:00Z\" }]",
            ],
        ),
        ("jitter", &["\"0s\"", "\"90s\""]),
    ] {
        if dice.maybe() {
            let _ = write!(timing, ", {name} = {}", dice.one(values));
        }
    }
    let mut task = format!("run = {{ {} }}", dice.one(&[
        "noop = {}",
        "noop = { sleep = \"1500ms\" }",
        "command = { argv = [\"sh\", \"-c\", \"echo $${A}\"], env = { A = \"1\", B = \"\" }, stdin = \"x\\ny\" }",
        "command = { argv = [\"true\"], env = {} }",
        "http = { url = \"https://example.com/hook\" }",
        "http = { url = \"https://example.com/hook\", body = \"{}\", headers = { X-A = \"1\" }, timeout = \"90s\", success = \"2xx,404\" }",
    ]));
    for (name, values) in [
        ("name", &["\"report\""][..]),
        ("tier", &["\"basic\"", "\"premium\""]),
        ("delay_tolerance", &["\"600s\""]),
        ("execution_cap", &["\"3600s\""]),
        ("priority", &["-10", "0", "10"]),
        ("flexible", &["true", "false"]),
        ("max_attempts", &["3"]),
        (
            "retry",
            &[
                "{}",
                "{ initial = \"1500ms\", on = [\"cap\", \"failure\"] }",
                "{ factor = 1.5, abort_on_exit_codes = [2, 1] }",
            ],
        ),
        ("delivery", &["\"at_most_once\""]),
        ("labels", &["{}", "{ team = \"media\" }"]),
    ] {
        if dice.maybe() {
            let _ = write!(task, ", {name} = {}", dice.one(values));
        }
    }
    let mut rest = String::new();
    for (name, values) in [
        ("pause_after_failures", &["3"][..]),
        ("paused", &["true", "false"]),
        (
            "catch_up",
            &[
                "{ count = 3, max_age = \"1440m\" }",
                "{ count = 1, max_age = \"1h\", per_second = 2 }",
            ],
        ),
    ] {
        if dice.maybe() {
            let _ = writeln!(rest, "  {name} = {}", dice.one(values));
        }
    }
    format!(
        "resource \"berth_schedule\" \"r{index}\" {{\n  name = \"random-{index}\"\n  timing = {{ {timing} }}\n  task = {{ {task} }}\n{rest}}}\n"
    )
}
