//! Keys of tenants and of operators: the same life, on three routes.
//!
//! The text of a key is in one answer only, and goes from there into [`Berth::keep`]: into no state, plan or log. What is stored is
//! the key's id.

use crate::provider::{Berth, Problem};
use crate::schema::{Attribute, Given, Kind, Outcome};
use crate::value::Value;
use api_types::{ApiKey, Extensible, KeyId, OperatorKey, PageRequest, Secret};
use client::Client;
use domain::id::TenantId;
use domain::time::{Timestamp, format_duration, format_time, parse_duration};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::str::FromStr;
use std::time::Duration;

/// Whose keys.
pub enum Keys<'a> {
    /// A tenant's, by an operator.
    Tenant(&'a Client, TenantId),
    /// Those of the tenant of the key.
    Own(&'a Client),
    /// Operators'.
    Operator(&'a Client),
}

/// A key without its text.
#[derive(Debug, Clone)]
pub struct Key {
    id: KeyId,
    name: String,
    scopes: Vec<String>,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    used: bool,
    replaced_by: Option<KeyId>,
}

fn words<T: Serialize>(scopes: Vec<Extensible<T>>) -> Vec<String> {
    scopes.into_iter().map(|scope| scope.to_string()).collect()
}

impl From<ApiKey> for Key {
    fn from(key: ApiKey) -> Self {
        let ApiKey { id, name, scopes, created_at, expires_at, last_used_at, replaced_by, .. } =
            key;
        let (scopes, used) = (words(scopes), last_used_at.is_some());
        Self { id, name, scopes, created_at, expires_at, used, replaced_by }
    }
}

impl From<OperatorKey> for Key {
    fn from(key: OperatorKey) -> Self {
        let OperatorKey { id, name, scopes, created_at, expires_at, last_used_at, replaced_by } =
            key;
        let (scopes, used) = (words(scopes), last_used_at.is_some());
        Self { id, name, scopes, created_at, expires_at, used, replaced_by }
    }
}

impl Key {
    /// Whether it works, by the clock of this machine. What has expired is listed for a while.
    fn lives(&self) -> bool {
        self.expires_at.is_none_or(|end| end > super::now())
    }

    /// Its JSON for a state. The lifetime is what it was made with.
    pub fn json(&self) -> Json {
        // Both times are read from clocks within a moment: a lifetime is given in whole tenths of a second, so it is rounded.
        let tenths = |end: Timestamp| ((end - self.created_at).num_milliseconds() + 50) / 100;
        let life = self.expires_at.map(tenths).and_then(|tenths| u64::try_from(tenths).ok());
        let life = life.map(|tenths| Duration::from_millis(tenths * 100));
        json!({
            "id": self.id.as_str(),
            "name": self.name,
            "scopes": self.scopes,
            "created_at": format_time(self.created_at),
            "expires_at": self.expires_at.map(format_time),
            "expires_in": life.map(format_duration),
        })
    }
}

/// What a new key is to be.
pub struct Wanted<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its scopes.
    pub scopes: Vec<&'a str>,
    /// How long it lives; for ever by default.
    pub life: Option<Duration>,
}

impl<'a> Wanted<'a> {
    /// From `name`, `scopes` and `expires_in`.
    pub fn read(value: &'a Value) -> Self {
        Self {
            name: value.get("name").text().unwrap_or_default(),
            scopes: value.get("scopes").texts(),
            life: duration(value, "expires_in"),
        }
    }
}

fn duration(value: &Value, name: &str) -> Option<Duration> {
    value.get(name).text().and_then(|text| parse_duration(text).ok())
}

fn scopes<T: FromStr>(names: &[&str]) -> Result<Vec<T>, Problem> {
    names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_, _>>()
        .map_err(|_| Problem::at("scopes", "Not a scope", "See the provider's documentation."))
}

impl Keys<'_> {
    /// Every key, with those that were replaced and still work.
    async fn list(&self) -> Result<Vec<Key>, Problem> {
        let mut page = PageRequest { limit: Some(api_types::MAX_LIMIT), cursor: None };
        let mut keys = Vec::new();
        loop {
            let found = match self {
                Self::Operator(client) => {
                    let found = client.operator_keys().await?.into_value();
                    keys.extend(found.data.into_iter().map(Key::from));
                    return Ok(keys);
                }
                Self::Tenant(client, tenant) => client.tenant_keys(*tenant, &page).await?,
                Self::Own(client) => client.keys(&page).await?,
            };
            let found = found.into_value();
            let next = found.next(&page);
            keys.extend(found.data.into_iter().map(Key::from));
            match next {
                Some(next) => page = next,
                None => return Ok(keys),
            }
        }
    }

    /// The key with this id, or the one that has replaced it, if it works.
    pub async fn find(&self, id: &str) -> Result<Option<Key>, Problem> {
        let keys = self.list().await?;
        let of = |id: &str| keys.iter().find(|key| key.id.as_str() == id);
        let Some(mut found) = of(id) else { return Ok(None) };
        // Each replaces one that is older, so this ends; it is bounded all the same.
        for _ in 0..keys.len() {
            match found.replaced_by.as_ref().and_then(|next| of(next.as_str())) {
                Some(next) => found = next,
                None => break,
            }
        }
        Ok(found.lives().then(|| found.clone()))
    }

    /// Makes a key that no other has the name of. An unused one of the same name and scopes is the rest of an apply that was cut off
    /// before its text arrived: it is revoked.
    pub async fn create_named(&self, berth: &Berth, wanted: &Wanted<'_>) -> Result<Key, Problem> {
        let keys = self.list().await?;
        let same = |key: &&Key| key.name == wanted.name && key.replaced_by.is_none() && key.lives();
        for key in keys.iter().filter(same) {
            let mut scopes: Vec<&str> = key.scopes.iter().map(String::as_str).collect();
            let mut given = wanted.scopes.clone();
            scopes.sort_unstable();
            given.sort_unstable();
            if key.used || scopes != given {
                return Err(Problem::at(
                    "name",
                    format!("A key named {} exists already", wanted.name),
                    format!("It is {}. Import it, revoke it, or choose another name.", key.id),
                ));
            }
            self.revoke(&key.id).await?;
        }
        let (key, secret) = self.create(wanted).await?;
        berth.keep(key.id.as_str(), secret);
        Ok(key)
    }

    /// Makes a key, and gives its text.
    pub async fn create(
        &self,
        wanted: &Wanted<'_>,
    ) -> Result<(Key, Option<SecretString>), Problem> {
        let Wanted { name, scopes: names, life } = wanted;
        let made = match self {
            Self::Operator(client) => {
                let made = client.create_operator_key(name, &scopes(names)?, *life).await?;
                let made = made.into_value();
                return Ok((made.info.into(), Some(made.key.into())));
            }
            Self::Tenant(client, tenant) => {
                client.create_tenant_key(*tenant, name, &scopes(names)?, *life).await?
            }
            Self::Own(client) => client.create_key(name, &scopes(names)?, *life).await?,
        };
        let made = made.into_value();
        Ok((made.info.into(), made.key.map(Secret::into)))
    }

    /// Replaces a key; the old one stays valid for `overlap`.
    pub async fn rotate(
        &self,
        berth: &Berth,
        id: &KeyId,
        overlap: Option<Duration>,
    ) -> Result<Key, Problem> {
        let (key, secret): (Key, Option<SecretString>) = match self {
            Self::Operator(client) => {
                let new = client.rotate_operator_key(id, overlap).await?.into_value().new;
                (new.info.into(), Some(new.key.into()))
            }
            Self::Tenant(client, tenant) => {
                let new = client.rotate_tenant_key(*tenant, id, overlap).await?.into_value().new;
                (new.info.into(), new.key.map(Secret::into))
            }
            Self::Own(client) => {
                let new = client.rotate_key(id, overlap).await?.into_value().new;
                (new.info.into(), new.key.map(Secret::into))
            }
        };
        berth.keep(key.id.as_str(), secret);
        Ok(key)
    }

    /// Ends a key at once.
    pub async fn revoke(&self, id: &KeyId) -> Result<(), Problem> {
        match self {
            Self::Operator(client) => client.revoke_operator_key(id).await.map(drop)?,
            Self::Tenant(client, tenant) => {
                client.revoke_tenant_key(*tenant, id).await.map(drop)?
            }
            Self::Own(client) => client.revoke_key(id).await.map(drop)?,
        }
        Ok(())
    }

    /// Ends a key, and those that it has replaced and that still work.
    async fn revoke_all(&self, id: &str) -> Result<(), Problem> {
        let keys = self.list().await?;
        let mut ids = vec![KeyId::from(id.to_owned())];
        while let Some(id) = ids.pop() {
            let before = keys.iter().filter(|key| key.replaced_by.as_ref() == Some(&id));
            ids.extend(before.map(|key| key.id.clone()));
            if keys.iter().any(|key| key.id == id) {
                self.revoke(&id).await?;
            }
        }
        Ok(())
    }

    /// The state of the key in `state`; `None` where it does not exist.
    pub async fn read(&self, state: &Value) -> Result<Option<Json>, Problem> {
        let id = state.get("id").text().unwrap_or_default();
        Ok(self.find(id).await?.map(|key| key.json()))
    }

    /// Rotates the key if the plan says so; what else may change is Terraform's alone.
    pub async fn update(
        &self,
        berth: &Berth,
        prior: &Value,
        planned: &Value,
    ) -> Result<Json, Problem> {
        let id = prior.get("id").text().unwrap_or_default();
        let gone = || Problem::at("id", "The key does not exist any more", "Plan again.");
        let key = self.find(id).await?.ok_or_else(gone)?;
        if planned.get("id") != &Value::Unknown {
            return Ok(key.json());
        }
        let rotated = self.rotate(berth, &key.id, duration(planned, "overlap")).await?;
        Ok(rotated.json())
    }

    /// Ends the key of a state.
    pub async fn delete(&self, prior: &Value) -> Result<(), Problem> {
        self.revoke_all(prior.get("id").text().unwrap_or_default()).await
    }
}

