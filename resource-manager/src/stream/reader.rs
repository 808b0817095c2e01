//! Reads one executor's stream until it ends.
//!
//! Messages go to the loops that process them in groups. The queues are bounded, so a slow database slows the executor
//! down (backpressure).

use super::hello::{greet, keys, plain, refuse};
use super::service::StreamService;
use crate::fleet::Stream;
use crate::heartbeat::Beat;
use crate::output::OutputRoom;
use crate::returned::end_returned;
use crate::settle::Reported;
use domain::id::SessionId;
use domain::quarantine::Ending;
use domain::task::{AttemptOutcome, ResultValue};
use protocol::from_executor::Message;
use protocol::output_chunk::Stream as OutputStream;
use protocol::refused::Reason;
use protocol::result::Outcome;
use protocol::{FromExecutor, Heartbeat, MAX_OUTPUT_CHUNK, Output, Refused, Results, session_id};
use runtime::clock;
use std::sync::Arc;
use std::time::Duration;
use store::output::NewChunk;
use store::session::SessionOwner;
use store::task::transition::EndedAttempt;
use tonic::Streaming;
use tracing::{debug, info, warn};

/// Time limit of the first message of a stream.
const HELLO: Duration = Duration::from_secs(10);

pub(super) struct Reader {
    service: StreamService,
    stream: Stream,
    incoming: Streaming<FromExecutor>,
    output_room: OutputRoom,
    /// After the first message.
    owner: Option<Arc<SessionOwner>>,
}

impl Reader {
    pub(super) fn new(
        service: StreamService,
        stream: Stream,
        incoming: Streaming<FromExecutor>,
    ) -> Self {
        Self { service, stream, incoming, output_room: OutputRoom::new(), owner: None }
    }

    pub(super) async fn run(mut self) {
        let Ok(Ok(Some(FromExecutor { message: Some(Message::Hello(hello)) }))) =
            clock::timeout(HELLO, self.incoming.message()).await
        else {
            self.stream.send(refuse(Reason::Invalid, "a stream begins with hello"));
            return;
        };
        match session_id(&hello.session_id) {
            Ok(session) => self.stream.session = session,
            Err(error) => {
                self.stream.send(refuse(Reason::Invalid, &error.to_string()));
                return;
            }
        }
        match greet(&self.service, &self.stream, &hello).await {
            Ok(owner) => {
                let pool = owner.pool.clone();
                self.owner = Some(Arc::new(owner));
                // Unbounded, one message per connect: the loop starts the pool's worker if needed.
                let _ = self.service.pools.send(pool);
            }
            Err(refused) => {
                // Untrusted text, up to the message limit.
                let executor: String = hello.executor_id.chars().take(64).collect();
                info!(executor, detail = refused.detail, "An executor was refused");
                self.stream.send(refused);
                return;
            }
        }
        if let Err(refused) = self.read().await {
            self.stream.send(refused);
        }
        self.leave().await;
    }

    async fn read(&mut self) -> Result<(), Refused> {
        loop {
            let message = tokio::select! {
                message = self.incoming.message() => message,
                // The sending side is closed: its queue overflowed, or the fleet removed this connection.
                () = self.stream.outbox.closed() => return Ok(()),
            };
            match message {
                Ok(Some(FromExecutor { message: Some(message) })) => self.take(message).await?,
                Ok(Some(FromExecutor { message: None })) => {
                    debug!("A message of an unknown kind was skipped")
                }
                Ok(None) => return Ok(()),
                Err(status) => {
                    debug!(%status, session = %self.stream.session, "An executor's stream broke");
                    return Ok(());
                }
            }
        }
    }

