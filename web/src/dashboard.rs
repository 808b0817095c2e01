//! What all pages of a process share.

use crate::backend::Backend;
use crate::link::Links;
use crate::live::Fragments;
use crate::renewal::Renewals;
use crate::seal::Sealer;
use runtime::clock::wall;
use std::sync::Arc;

/// Shared by all requests to the dashboard; made once.
#[derive(Debug)]
pub struct Dashboard {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) sealer: Sealer,
    pub(crate) fragments: Fragments,
    pub(crate) renewals: Renewals,
    pub(crate) links: Links,
    /// Whether everybody may see the status.
    pub(crate) has_status: bool,
}

impl Dashboard {
    /// With the API behind it, and a key for cookies that all processes of the installation share.
    /// `has_status`: whether everybody may see the status of the service.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, key: &[u8; 32], has_status: bool) -> Option<Self> {
        let (fragments, renewals) = (Fragments::default(), Renewals::default());
        let links = Links::new(wall());
        Some(Self { backend, sealer: Sealer::new(key)?, fragments, renewals, links, has_status })
    }
}
