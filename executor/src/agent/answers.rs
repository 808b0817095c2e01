//! Heeds answers to results and to heartbeats.

use super::state::Agent;
use crate::metrics::{HEARTBEAT_SECONDS, VERDICTS};
use protocol::result_answer::Verdict;
use protocol::{HeartbeatAnswer, ResultAnswers};
use runtime::clock::Instant;

impl Agent {
    pub(super) fn results_answered(&mut self, answers: &ResultAnswers, now: Instant) {
        let mut settled = Vec::with_capacity(answers.answers.len());
        for answer in &answers.answers {
            let Ok(key) = answer.key() else {
                tracing::error!("An answer names no valid lease");
                continue;
            };
            let verdict = answer.verdict();
            VERDICTS.with(&[name(verdict)]).inc();
            if self.outbox.answered(&key, verdict, now) {
                settled.push(key);
            }
        }
        if !settled.is_empty() {
            self.disk.spool.forget(settled);
        }
    }

    pub(super) fn heartbeat_answered(&mut self, answer: &HeartbeatAnswer, now: Instant) {
        if let Some(sent) = self.heart.answered(answer.number)
            && let Some(term) = &mut self.session.term
        {
            HEARTBEAT_SECONDS.with(&[]).observe((now - sent).as_secs_f64());
            term.confirm(sent);
            self.line.trust();
            self.work.lease_lasts(term.ends());
            self.drain_is_known(sent);
        }
        self.stop(&answer.stop, now);
    }
}

const fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Unspecified => "unspecified",
        Verdict::Applied => "applied",
        Verdict::Repeated => "repeated",
        Verdict::Stale => "stale",
        Verdict::NotFound => "not_found",
        Verdict::Retry => "retry",
    }
}
