//! Fault points, in a build that has them and in one that has not.

use runtime::fault::FaultPoint;

#[cfg(not(feature = "fault-points"))]
#[tokio::test]
async fn without_the_feature_a_point_is_nothing() {
    static POINT: FaultPoint = FaultPoint::new("test.nothing");
    assert_eq!(POINT.hit().await, Ok(()));
    assert_eq!(size_of::<FaultPoint>(), 0);
}

#[cfg(feature = "fault-points")]
mod with_the_feature {
    use super::FaultPoint;
    use runtime::clock;
    use runtime::fault::{self, Action, InjectedFault, Plan};
    use std::time::Duration;

    #[tokio::test]
    async fn a_point_fails_as_often_as_it_is_told() {
        static POINT: FaultPoint = FaultPoint::new("test.error");
        assert_eq!(POINT.hit().await, Ok(()));
        fault::set("test.error", "error@2".parse().expect("a plan"));
        assert_eq!(POINT.hit().await, Ok(()));
        assert_eq!(POINT.hit().await, Err(InjectedFault { point: "test.error" }));
        assert_eq!(POINT.hit().await, Ok(()));
        assert_eq!(fault::hits("test.error"), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_point_waits() {
        static POINT: FaultPoint = FaultPoint::new("test.delay");
        let pause = Duration::from_secs(5);
        fault::set("test.delay", Plan::always(Action::Delay(pause)));
        let at = clock::monotonic();
        assert_eq!(POINT.hit().await, Ok(()));
        assert!(at.elapsed() >= pause);
    }

    /// Runs this test binary again with the faults in its environment, and sees it die.
    #[tokio::test]
    async fn a_point_kills_the_process_as_the_environment_says() {
        static POINT: FaultPoint = FaultPoint::new("test.kill");
        if runtime::config::variable("BERTH_FAULTS").is_some() {
            let _ = POINT.hit().await;
            return;
        }
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "test.other=error\n").expect("written");
        let own = std::env::current_exe().expect("this binary");
        let status = std::process::Command::new(own)
            .args([
                "--exact",
                "with_the_feature::a_point_kills_the_process_as_the_environment_says",
            ])
            .env("BERTH_FAULTS", "test.kill=kill")
            .env("BERTH_FAULTS_FILE", file.path())
            .status()
            .expect("it runs");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(6), "{status}");
    }
}
