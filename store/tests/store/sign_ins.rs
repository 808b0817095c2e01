//! What is kept of sign-ins, and for how long.

use crate::support::World;
use store::sign_in::{is_known_place, know_place, purge};

#[tokio::test]
async fn places_not_seen_for_thirty_days_are_purged_a_few_at_a_time_and_no_others() {
    let world = World::new().await;
    let place = |n: u8| [n; 32];
    for n in 0..6 {
        know_place(&world.submit, &place(n)).await.unwrap();
    }
    world
        .sql(
            "update sign_in_place set seen_at = now() - case when get_byte(subject, 0) < 3 then interval '31 days'
                else interval '29 days' end",
        )
        .await;
    for left in [4, 3, 3] {
        purge(&world.submit, 2).await.unwrap();
        assert_eq!(world.number("select count(*) from sign_in_place").await, left);
    }
    for n in 0..6 {
        assert_eq!(is_known_place(&world.submit, &place(n)).await.unwrap(), n >= 3, "{n}");
    }
}
