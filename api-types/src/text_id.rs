//! Ids that are texts: a client sends back what it was given and reads nothing from it.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }
    };
}

text_id!(
    /// Id of an API key or an operator key: its third part, 12 of `a-z2-7`. Not secret.
    KeyId
);
text_id!(
    /// Id of a request, as in `X-Request-Id`. Not secret.
    RequestId
);
text_id!(
    /// Id of what an audited action was done to: an id or a name, by its kind.
    TargetId
);

impl From<domain::id::RequestId> for RequestId {
    fn from(id: domain::id::RequestId) -> Self {
        Self(id.to_string())
    }
}
