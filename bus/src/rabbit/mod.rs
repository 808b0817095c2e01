//! The bus over RabbitMQ.
//!
//! A link keeps a connection; on each session of it the publisher, the consumers and the wake-ups
//! open channels of their own. Whatever fails is created again: the queues are disposable, and every
//! message is only a hint.

mod ack_window;
mod broker;
mod confirming;
mod consumer;
mod dead_letters;
mod fault;
mod healer;
mod in_flight;
mod link;
mod publisher;
mod queue_check;
mod receiving;
mod session;
mod settings;
mod socket;
mod topology;
mod wake_receiver;
mod wake_sender;

pub(crate) use broker::Broker;
pub(crate) use settings::Settings;
