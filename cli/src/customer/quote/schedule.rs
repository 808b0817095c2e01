//! `berth quote schedule`.

use super::ask::{ask, raw};
use crate::customer::connection::Connection;
use crate::customer::schedule::{
    Misfire, ScheduleFields, TIMING_FIELDS, TimingArguments, WHEN, WorkflowArguments, name,
    schedule_file,
};
use crate::customer::task_arguments::{FIELDS as TASK_FIELDS, TaskArguments};
use crate::failure::Failure;
use client::RawJson;
use client::request::QuoteAsk;
