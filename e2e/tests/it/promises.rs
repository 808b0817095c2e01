//! A short mix of faults against a whole Berth, judged by every promise: `make chaos` in small.

mod own_engines {
    use e2e::chaos::{Scenario, run};
    use std::time::Duration;

    /// One of many; the same faults each time, so that a failure can be looked into.
    const SEED: u64 = 12;

    #[tokio::test(flavor = "multi_thread")]
    async fn promises_hold_under_a_short_mix_of_faults() -> anyhow::Result<()> {
        let mut scenario = Scenario::named("mix", Some(Duration::from_secs(60)))?;
        // Half the load: the rest of the time is the faults'.
        scenario.rate /= 2.0;
        scenario.tasks /= 2;
        scenario.calm_tasks = 250;
        let report = run(&scenario, SEED, &|line| eprintln!("{line}")).await?;
        eprintln!("{}", report.text());
        assert_eq!(report.failures(), Vec::<String>::new());
        Ok(())
    }
}
