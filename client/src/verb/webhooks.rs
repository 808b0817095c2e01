//! `/v1/webhooks`.

use crate::send::{Call, to_json};
use crate::{
    ApiResponse, Client, ClientError, DeletedWebhook, IdempotencyKey, Page, PageRequest, Webhook,
    WebhookDelivery, WebhookPut, WebhookReplay, WebhookReplayed, WebhookRotate,
};
use domain::id::{DeliveryId, WebhookName};
use domain::webhook::DeliveryState;

const PATH: &str = "v1/webhooks";

/// Which deliveries: those that fit all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// In this state.
    pub state: Option<DeliveryState>,
    /// Of events of exactly this type.
    pub event_type: Option<String>,
}

impl DeliveryQuery {
    fn parameters(&self) -> [(&'static str, Option<String>); 2] {
        let state = self.state.map(|state| state.as_str().to_owned());
        [("state", state), ("type", self.event_type.clone())]
    }
}

impl Client {
    /// Every webhook of the tenant, by name.
    ///
    /// # Errors
    /// No response.
    pub async fn webhooks(&self) -> Result<ApiResponse<Page<Webhook>>, ClientError> {
        self.send(Call::get(PATH)).await
    }

    /// A webhook, without its secret.
    ///
    /// # Errors
    /// 404 for an unknown webhook; no response.
    pub async fn webhook(&self, name: &WebhookName) -> Result<ApiResponse<Webhook>, ClientError> {
        self.send(Call::get(of(name))).await
    }

    /// Stores a webhook: with `if_version` only in that version, with 0 only if it is new. A new one comes with its secret.
    ///
    /// # Errors
    /// An invalid webhook; 409 where the tenant has too many; 412 for another version; no response.
    pub async fn put_webhook(
        &self,
        name: &WebhookName,
        webhook: &WebhookPut,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Webhook>, ClientError> {
        self.send(Call::put(of(name)).json(to_json(webhook)?).if_version(if_version)).await
    }

    /// Deletes a webhook: with `if_version` only in that version.
    ///
    /// # Errors
    /// 404 for an unknown webhook; 412 for another version; no response.
    pub async fn delete_webhook(
        &self,
        name: &WebhookName,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedWebhook>, ClientError> {
        self.send(Call::delete(of(name)).if_version(if_version)).await
    }

    /// Gives a webhook another secret, which comes with it; both sign for a while.
    ///
    /// # Errors
    /// An invalid secret or time; 404 for an unknown webhook; no response.
    pub async fn rotate_webhook(
        &self,
        name: &WebhookName,
        rotate: &WebhookRotate,
    ) -> Result<ApiResponse<Webhook>, ClientError> {
        self.send(write(format!("{}/rotate", of(name))).json(to_json(rotate)?)).await
    }

    /// Enables a webhook that was disabled.
    ///
    /// # Errors
    /// 404 for an unknown webhook; no response.
    pub async fn resume_webhook(
        &self,
        name: &WebhookName,
    ) -> Result<ApiResponse<Webhook>, ClientError> {
        self.send(write(format!("{}/resume", of(name)))).await
    }

    /// Sends a test to a webhook. Read the delivery to see what the receiver answered.
    ///
    /// # Errors
    /// 404 for an unknown webhook; no response.
    pub async fn test_webhook(
        &self,
        name: &WebhookName,
    ) -> Result<ApiResponse<WebhookDelivery>, ClientError> {
        self.send(write(format!("{}/test", of(name)))).await
    }

    /// Sends deliveries of a range that have ended again.
    ///
    /// # Errors
    /// A range that ends before it begins; 404 for an unknown webhook; no response.
    pub async fn replay_webhook(
        &self,
        name: &WebhookName,
        replay: &WebhookReplay,
    ) -> Result<ApiResponse<WebhookReplayed>, ClientError> {
        self.send(write(format!("{}/replay", of(name))).json(to_json(replay)?)).await
    }

    /// One page of a webhook's deliveries, newest first. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; 404 for an unknown webhook; no response.
    pub async fn webhook_deliveries(
        &self,
        name: &WebhookName,
        query: &DeliveryQuery,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<WebhookDelivery>>, ClientError> {
        let call = Call::get(format!("{}/deliveries", of(name))).query(query.parameters());
        self.send(call.query(page.parameters())).await
    }

    /// A delivery with what is sent.
    ///
    /// # Errors
    /// 404 for an unknown delivery; no response.
    pub async fn webhook_delivery(
        &self,
        name: &WebhookName,
        id: DeliveryId,
    ) -> Result<ApiResponse<WebhookDelivery>, ClientError> {
        self.send(Call::get(delivery(name, id))).await
    }

    /// Sends a delivery again, at once.
    ///
    /// # Errors
    /// 404 for an unknown delivery; no response.
    pub async fn replay_delivery(
        &self,
        name: &WebhookName,
        id: DeliveryId,
    ) -> Result<ApiResponse<WebhookDelivery>, ClientError> {
        self.send(write(format!("{}/replay", delivery(name, id)))).await
    }
}

fn of(name: &WebhookName) -> String {
    format!("{PATH}/{name}")
}

fn delivery(name: &WebhookName, id: DeliveryId) -> String {
    format!("{}/deliveries/{id}", of(name))
}

fn write(path: String) -> Call {
    Call::post(path, IdempotencyKey::fresh())
}
