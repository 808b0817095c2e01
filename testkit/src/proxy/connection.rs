//! One connection through the proxy: both directions, and the modes that act on the connection as a whole.
//!
//! The rule: an ending of one side reaches the other only in modes in which the network would carry it.

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::mode::Mode;
use super::pump::{self, Direction};

pub(super) async fn serve(client: TcpStream, upstream: String, mut mode: watch::Receiver<Mode>) {
    // A black hole lets nobody through to the server.
    if mode.wait_for(|mode| *mode != Mode::Blackhole).await.is_err() {
        return;
    }
    let first = *mode.borrow_and_update();
    match first {
        Mode::Reset => return reset(&client),
        Mode::HalfOpen => return silent(client, mode).await,
        Mode::Pass
        | Mode::Delay(_)
        | Mode::Blackhole
        | Mode::DropReplies
        | Mode::Throttle { .. } => {}
    }
    let Ok(server) = TcpStream::connect(&upstream).await else { return reset(&client) };
    // The proxy adds no delay of its own.
    let _unbuffered = client.set_nodelay(true).and_then(|()| server.set_nodelay(true));

    let (mut client, mut server) = (client, server);
    let ended_by = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let requests = pump::run(Direction::ToServer, from_client, to_server, mode.clone());
        let replies = pump::run(Direction::ToClient, from_server, to_client, mode.clone());
        let both = async { tokio::join!(requests, replies) };
        tokio::select! {
            ended = both => { let (_requests, _replies) = ended; None }
            Ok(fatal) = mode.wait_for(|mode| matches!(mode, Mode::Reset | Mode::HalfOpen)) => Some(*fatal),
        }
    };
    match ended_by {
        Some(Mode::HalfOpen) => {
            drop(server);
            silent(client, mode).await;
        }
        Some(_) => {
            reset(&client);
            reset(&server);
        }
        None => {}
    }
}

/// Holds the client's connection open and never answers; a reset still ends it.
async fn silent(client: TcpStream, mut mode: watch::Receiver<Mode>) {
    // An error means that the proxy is gone, and the connection with it.
    let _ended = mode.wait_for(|mode| *mode == Mode::Reset).await;
    reset(&client);
}

/// Makes the coming close a reset instead of a polite end.
fn reset(stream: &TcpStream) {
    // One that is closed already needs no reset.
    let _closed = stream.set_zero_linger();
}
