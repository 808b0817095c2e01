//! `/v1/spend-caps`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, DeletedSpendCap, Page, SpendCap, SpendCapPut};
use domain::id::SpendCapName;

const PATH: &str = "v1/spend-caps";

impl Client {
    /// Every spend cap of the tenant and how it stands, by name.
    ///
    /// # Errors
    /// No response.
    pub async fn spend_caps(&self) -> Result<ApiResponse<Page<SpendCap>>, ClientError> {
        self.send(Call::get(PATH)).await
    }

    /// A spend cap and how it stands.
    ///
    /// # Errors
    /// 404 for an unknown spend cap; no response.
    pub async fn spend_cap(
        &self,
        name: &SpendCapName,
    ) -> Result<ApiResponse<SpendCap>, ClientError> {
        self.send(Call::get(of(name))).await
    }

    /// Stores a spend cap: with `if_version` only in that version, with 0 only if it is new.
    ///
    /// # Errors
    /// 422 where more than its amount would change; 412 for another version; no response.
    pub async fn put_spend_cap(
        &self,
        name: &SpendCapName,
        cap: &SpendCapPut,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<SpendCap>, ClientError> {
        self.send(Call::put(of(name)).json(to_json(cap)?).if_version(if_version)).await
    }

    /// Deletes a spend cap: with `if_version` only in that version.
    ///
    /// # Errors
    /// 404 for an unknown spend cap; 412 for another version; no response.
    pub async fn delete_spend_cap(
        &self,
        name: &SpendCapName,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedSpendCap>, ClientError> {
        self.send(Call::delete(of(name)).if_version(if_version)).await
    }
}

fn of(name: &SpendCapName) -> String {
    format!("{PATH}/{name}")
}
