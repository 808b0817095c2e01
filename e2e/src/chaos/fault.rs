//! What can be done to a Berth, as values.

use crate::Role;
use std::fmt;
use std::time::Duration;

/// One process: the `number`th of its role, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Victim {
    /// Its role.
    pub role: Role,
    /// Which of them.
    pub number: usize,
}

/// Two parts with a proxy between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// All api processes and Postgres.
    ApiDatabase,
    /// All schedulers and Postgres.
    SchedulerDatabase,
    /// All resource managers and Postgres.
    ManagerDatabase,
    /// All roles and the broker.
    Broker,
    /// All api processes and Redis.
    Redis,
    /// The executor with this number and all resource managers.
    Executor(usize),
}

/// What happens on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// Connections are reset, new ones too.
    Reset,
    /// All arrives 200 ms later, each way.
    Delay,
    /// Nothing arrives, nobody is told; afterwards it does.
    BlackHole,
    /// The far side is gone without a word; connections of that time stay silent for good.
    HalfOpen,
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// kill -9; started again at once.
    Kill(Victim),
    /// SIGSTOP, then SIGCONT.
    Stop(Victim),
    /// SIGTERM; started again once it has ended.
    Term(Victim),
    /// The broker is killed and started again.
    BrokerRestart,
    /// The same, and all it held is lost.
    BrokerWipe,
    /// The hint queue is deleted.
    QueueDeletion,
    /// The broker's memory alarm blocks all who publish.
    MemoryAlarm,
    /// The postmaster and all its children are killed; started again.
    PostgresCrash,
    /// Each statement of any role takes 100 ms longer.
    PostgresSlow,
    /// Each service login may have two connections.
    FewConnections,
    /// All connections of the services are ended, again and again.
    KilledBackends,
    /// Redis is killed; started again.
    RedisAway,
    /// A link misbehaves.
    Network(Link, Cut),
    /// A process is started anew with a clock that is 90 s ahead, and then with the right one. Needs libfaketime.
    ClockSkew(Victim),
}

/// A fault by name, whoever it hits: what a scenario of one fault is called by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(pub &'static str);

/// Every kind.
pub const KINDS: [Kind; 17] = [
    Kind("kill"),
    Kind("stop"),
    Kind("term"),
    Kind("broker-restart"),
    Kind("broker-wipe"),
    Kind("queue-deletion"),
    Kind("memory-alarm"),
    Kind("postgres-crash"),
    Kind("postgres-slow"),
    Kind("few-connections"),
    Kind("killed-backends"),
    Kind("redis-away"),
    Kind("cut"),
    Kind("delay"),
    Kind("black-hole"),
    Kind("half-open"),
    Kind("clock-skew"),
];

/// A fault with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// From the beginning of the load.
    pub at: Duration,
    /// How long; zero for what is over at once.
    pub lasts: Duration,
    /// What.
    pub fault: Fault,
}

impl Fault {
    /// Its kind.
    #[must_use]
    pub const fn kind(self) -> Kind {
        Kind(match self {
            Self::Kill(_) => "kill",
            Self::Stop(_) => "stop",
            Self::Term(_) => "term",
            Self::BrokerRestart => "broker-restart",
            Self::BrokerWipe => "broker-wipe",
            Self::QueueDeletion => "queue-deletion",
            Self::MemoryAlarm => "memory-alarm",
            Self::PostgresCrash => "postgres-crash",
            Self::PostgresSlow => "postgres-slow",
            Self::FewConnections => "few-connections",
            Self::KilledBackends => "killed-backends",
            Self::RedisAway => "redis-away",
            Self::Network(_, Cut::Reset) => "cut",
            Self::Network(_, Cut::Delay) => "delay",
            Self::Network(_, Cut::BlackHole) => "black-hole",
            Self::Network(_, Cut::HalfOpen) => "half-open",
            Self::ClockSkew(_) => "clock-skew",
        })
    }

    /// Whether one process suffers, so that others go on: then work resumes while it lasts.
    #[must_use]
    pub const fn of_one_process(self) -> bool {
        matches!(
            self,
            Self::Kill(_)
                | Self::Stop(_)
                | Self::Term(_)
                | Self::ClockSkew(_)
                | Self::Network(Link::Executor(_), _)
        )
    }

    /// Whether all work may have to wait for its end.
    #[must_use]
    pub const fn may_stop_all(self) -> bool {
        !self.of_one_process() && !self.touches_redis()
    }

    /// Whether `next` hits the one to whom the work of the victim of this has just passed: there are two of each.
    #[must_use]
    pub fn hits_its_heir(self, next: Self) -> bool {
        let killed = |fault| match fault {
            Self::Kill(victim) | Self::Stop(victim) | Self::Term(victim) => Some(victim.role),
            _ => None,
        };
        let roles = (killed(self), killed(next));
        matches!(roles, (Some(one), Some(other)) if one == other
            && matches!(one, Role::Scheduler | Role::ResourceManager))
    }

    /// Whether what Redis has counted may be lost or out of reach.
    #[must_use]
    pub const fn touches_redis(self) -> bool {
        matches!(self, Self::RedisAway | Self::Network(Link::Redis, _))
    }

    /// To whom, for people; empty where the kind says it.
    #[must_use]
    pub fn whom(self) -> String {
        match self {
            Self::Kill(victim)
            | Self::Stop(victim)
            | Self::Term(victim)
            | Self::ClockSkew(victim) => victim.to_string(),
            Self::Network(link, _) => link.to_string(),
            Self::BrokerRestart | Self::BrokerWipe | Self::MemoryAlarm => "broker".to_owned(),
            Self::QueueDeletion => "hint queue".to_owned(),
            Self::PostgresCrash | Self::PostgresSlow => "postgres".to_owned(),
            Self::FewConnections | Self::KilledBackends => "service logins".to_owned(),
            Self::RedisAway => "redis".to_owned(),
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.role.command(), self.number)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApiDatabase => out.write_str("api -> postgres"),
            Self::SchedulerDatabase => out.write_str("scheduler -> postgres"),
            Self::ManagerDatabase => out.write_str("resource-manager -> postgres"),
            Self::Broker => out.write_str("all -> broker"),
            Self::Redis => out.write_str("api -> redis"),
            Self::Executor(number) => write!(out, "executor-{number} -> resource managers"),
        }
    }
}
