//! Conversions of messages into their envelope.

use crate::{
    Accepted, Assignments, FromExecutor, GoAway, Heartbeat, HeartbeatAnswer, Hello, Output,
    OutputAnswer, Refused, ResultAnswers, Results, Stops, ToExecutor, Welcome, from_executor,
    to_executor,
};

macro_rules! envelope {
    ($envelope:ident, $module:ident: $($variant:ident($message:ident)),+ $(,)?) => {$(
        impl From<$message> for $envelope {
            fn from(message: $message) -> Self {
                Self { message: Some($module::Message::$variant(message)) }
            }
        }
    )+};
}

envelope!(
    FromExecutor, from_executor:
    Hello(Hello), Heartbeat(Heartbeat), Accepted(Accepted), Results(Results), Output(Output),
);

envelope!(
    ToExecutor, to_executor:
    Welcome(Welcome), Refused(Refused), Assignments(Assignments), Heartbeat(HeartbeatAnswer),
    Results(ResultAnswers), Stops(Stops), Output(OutputAnswer), GoAway(GoAway),
);
