//! `/v1/admin/price-books`.

use crate::send::{Call, to_json};
use crate::{ApiResponse, Client, ClientError, DeletedPriceBook, Page, PriceBook};
use domain::id::PriceBookName;

const PATH: &str = "v1/admin/price-books";

impl Client {
    /// Every price book, by name.
    ///
    /// # Errors
    /// No response.
    pub async fn price_books(&self) -> Result<ApiResponse<Page<PriceBook>>, ClientError> {
        self.send(Call::get(PATH)).await
    }

    /// A price book.
    ///
    /// # Errors
    /// 404 for an unknown price book; no response.
    pub async fn price_book(
        &self,
        name: &PriceBookName,
    ) -> Result<ApiResponse<PriceBook>, ClientError> {
        self.send(Call::get(of(name))).await
    }

    /// Stores a price book: with `if_version` only in that version, with 0 only if it is new.
    ///
    /// # Errors
    /// Prices out of their ranges, or others in the place of those in effect; 412 for another version; no response.
    pub async fn put_price_book(
        &self,
        name: &PriceBookName,
        book: &domain::price::PriceBook,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<PriceBook>, ClientError> {
        self.send(Call::put(of(name)).json(to_json(book)?).if_version(if_version)).await
    }

    /// Deletes a price book that no plan has named: with `if_version` only in that version.
    ///
    /// # Errors
    /// 404 for an unknown price book; 409 where a plan names it, or did; 412 for another version; no response.
    pub async fn delete_price_book(
        &self,
        name: &PriceBookName,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedPriceBook>, ClientError> {
        self.send(Call::delete(of(name)).if_version(if_version)).await
    }
}

fn of(name: &PriceBookName) -> String {
    format!("{PATH}/{name}")
}