/// The attributes that keys of both sorts have.
pub fn attributes(scopes: Attribute) -> Vec<Attribute> {
    vec![
        Attribute::text("name", Given::Required, "Its name, which no other key may have.")
            .replaces(),
        scopes.replaces(),
        Attribute::duration(
            "expires_in",
            Given::Optional,
            "Lifetime, from `1s` to `87600h`. Default: no expiry.",
        )
        .replaces(),
        Attribute::new(
            "rotate_when_changed",
            Kind::TextMap,
            Given::Optional,
            "Any texts. When they change, the key is rotated: the resource then has the new one.",
        )
        .local(),
        Attribute::duration(
            "overlap",
            Given::Default("24h".into()),
            "How long the old key works after a rotation, `0s` to `720h`.",
        )
        .local(),
        Attribute::text(
            "id",
            Given::Fixed,
            "Its id: the third part of the key. Another one after a rotation.",
        ),
        Attribute::text("created_at", Given::Fixed, "When it was created."),
        Attribute::text("expires_at", Given::Fixed, "When it expires; null: never."),
    ]
}

/// A rotation makes another key.
pub fn adjust(prior: &Value, outcome: &mut Outcome) {
    const TRIGGER: &str = "rotate_when_changed";
    // The first texts, of a key that was imported too, rotate nothing.
    if prior.get(TRIGGER).is_null() || prior.get(TRIGGER) == outcome.value.get(TRIGGER) {
        return;
    }
    for name in ["id", "created_at", "expires_at"] {
        outcome.value.set(name, Value::Unknown);
    }
}
