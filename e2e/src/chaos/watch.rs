//! Looks at what shows only while it is so, through outages of the database.

use crate::PortsSeen;
use crate::ports::LOOK;
use runtime::clock;
use std::time::Duration;
use testkit::psql::Session;

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const BEFORE_ANOTHER_TRY: Duration = Duration::from_millis(300);

/// Looks at the ports of live leases until it is dropped; a session that breaks is followed by another.
pub async fn ports(url: &str, seen: &mut PortsSeen) {
    loop {
        // Postgres may be away: that is what is being tried.
        let _broken = look(url, seen).await;
        clock::sleep(BEFORE_ANOTHER_TRY).await;
    }
}

async fn look(url: &str, seen: &mut PortsSeen) -> anyhow::Result<()> {
    let mut session = Session::open(url)?;
    loop {
        seen.add(&session.row(LOOK).await?)?;
        clock::sleep(BETWEEN_LOOKS).await;
    }
}
