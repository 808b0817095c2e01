//! A plan that is to be stored.

use super::{PlanLimits, SentPlan};
use crate::price::PutBilling;
use serde::{Deserialize, Serialize};

/// A plan as operators send it: its limits, and by which prices it is billed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SentPlan")]
pub struct PutPlan {
    /// What it allows.
    #[serde(flatten)]
    pub limits: PlanLimits,
    /// By which prices it is billed from now on.
    #[serde(skip_serializing_if = "PutBilling::is_kept")]
    pub billing: PutBilling,
}

impl TryFrom<SentPlan> for PutPlan {
    type Error = String;

    fn try_from(mut sent: SentPlan) -> Result<Self, String> {
        let billing = std::mem::take(&mut sent.billing);
        Ok(Self { limits: PlanLimits::try_from(sent)?, billing })
    }
}

/// A plan of these limits, billed as before.
impl From<&PlanLimits> for PutPlan {
    fn from(limits: &PlanLimits) -> Self {
        Self { limits: *limits, billing: PutBilling::Kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::Billing;
    use serde_json::json;

    #[test]
    fn billing_that_is_not_sent_stays_and_null_ends_it() {
        let mut sent = json!(PlanLimits::default());
        let read = |sent: &serde_json::Value| serde_json::from_value::<PutPlan>(sent.clone());
        let before: Billing = serde_json::from_value(json!({ "price_book": "old" })).unwrap();
        let kept = read(&sent).unwrap();
        assert_eq!(kept.billing.after(Some(&before)), Some(before.clone()));
        assert_eq!((json!(kept), kept.billing.after(None)), (sent.clone(), None));
        sent["billing"] = json!(null);
        let ended = read(&sent).unwrap();
        assert_eq!((json!(ended), ended.billing.after(Some(&before))), (sent.clone(), None));
        sent["billing"] = json!({ "price_book": "new", "included": { "attempts": 5, "tasks": 1, "fires": 0 }, "minimum": 7 });
        let new = read(&sent).unwrap();
        assert_eq!(json!(new), sent);
        assert_eq!(new.billing.after(Some(&before)).unwrap().minimum, 7);
        sent["billing"]["included"]["events"] = json!(1);
        assert!(read(&sent).unwrap_err().to_string().contains("events"));
    }
}
