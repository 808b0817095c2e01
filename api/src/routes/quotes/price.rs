//! What a subject costs: line by line, in all, probably, and with more patience.

use super::subject::{Item, Subject};
use api_types::{QuoteCheaper, QuoteEstimate, QuoteLine};
use domain::price::{
    Cheaper, CostParts, Micros, PricedTasks, TaskQuote, TaskToPrice, Use, cheaper,
};
use domain::time::format_duration;
use domain::workflow::NodeTasks;
use std::collections::HashMap;
use std::time::Duration;
use store::quote::{Like, QuoteBook, QuoteTerms, RecentUse};

/// Lines of one answer.
pub(super) const MOST_LINES: usize = 1000;

/// A subject, and all that its price depends on.
pub(super) struct Asked<'a> {
    pub subject: &'a Subject,
    pub terms: &'a QuoteTerms,
    /// What tasks used lately.
    pub recent: HashMap<Like, RecentUse>,
    /// The longest delay tolerance that can be asked for.
    pub most_tolerance: Duration,
}

/// What a subject costs.
pub(super) struct Priced {
    /// Of each item: what one of its tasks can cost, and how many there are.
    pub items: Vec<(Micros, u64)>,
    pub lines: Vec<QuoteLine>,
    pub lines_left_out: u64,
    pub tasks: Option<u64>,
    pub most: Option<Micros>,
    pub estimate: Option<QuoteEstimate>,
    pub cheaper: Vec<QuoteCheaper>,
}

impl Priced {
    /// Of a tenant without prices.
    pub(super) fn without_prices(subject: &Subject) -> Self {
        let tasks = counts(subject, |_| Micros(0)).iter().map(|(tasks, _)| tasks).sum();
        Self {
            items: Vec::new(),
            lines: Vec::new(),
            lines_left_out: 0,
            tasks: times(subject, tasks),
            most: None,
            estimate: None,
            cheaper: Vec::new(),
        }
    }
}

/// How many times its items there are: the fires of a schedule. `None`: unknown.
fn fires(subject: &Subject) -> Option<u64> {
    subject.month.as_ref().map_or(Some(1), |month| month.fires)
}

fn times(subject: &Subject, tasks: u64) -> Option<u64> {
    fires(subject).map(|fires| fires.saturating_mul(tasks))
}

/// How many tasks each item has, and whether there may be fewer. Of those of which that is not known the dearest has all that there may
/// be: so no others cost more.
fn counts(subject: &Subject, most: impl Fn(&Item) -> Micros) -> Vec<(u64, bool)> {
    let open = subject.items.iter().enumerate();
    let open = open.filter(|(_, item)| matches!(item.tasks, NodeTasks::UpTo(_)));
    let dearest = open.rev().max_by_key(|(_, item)| most(item)).map(|(place, _)| place);
    let count = |(place, item): (usize, &Item)| match item.tasks {
        NodeTasks::Known(tasks) => (tasks, false),
        NodeTasks::UpTo(tasks) if Some(place) == dearest => (tasks, true),
        NodeTasks::UpTo(_) => (0, true),
    };
    subject.items.iter().enumerate().map(count).collect()
}

/// Items that are alike.
struct Group<'a> {
    item: &'a Item,
    quote: TaskQuote,
    tasks: u64,
    at_most: bool,
}

/// The price; `None`: the tenant's plan has no prices.
pub(super) fn price(asked: &Asked<'_>) -> Option<Priced> {
    let Asked { subject, terms, .. } = asked;
    let book = terms.book.as_ref()?;
    let mut quotes: HashMap<TaskToPrice, TaskQuote> = HashMap::new();
    for item in &subject.items {
        if let std::collections::hash_map::Entry::Vacant(place) = quotes.entry(item.task) {
            place.insert(TaskQuote::of((&book.name, &book.book), terms.now, &item.task)?);
        }
    }
    let quote_of = |item: &Item| quotes.get(&item.task).copied();
    let each = |item: &Item| quote_of(item).map_or(Micros(0), |quote| quote.most);
    let counts = counts(subject, each);
    let items: Vec<(Micros, u64)> =
        subject.items.iter().zip(&counts).map(|(item, (tasks, _))| (each(item), *tasks)).collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<TaskToPrice, usize> = HashMap::new();
    for (item, (tasks, at_most)) in subject.items.iter().zip(&counts) {
        let known = places.get(&item.task).filter(|_| subject.is_gathered).copied();
        if let Some(group) = known.and_then(|place| groups.get_mut(place)) {
            group.tasks += tasks;
        } else if let Some(quote) = quote_of(item) {
            places.insert(item.task, groups.len());
            groups.push(Group { item, quote, tasks: *tasks, at_most: *at_most });
        }
    }
    let once: Micros = items.iter().map(|(most, tasks)| *most * *tasks).sum();
    let tasks = counts.iter().map(|(tasks, _)| tasks).sum();
    Some(Priced {
        tasks: times(subject, tasks),
        most: fires(subject).map(|fires| once * fires),
        estimate: estimate(asked, book, &groups),
        cheaper: options(asked, book, &groups),
        lines_left_out: groups.len().saturating_sub(MOST_LINES) as u64,
        lines: groups.iter().take(MOST_LINES).map(line).collect(),
        items,
    })
}