    async fn take(&mut self, message: Message) -> Result<(), Refused> {
        match message {
            Message::Hello(_) => Err(refuse(Reason::Invalid, "hello comes once a stream")),
            Message::Accepted(accepted) => {
                let keys = keys(&accepted.leases, self.stream.session)?;
                self.service.fleet.accepted(self.stream.session, keys.into_iter());
                Ok(())
            }
            Message::Heartbeat(beat) => self.beat(beat).await,
            Message::Results(results) => self.results(results).await,
            Message::Output(output) => self.output(output).await,
        }
    }

    async fn beat(&self, beat: Heartbeat) -> Result<(), Refused> {
        let held = keys(&beat.held, self.stream.session)?;
        if !self.service.fleet.knows(&self.stream) {
            // This heartbeat would get no reply: the executor must not wait for the end of its term.
            return Err(refuse(Reason::Unavailable, "this stream was given up; connect anew"));
        }
        if beat.draining {
            self.service.fleet.drain(self.stream.session);
        }
        let stream = self.stream.clone();
        let _ = self
            .service
            .beats
            .send(Beat { stream, number: beat.number, draining: beat.draining })
            .await;
        let gone = self.service.fleet.unlisted(self.stream.session, beat.last_assignment, &held);
        if !gone.is_empty() {
            self.end_unlisted(gone).await;
        }
        Ok(())
    }

    /// Ends leases that the executor had and no longer lists.
    async fn end_unlisted(&self, gone: Vec<crate::fleet::Released>) {
        let keys = || gone.iter().map(|released| released.key);
        match end_returned(&self.service.db, &gone, |lease| lease.accepted).await {
            Ok(()) => self.service.fleet.release(keys().map(|key| (key, Ending::CameBack))),
            Err(error) => {
                warn!(%error, "Leases an executor does not hold could not be ended; the next heartbeat tries again");
                keys().for_each(|key| self.service.fleet.keep(key));
            }
        }
    }

    async fn results(&self, results: Results) -> Result<(), Refused> {
        // Parsed completely before any is marked: a refused list marks no lease as ending.
        let read = results.results.into_iter().map(read_result).collect::<Result<Vec<_>, _>>()?;
        let mut reported = Vec::with_capacity(read.len());
        for Read { ended, called, retry_after } in read {
            let own = ended.lease.session == self.stream.session;
            // Marked before it is queued: the next heartbeat on the stream must not end it as lost.
            let held = if own { self.service.fleet.begin_ending(ended.lease) } else { None };
            reported.push(Reported {
                stream: self.stream.clone(),
                ended,
                called,
                retry_after,
                held,
                of_another: if own { None } else { self.owner.clone() },
                after_output: self.service.output.queued(),
            });
        }
        let _ = self.service.reported.send(reported).await;
        Ok(())
    }

    async fn output(&self, output: Output) -> Result<(), Refused> {
        let mut chunks = Vec::with_capacity(output.chunks.len());
        for chunk in output.chunks {
            let lease = chunk.lease.as_ref().and_then(|lease| lease.key(self.stream.session).ok());
            let stream = match chunk.stream() {
                OutputStream::Stdout => store::output::Stream::Stdout,
                OutputStream::Stderr => store::output::Stream::Stderr,
                OutputStream::Unspecified => {
                    return Err(refuse(Reason::Invalid, "output of no stream"));
                }
            };
            let Some(lease) = lease.filter(|_| chunk.data.len() <= MAX_OUTPUT_CHUNK) else {
                return Err(refuse(
                    Reason::Invalid,
                    "an output chunk without a lease, or over 64 KiB",
                ));
            };
            chunks.push(NewChunk {
                lease,
                stream,
                seq: chunk.seq,
                offset: chunk.offset,
                data: chunk.data.to_vec(),
            });
        }
        self.service.output.push(&self.stream, &self.output_room, chunks).await;
        Ok(())
    }

