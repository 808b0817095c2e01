//! What a path names, and a delivery's place in the list.

use crate::call::Call;
use crate::problem::{Code, Problem};
use domain::id::{DeliveryId, ParseNameError, WebhookName};
use domain::time::Timestamp;
use store::webhook::DeliveryPlace;
use uuid::Uuid;

/// The webhook's name in the path.
///
/// # Errors
/// `invalid_parameter` for what is no name.
pub(super) fn name_of(call: &Call) -> Result<WebhookName, Problem> {
    let text = call.request.part("name").unwrap_or_default();
    text.parse().map_err(|error: ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}

/// The delivery's id in the path. One that is none is of no delivery.
///
/// # Errors
/// `not_found`.
pub(super) fn delivery_of(call: &Call) -> Result<DeliveryId, Problem> {
    let text = call.request.part("id").unwrap_or_default();
    text.parse().map_err(|_| no_such_delivery())
}

/// There is none of this name.
pub(super) fn no_such_webhook() -> Problem {
    Problem::no_such("webhook")
}

/// There is none of this id.
pub(super) fn no_such_delivery() -> Problem {
    Problem::no_such("delivery")
}

/// A place as bytes, for a cursor.
pub(super) fn to_bytes(place: DeliveryPlace) -> Vec<u8> {
    let mut bytes = place.at.timestamp_micros().to_be_bytes().to_vec();
    bytes.extend_from_slice(place.id.uuid().as_bytes());
    bytes
}

/// The place again; `None` for bytes of another version.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<DeliveryPlace> {
    let (at, id) = bytes.split_at_checked(8)?;
    let at = Timestamp::from_timestamp_micros(i64::from_be_bytes(at.try_into().ok()?))?;
    Some(DeliveryPlace { at, id: DeliveryId(Uuid::from_slice(id).ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let at = domain::time::parse_time("2030-01-31T12:00:00.123456Z").unwrap();
        let place = DeliveryPlace { at, id: DeliveryId::fresh() };
        assert_eq!(from_bytes(&to_bytes(place)), Some(place));
        assert_eq!((from_bytes(&[1; 7]), from_bytes(&[1; 20])), (None, None));
    }
}
