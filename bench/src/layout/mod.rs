//! The task tables against one wide table: the measurement behind docs/adr/0001-table-layout.md.
//!
//! Both on the same Postgres, in databases of their own, taking turns, so that whatever disturbs one disturbs the other. The
//! statements are in `bench/sql/layout_*.sql`; they are those of `store` without the client.

mod compare;
#[cfg(test)]
mod drift;
mod life;
mod result;
mod scratch;

pub use compare::compare;
pub use result::LayoutResult;
