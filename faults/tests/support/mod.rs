//! A Berth of one process a role, and what is done to it.

mod deeds;
mod world;

use anyhow::Context;
use faults::Operation;
use world::World;

/// Attacks each point of `operation` in each way it can be.
pub async fn attack(operation: Operation) -> anyhow::Result<()> {
    let mut world = World::start(operation).await?;
    for point in operation.points() {
        for action in point.actions() {
            let attacked = world.attack(point, action).await;
            attacked.with_context(|| format!("{action:?} at `{}`", point.name))?;
        }
    }
    world.end().await
}