fn line(group: &Group<'_>) -> QuoteLine {
    let Group { item, quote, tasks, at_most } = group;
    let CostParts { cpu, memory, disk, iops, ports, .. } = quote.parts;
    QuoteLine {
        name: item.name.clone(),
        tasks: *tasks,
        at_most: *at_most,
        attempts: item.task.attempts,
        tier: item.task.most.tier.map(|tier| tier.to_string()),
        effective_from: quote.effective_from,
        cpu: cpu.0,
        memory: memory.0,
        disk: disk.0,
        iops: iops.0,
        ports: ports.0,
        rounding: quote.parts.rounding.0,
        tolerance_discount: quote.parts.tolerance_discount.0,
        flexible_discount: quote.parts.flexible_discount.0,
        attempt: quote.attempt.0,
        task: quote.task.0,
        fire: quote.fire.0,
        most: (quote.most * *tasks).0,
    }
}

/// What it probably costs: as long as like tasks ran, at the prices of now.
fn estimate(asked: &Asked<'_>, book: &QuoteBook, groups: &[Group<'_>]) -> Option<QuoteEstimate> {
    let fires = fires(asked.subject)?;
    if groups.is_empty() || groups.iter().any(|group| group.at_most) {
        return None;
    }
    let own = asked.subject.like.as_ref().and_then(|like| Some((like, asked.recent.get(like)?)));
    let own = own.filter(|(_, used)| used.ms_of_a_task().is_some());
    let mut bases: HashMap<Like, u64> = HashMap::new();
    let mut amount = Micros(0);
    for Group { item, quote, tasks, .. } in groups {
        let tier = item.task.most.tier.map(|tier| tier.to_string()).unwrap_or_default();
        let tier = Like::Tier(tier);
        let (like, used) = match own {
            Some(own) => own,
            None => (&tier, asked.recent.get(&tier)?),
        };
        let TaskToPrice { most, attempts, .. } = item.task;
        let most_ms = most.ms.saturating_mul(attempts.into());
        let ms = used.ms_of_a_task()?.min(most_ms);
        let likely = TaskToPrice { most: Use { ms, ..most }, ..item.task };
        let one = quote.likely(&book.book, asked.terms.now, &likely);
        amount = amount + one * *tasks;
        bases.insert(like.clone(), used.attempts);
    }
    let like = match asked.subject.like.as_ref().filter(|_| own.is_some()) {
        Some(Like::Schedule(_)) => "schedule",
        Some(Like::Workflow(_)) => "workflow",
        Some(Like::Tier(_)) | None => "tier",
    };
    Some(QuoteEstimate {
        amount: (amount * fires).0,
        like: like.to_owned(),
        attempts: bases.values().sum(),
        since: asked.terms.now,
    })
}

fn options(asked: &Asked<'_>, book: &QuoteBook, groups: &[Group<'_>]) -> Vec<QuoteCheaper> {
    let Some(fires) = fires(asked.subject) else { return Vec::new() };
    let priced = |group: &Group<'_>| PricedTasks {
        task: group.item.task,
        tasks: group.tasks.saturating_mul(fires),
    };
    let tasks: Vec<PricedTasks> = groups.iter().map(priced).collect();
    let most_tolerance = asked.most_tolerance.as_secs();
    let found = cheaper((&book.name, &book.book), asked.terms.now, &tasks, most_tolerance);
    let option = |of: Cheaper| QuoteCheaper {
        delay_tolerance: of
            .tolerance_s
            .map(|seconds| format_duration(Duration::from_secs(seconds))),
        flexible: of.flexible,
        most: of.most.0,
        saving: of.saving.0,
        saving_basis_points: of.basis_points,
    };
    found.into_iter().map(option).collect()
}
