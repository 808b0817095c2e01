//! What does not start (C14): no default opens anything, and what is too weak is refused by its name.

use crate::server::config;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use testkit::db::TestDatabase;

#[tokio::test]
async fn without_a_good_secret_the_api_does_not_start_and_says_which() {
    let db = TestDatabase::new().await.unwrap();
    let (hash, jwt, previous) =
        ("BERTH_AUTH__KEY_HASH_SECRET", "BERTH_AUTH__JWT_KEY", "BERTH_AUTH__JWT_PREVIOUS_KEY");
    let strong = "c8d7e6f504132231445566778899aabb";
    for (settings, named) in [
        (vec![(hash, "")], "`auth.key_hash_secret` must be given"),
        (
            vec![(hash, "hunter2-hunter2-hunter2-hunter")],
            "`auth.key_hash_secret` is shorter than 32",
        ),
        (vec![(hash, "changeme-changeme-changeme-change")], "`auth.key_hash_secret` is easily"),
        (vec![(jwt, "hunter2-hunter2-hunter2-hunter")], "`auth.jwt_key` is shorter than 32"),
        (vec![(jwt, strong), (previous, "hunter2")], "`auth.jwt_previous_key` is shorter than 32"),
        (vec![(previous, strong)], "`auth.jwt_previous_key` stands alone"),
    ] {
        let config = config(&db, &settings);
        let (_stop, shutdown) = Shutdown::new();
        let bus = bus::Bus::connect(&config.bus, &TaskGroup::new(), &shutdown).unwrap();
        let error = api::start(&config, bus, shutdown).await.unwrap_err().to_string();
        assert!(error.contains(named) && !error.contains("hunter2"), "{named}: {error}");
    }
}
