//! A place in a tenant's events, as a cursor.

use crate::call::Call;
use crate::cursor::{Context, List};
use crate::pagination::outdated_cursor;
use crate::problem::Problem;
use crate::state::State;
use api_types::Cursor;
use domain::id::TenantId;
use store::event::EventPlace;

fn context() -> Context {
    Context::new(List::Events, [])
}

/// The cursor of a place.
pub(super) fn sealed(state: &State, tenant: TenantId, place: EventPlace) -> Cursor {
    state.sealer.seal(tenant, context(), &written(place))
}

/// The place of a cursor.
///
/// # Errors
/// `invalid_cursor`.
pub(super) fn opened(call: &Call, cursor: &Cursor) -> Result<EventPlace, Problem> {
    let bytes = call.state.sealer.open(call.caller.tenant(), context(), cursor)?;
    read(&bytes).ok_or_else(outdated_cursor)
}

fn written(place: EventPlace) -> Vec<u8> {
    [place.txid.to_be_bytes(), place.seq.to_be_bytes()].concat()
}

fn read(bytes: &[u8]) -> Option<EventPlace> {
    let (txid, seq) = bytes.split_first_chunk::<8>()?;
    let seq = i64::from_be_bytes(seq.try_into().ok()?);
    Some(EventPlace { txid: i64::from_be_bytes(*txid), seq })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let place = EventPlace { txid: i64::MAX, seq: 7 };
        assert_eq!(read(&written(place)), Some(place));
        assert_eq!(read(b"short"), None);
    }
}
