//! What exists cannot be told from what does not (C9): not by the answer, and not by how long it takes.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, Server, secret};
use crate::users::{server, sign_in, user};
use domain::access::Role;
use domain::id::TaskId;
use identity::key::generate;
use runtime::clock::monotonic;
use runtime::config::ExposeSecret;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::Duration;
use testkit::settings::rounds;

/// How often rounds are repeated at most.
const MOST_TIMES: usize = 20;

/// Answers to two kinds of question, asked in turns.
#[derive(Default)]
struct Compared {
    times: [Vec<Duration>; 2],
    bodies: BTreeSet<String>,
}

/// An answer without what was asked for, which it names between backticks.
fn unnamed(body: &str) -> String {
    let parts = body.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part } else { "`…`" }).collect()
}

impl Compared {
    /// Asks `rounds` times for each of the two kinds, and again as often where the machine is so busy that a difference would not
    /// be seen. Which comes first changes, so that what a round leaves behind is nobody's advantage.
    async fn asked(rounds: usize, ask: impl AsyncFn(usize) -> (Answer, Duration)) -> Self {
        let mut compared = Self::default();
        for _ in 0..MOST_TIMES {
            compared.ask(rounds, &ask).await;
            if compared.sees_a_difference() {
                break;
            }
        }
        compared
    }

    async fn ask(&mut self, rounds: usize, ask: &impl AsyncFn(usize) -> (Answer, Duration)) {
        for round in 0..rounds {
            for kind in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                let (answer, took) = ask(kind).await;
                self.times[kind].push(took);
                let mut body = answer.json();
                body.as_object_mut().unwrap().remove("request_id");
                self.bodies.insert(format!("{} {}", answer.status, unnamed(&body.to_string())));
            }
        }
    }

    /// Half as long again would be one.
    fn sees_a_difference(&self) -> bool {
        let [one, other] = &self.times;
        let slower: Vec<_> = one.iter().map(|time| *time + median(one) / 2).collect();
        !alike(&slower, other)
    }

    fn assert_alike(&self, what: &str) {
        assert_eq!(self.bodies.len(), 1, "{what}: {:?}", self.bodies);
        let [one, other] = &self.times;
        eprintln!(
            "{what}: medians {:?} and {:?}, p = {:.3}",
            median(one),
            median(other),
            mann_whitney(one, other)
        );
        assert!(alike(one, other), "{what}: {:?} and {:?}", median(one), median(other));
        assert!(self.sees_a_difference(), "{what}: no difference would have been seen");
    }
}

/// The medians are less than 2 ms apart, and of quick answers less than a quarter; or it is chance.
fn alike(one: &[Duration], other: &[Duration]) -> bool {
    let limit = Duration::from_millis(2).min(median(one) / 4);
    median(one).abs_diff(median(other)) < limit || mann_whitney(one, other) > 0.01
}

async fn timed(answer: impl Future<Output = Answer>) -> (Answer, Duration) {
    let asked = monotonic();
    (answer.await, asked.elapsed())
}

/// As who has `key`.
async fn ask(server: &Server, key: &str, verb: &str, path: &str) -> (Answer, Duration) {
    let bearer = format!("Bearer {key}");
    timed(request(server.addr, verb, path, &[("Authorization", &bearer)], b"")).await
}

/// What is measured has the machine to itself.
mod alone {
    use super::*;

    #[tokio::test]
    async fn whether_an_account_exists_cannot_be_told_from_the_answer_or_its_time() {
        let server = server().await;
        user(&server, "ann@example.com", Role::Viewer).await;
        let compared = Compared::asked(rounds(60, 2000), async |kind| {
            let email = ["ann@example.com", "nobody@example.com"][kind];
            server.db.sql("delete from sign_in_attempt").await.unwrap();
            timed(sign_in(&server, email, "wrong, wrong, wrong")).await
        });
        compared.await.assert_alike("accounts");
    }

    #[tokio::test]
    async fn whether_a_task_of_others_exists_cannot_be_told_from_the_answer_or_its_time() {
        let server = Server::start().await;
        let stranger = server.new_key(server.new_tenant("second").await, &ALL_SCOPES).await;
        for (verb, suffix) in [("GET", ""), ("GET", "/explain"), ("POST", "/cancel")] {
            let compared = Compared::asked(rounds(60, 2000), async |kind| {
                let theirs = server.noop().await;
                let id = [theirs, TaskId::fresh().to_string()][kind].clone();
                ask(&server, &stranger, verb, &format!("/v1/tasks/{id}{suffix}")).await
            });
            compared.await.assert_alike(&format!("{verb} a task{suffix}"));
        }
    }

    #[tokio::test]
    async fn whether_a_key_of_others_exists_cannot_be_told_from_the_answer_or_its_time() {
        let server = Server::start().await;
        let stranger = server.new_key(server.new_tenant("second").await, &ALL_SCOPES).await;
        for (verb, suffix) in [("DELETE", ""), ("POST", "/rotate")] {
            let compared = Compared::asked(rounds(60, 2000), async |kind| {
                let theirs = server.key_id().await;
                let id = [theirs, generate("live", &secret()).unwrap().id][kind].clone();
                ask(&server, &stranger, verb, &format!("/v1/keys/{id}{suffix}")).await
            });
            compared.await.assert_alike(&format!("{verb} a key{suffix}"));
        }
    }

    #[tokio::test]
    async fn whether_a_refused_key_was_ever_one_cannot_be_told_from_the_answer_or_its_time() {
        let server = Server::start().await;
        let compared = Compared::asked(rounds(60, 2000), async |kind| {
            let revoked = server.new_key(server.tenant, &ALL_SCOPES).await;
            let id = revoked.split('_').nth(2).unwrap();
            let revoke = format!("update api_key set revoked_at = now() where id = '{id}'");
            server.db.sql(&revoke).await.unwrap();
            let made_up = generate("live", &secret()).unwrap().text.expose_secret().to_owned();
            ask(&server, [&revoked, &made_up][kind], "GET", "/v1/tasks").await
        });
        compared.await.assert_alike("refused keys");
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// Two-sided p of the rank sum, by the normal approximation.
fn mann_whitney(a: &[Duration], b: &[Duration]) -> f64 {
    let (n, m) = (a.len() as f64, b.len() as f64);
    let wins: f64 = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| x.cmp(y)))
        .map(|order| match order {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        })
        .sum();
    let z = (wins - n * m / 2.0).abs() / (n * m * (n + m + 1.0) / 12.0).sqrt();
    // The upper tail of the normal distribution, by Abramowitz and Stegun 26.2.17; good to 1e-7.
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly = t
        * (0.319_381_53
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    2.0 * poly * (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt()
}
