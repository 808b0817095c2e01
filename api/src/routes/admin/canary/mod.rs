//! `/v1/admin/canaries`: what the platform's canaries see.

pub mod report;
