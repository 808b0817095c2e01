//! What the batcher is told of ends, and what it finds out of those that nobody tells.

use crate::support::World;
use chrono::TimeDelta;
use domain::fairness::Doubtful;
use domain::id::{NodeId, TaskId};
use domain::task::State;
use std::collections::HashMap;
use std::time::Duration;
use store::attempt_end::{UsedTime, prune, read, tell, unreported, words};

#[tokio::test]
async fn each_word_is_heard_once_by_each_who_listens() {
    let world = World::new().await;
    let (one, other) = (NodeId::fresh(), NodeId::fresh());
    let end = |ms| UsedTime { task: TaskId::fresh(), used: Duration::from_millis(ms) };
    let (first, second, third) = ([end(0), end(1)], [end(u64::from(u32::MAX))], [end(7)]);
    tell(&world.rm, one, 0, &words(&first)).await.unwrap();
    tell(&world.rm, other, 0, &words(&second)).await.unwrap();
    // The same word again: its answer was lost.
    tell(&world.rm, one, 0, &words(&first)).await.unwrap();
    let mut heard = HashMap::new();
    let mut ends = read(&world.scheduler, &mut heard).await.unwrap();
    ends.sort_unstable_by_key(|end| end.used);
    assert_eq!(ends, [first[0], first[1], second[0]]);
    tell(&world.rm, one, 1, &words(&third)).await.unwrap();
    assert_eq!(read(&world.scheduler, &mut heard).await.unwrap(), third);
    assert!(read(&world.scheduler, &mut heard).await.unwrap().is_empty());
    assert_eq!(read(&world.scheduler, &mut HashMap::new()).await.unwrap().len(), 4);

    world.sql("update attempt_end set at = at - interval '11 seconds'").await;
    assert!(read(&world.scheduler, &mut HashMap::new()).await.unwrap().is_empty());
    assert_eq!(prune(&world.scheduler).await.unwrap(), 0);
    world.sql("update attempt_end set at = at - interval '50 seconds'").await;
    assert_eq!(prune(&world.scheduler).await.unwrap(), 3);
}

#[tokio::test]
async fn of_what_is_not_held_any_more_the_last_use_is_found() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let since = runtime::clock::wall() - TimeDelta::minutes(1);
    for &state in State::ALL {
        let put = world.put(leader, owned, tenant, state).await;
        let id = put.task.uuid();
        world.sql(format!("update attempt set usage_ms = 1234 where task_id = '{id}'")).await;
        let used = unreported(&world.scheduler, &[Doubtful { tenant, task: put.task, since }])
            .await
            .unwrap();
        let expected = match state {
            State::Queued | State::Running | State::Cancelling => None,
            // Never ran.
            State::Scheduled
            | State::Ready
            | State::Cancelled
            | State::Expired
            | State::Skipped => Some(0),
            State::Retrying | State::Succeeded | State::Failed | State::Aborted | State::Killed => {
                Some(1234)
            }
        };
        let expected =
            expected.map(|ms| UsedTime { task: put.task, used: Duration::from_millis(ms) });
        assert_eq!(used, expected.into_iter().collect::<Vec<_>>(), "{state}");
        // An attempt before this dispatch is not what it used.
        let since = runtime::clock::wall() + TimeDelta::minutes(1);
        let later = [Doubtful { tenant, task: put.task, since }];
        let used = unreported(&world.scheduler, &later).await.unwrap();
        assert!(used.iter().all(|end| end.used.is_zero()), "{state}");
    }
    let (tenant, task) = (world.tenant().await, TaskId::fresh());
    let foreign = [Doubtful { tenant, task, since }];
    let used = unreported(&world.scheduler, &foreign).await.unwrap();
    assert_eq!(used, [UsedTime { task, used: Duration::ZERO }]);
}
