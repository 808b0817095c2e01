//! A page of a filter that few rows fit ends after so many that were read, and the next goes on there.

use crate::support::{World, new_schedule};
use domain::schedule::Outcome;
use store::audit::AuditFilter;
use store::schedule::{self, FireFilter, PutAnswer};
use store::{MOST_READ, TenantScope};

#[tokio::test]
async fn a_page_of_the_audit_reads_so_many_rows_and_the_next_goes_on_there() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let rows = format!(
        "insert into audit (id, tenant_id, actor_kind, action, target_kind)
            select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '{}', 'system',
                case when n in (1, 20000) then 'rare.act' else 'usual.act' end, 'thing'
            from generate_series(1, 20000) n",
        tenant.uuid()
    );
    world.sql(rows).await;
    let scope = TenantScope::of_role(tenant);
    let rare = Some("rare.act".to_owned());
    let mut filter = AuditFilter { action: rare, ..AuditFilter::default() };
    let (mut pages, mut found) = (Vec::new(), 0);
    loop {
        let page = store::audit::find(&world.api, &scope, &filter, 10).await.unwrap();
        pages.push(page.len());
        found += page.len();
        let Some(stopped_at) = page.stopped_at else { break };
        filter.before = Some(stopped_at);
    }
    assert_eq!(
        (found, pages.len()),
        (2, 3),
        "{pages:?}: the tenant's own rows are before the first"
    );
    let all = AuditFilter::default();
    let all = store::audit::find(&world.api, &scope, &all, 10).await.unwrap();
    assert_eq!((all.len(), all.stopped_at), (10, None));
}

#[tokio::test]
async fn a_page_of_fires_reads_so_many_rows_and_the_next_goes_on_there() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let made = schedule::put(&world.api, &scope, &new_schedule("s")).await.unwrap();
    let PutAnswer::Created(made) = made else { panic!("{made:?}") };
    let rows = format!(
        "insert into schedule_fire (tenant_id, schedule_id, due_at, outcome, kind, fired_at, version)
            select '{}', '{}', now() - n * interval '1 second', case when n in (1, {MOST_READ} + 1) then 'suspended' else 'paused' end,
                'scheduled', now(), 1
            from generate_series(1, {MOST_READ} + 1) n",
        tenant.uuid(),
        made.id.uuid()
    );
    world.sql(rows).await;
    let mut filter = FireFilter { outcomes: vec![Outcome::Suspended], before: None };
    let find = async |filter: &FireFilter, limit| {
        schedule::fires(&world.api, &scope, "s", filter, limit).await.unwrap().unwrap()
    };
    let full = find(&filter, 1).await;
    assert_eq!((full.len(), full.stopped_at), (1, None), "a full page ends with its last row");
    let first = find(&filter, 2).await;
    assert_eq!(first.len(), 1);
    filter.before = first.stopped_at;
    let second = find(&filter, 2).await;
    assert_eq!((second.len(), second.stopped_at), (1, None));
    assert!(second[0].due_at < first[0].due_at);
}