    /// The stream has ended. The session lives until it lapses, unless it is drained and empty.
    async fn leave(self) {
        let Some(connection) = self.service.fleet.disconnect(&self.stream) else { return };
        let session: SessionId = self.stream.session;
        info!(executor = %connection.executor, %session, leases = connection.leases.len(), "Executor `{}` has disconnected", connection.executor);
        if !connection.accepting && connection.leases.is_empty() {
            let ended = store::session::end(
                &self.service.db,
                self.service.node,
                session,
                connection.epoch,
                "drained",
            )
            .await;
            if let Err(error) = ended {
                debug!(%error, "A drained session could not be ended; it lapses by itself");
            }
        }
    }
}

/// A result, with texts and counts bounded.
struct Read {
    ended: EndedAttempt,
    /// Its task runs on, without its executor.
    called: bool,
    /// `Retry-After` of the called server.
    retry_after: Option<Duration>,
}

fn read_result(result: protocol::Result) -> Result<Read, Refused> {
    let invalid = |error: &dyn std::fmt::Display| refuse(Reason::Invalid, &error.to_string());
    let lease = result.key().map_err(|error| invalid(&error))?;
    let called = result.outcome() == Outcome::Called;
    let outcome = AttemptOutcome::try_from(result.outcome()).map_err(|error| invalid(&error))?;
    let reason = (!result.reason.is_empty()).then_some(result.reason);
    let value = result.value.filter(|_| outcome == AttemptOutcome::Succeeded && !called);
    let value = value.map(|value| ResultValue::read(&value)).transpose();
    let value = value
        .map_err(|error| refuse(Reason::Invalid, &format!("the value of a result {error}")))?;
    let ended = EndedAttempt {
        lease,
        outcome,
        ran_ms: result.ran_ms,
        exit_code: result.exit_code,
        signal: result.signal,
        reason: reason.map(plain).map(protocol::truncate_reason),
        stdout_bytes: result.stdout_bytes,
        stderr_bytes: result.stderr_bytes,
        value,
    };
    Ok(Read { ended, called, retry_after: result.retry_after_ms.map(Duration::from_millis) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{TaskId, TenantId};
    use domain::task::{LeaseKey, MAX_RESULT_BYTES};

    fn read(outcome: Outcome, value: &[u8]) -> Result<Option<String>, String> {
        let (tenant, task, session) = (TenantId::fresh(), TaskId::fresh(), SessionId::fresh());
        let result = protocol::Result {
            lease: Some(LeaseKey { tenant, task, attempt: 1, session }.into()),
            session_id: protocol::session_bytes(session),
            outcome: outcome.into(),
            value: Some(value.to_vec().into()),
            ..protocol::Result::default()
        };
        let read = read_result(result).map_err(|refused| refused.detail)?;
        Ok(read.ended.value.map(|value| value.as_str().to_owned()))
    }

    #[test]
    fn a_value_is_checked_whoever_sends_it() {
        assert_eq!(read(Outcome::Succeeded, b"{\"a\":1}"), Ok(Some("{\"a\":1}".to_owned())));
        let longest = vec![b'1'; MAX_RESULT_BYTES];
        assert!(read(Outcome::Succeeded, &longest).is_ok_and(|value| value.is_some()));
        for (value, why) in [
            (vec![b'1'; MAX_RESULT_BYTES + 1], "has 65537 bytes; at most 65536 are allowed"),
            (b"no".to_vec(), "is not JSON: expected ident at line 1 column 2"),
            (Vec::new(), "is not JSON: EOF while parsing a value at line 1 column 0"),
            (b"\"\xff\"".to_vec(), "is not JSON: not UTF-8 from byte 1 on"),
            (vec![b'['; 1000], "is not JSON: EOF while parsing a list at line 1 column 1000"),
        ] {
            assert_eq!(
                read(Outcome::Succeeded, &value),
                Err(format!("the value of a result {why}"))
            );
        }
        // It means nothing there, whatever it is.
        assert_eq!(read(Outcome::Failed, b"1"), Ok(None));
        assert_eq!(read(Outcome::Stopped, b"no"), Ok(None));
        assert_eq!(read(Outcome::Called, b"1"), Ok(None));
    }
}
