//! How large one task may be, which limit says so, and the sentence for a task that is larger.
//!
//! Two limits hold: the plan's and the installation's. The smaller one decides, for single tasks, for each task of a batch, for
//! schedules and for reruns alike, and the refusal names it.

use crate::request::SentSize;
use domain::plan::PlanLimits;
use std::fmt;

/// The limit that holds for one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskSize {
    /// Bytes of JSON at most.
    pub bytes: usize,
    /// The plan allows less than the installation.
    pub is_plans: bool,
}

impl TaskSize {
    /// The smaller one of the installation's and the plan's.
    pub(crate) fn of(installation: usize, limits: Option<&PlanLimits>) -> Self {
        let plan = limits.and_then(|limits| usize::try_from(limits.payload_bytes).ok());
        match plan.filter(|plan| *plan < installation) {
            Some(bytes) => Self { bytes, is_plans: true },
            None => Self { bytes: installation, is_plans: false },
        }
    }

    /// What is said of a task that is larger; `seen` is its size, where that is known.
    pub(crate) fn refuses(self, seen: Option<usize>) -> String {
        format!("the limit of a task is {self}; this one has {}", SentSize(seen))
    }
}

impl fmt::Display for TaskSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.is_plans {
            "`payload_bytes` of your plan"
        } else {
            "`api.max_task_bytes` of this installation"
        };
        write!(f, "{} bytes ({of})", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_holds_and_is_named_with_the_size_that_was_seen() {
        let plan = PlanLimits { payload_bytes: 1024, ..PlanLimits::default() };
        let (own, large) = (TaskSize::of(4096, Some(&plan)), TaskSize::of(512, Some(&plan)));
        assert_eq!(
            own.refuses(Some(2000)),
            "the limit of a task is 1024 bytes (`payload_bytes` of your plan); this one has 2000"
        );
        assert_eq!(
            large.refuses(None),
            "the limit of a task is 512 bytes (`api.max_task_bytes` of this installation); this one has more"
        );
        assert_eq!(TaskSize::of(4096, None).bytes, 4096);
    }
}
