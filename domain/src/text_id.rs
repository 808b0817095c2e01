//! Texts with a type of their own: names and ids.

/// Defines the type of a text: of any one, which a client sends back as it was given, or of those that `check` accepts.
#[macro_export]
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $crate::text_id!($(#[$doc])* $name, std::convert::Infallible, |_| Ok(()));

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
    };
    ($(#[$doc:meta])* $name:ident, $error:ty, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Its text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                let check: fn(&str) -> Result<(), $error> = $check;
                check(text).map(|()| Self(text.into()))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::str::ParseBoolError;

    crate::text_id!(
        /// Any text.
        Any
    );
    crate::text_id!(
        /// Only these.
        Answer,
        ParseBoolError,
        |text| text.parse::<bool>().map(drop)
    );

    #[test]
    fn a_text_is_kept_as_it_came_where_it_is_accepted() {
        for text in ["", "a b", "true"] {
            let read: Any = serde_json::from_value(text.into()).unwrap();
            assert_eq!((read.as_str(), serde_json::to_value(&read).unwrap()), (text, text.into()));
            assert_eq!([Any::from(text), Any::from(text.to_owned())], [read.clone(), read]);
            let accepted = (text == "true").then_some(text);
            assert_eq!(text.parse().ok().as_ref().map(Answer::as_str), accepted);
            assert_eq!(serde_json::from_value::<Answer>(text.into()).is_ok(), accepted.is_some());
        }
        assert_eq!(format!("{:>5}|", Any::from("ab")), "   ab|");
    }
}
