//! Work that keeps a processor busy for milliseconds and more, on threads of its own with a low scheduling priority.
//!
//! Where all cores are busy, the kernel then gives a thread that answers requests or runs a loop its core at once, in place of after the
//! time slice of such work (a few milliseconds with the default scheduler of Linux).

use rustix::process::setpriority_process;
use std::sync::LazyLock;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Niceness of the threads, of -20 to 19; that of the process is usually 0. A thread at 10 has a ninth of the weight of one at 0
/// (sched(7)).
const NICENESS: i32 = 10;

static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    // Without the right to it, which a process has for more niceness, the work is done at the usual priority.
    let lower = || {
        let _ = setpriority_process(None, NICENESS);
    };
    Builder::new_current_thread().thread_name("low-priority").on_thread_start(lower).build().ok()
});

/// Runs `work` on such a thread; in the runtime of the caller where there can be none. It runs to its end also when nobody waits for it.
///
/// # Panics
/// Outside a tokio runtime.
pub fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match THREADS.as_ref() {
        Some(threads) => threads.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::getpriority_process;

    #[tokio::test]
    async fn the_work_has_a_lower_priority_and_its_caller_keeps_his() {
        let before = getpriority_process(None).unwrap();
        let of_work = super::spawn(|| getpriority_process(None).unwrap()).await.unwrap();
        assert_eq!(of_work, before.max(super::NICENESS));
        assert_eq!(getpriority_process(None).unwrap(), before);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_next_work_is_done() {
        let work = || -> u8 { std::panic::resume_unwind(Box::new("broken")) };
        assert!(super::spawn(work).await.is_err());
        assert_eq!(super::spawn(|| 1).await.unwrap(), 1);
    }
}
