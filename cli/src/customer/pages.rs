//! What the commands have in common that show pages: `berth list`, `berth audit`.

use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::{ApiResponse, ClientError, Cursor, Page, PageRequest};

/// Rows of a page when nothing is said, as the API has it.
const USUAL_LIMIT: u32 = 50;

/// Which pages.
#[derive(Debug, clap::Args)]
pub struct PageArguments {
    /// Rows per page, 1 to 200.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: Option<u32>,
    /// Cursor of the next page.
    #[arg(long)]
    pub cursor: Option<Cursor>,
    /// All pages.
    #[arg(long)]
    pub all: bool,
}

impl PageArguments {
    /// Asks for one page, or for all, and shows each as it comes. A page of a filter that few rows fit may be short, or empty, though
    /// others come after it: then it is filled up.
    pub async fn show<T, const N: usize>(
        &self,
        format: Format,
        mut table: Table<N>,
        ask: impl AsyncFn(&PageRequest) -> Result<ApiResponse<Page<T>>, ClientError>,
        row: impl Fn(&T) -> [String; N],
    ) -> Result<(), Failure> {
        let mut next = Some(PageRequest { limit: self.limit, cursor: self.cursor.clone() });
        while let Some(request) = next.take() {
            let page = ask(&request).await.map_err(|error| failure(&error))?;
            let found = u32::try_from(page.data.len()).unwrap_or(u32::MAX);
            let left = request.limit.unwrap_or(USUAL_LIMIT).saturating_sub(found);
            let is_short = match format {
                // One document, which has rows where there are any.
                Format::Json => found == 0,
                Format::Table => left > 0,
            };
            if !self.all && is_short && page.next_cursor.is_some() {
                if let Format::Table = format {
                    page.data.iter().for_each(|shown| table.row(row(shown)));
                }
                let limit = if found == 0 { request.limit } else { Some(left) };
                next = page.next(&request).map(|request| PageRequest { limit, ..request });
                continue;
            }
            match format {
                Format::Json => output::document(page.json())?,
                Format::Table => {
                    page.data.iter().for_each(|shown| table.row(row(shown)));
                    output::text(&table.take())?;
                }
            }
            if self.all {
                next = page.next(&request);
            } else if let (Format::Table, Some(cursor)) = (format, &page.next_cursor) {
                output::remark(&format!("More results: add --all, or --cursor {cursor}"));
            }
        }
        Ok(())
    }
}
