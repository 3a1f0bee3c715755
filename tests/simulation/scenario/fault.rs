//! The faults between controllers and the server.

use serde::{Deserialize, Serialize};

/// The maximum time for which a watch shows nothing without being detected, in milliseconds: the longest time
/// for which a server keeps a watch open, and some pauses before it is open again. The transport detects
/// silent connections earlier.
pub const BLIND: i64 = 15 * 60_000;

/// The maximum retry interval of a denied patch, in milliseconds: ten minutes.
pub const REFUSED: i64 = 10 * 60_000;

/// The maximum retry interval of any other failure, in milliseconds: half a minute, of which an unavailable
/// server needs five seconds.
pub const RETRIED: i64 = 30_000;

/// The timeout of a request, in milliseconds.
const UNANSWERED: i64 = 10_000;

/// The time for attempts to write some objects one after the other, in milliseconds.
pub const A_MOMENT: i64 = 10_000;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// The connection breaks before the server has read the request.
    Lost,
    /// The connection breaks after the request took effect.
    AnswerLost,
    /// The request never arrives, and the connection stays open.
    Hangs,
    /// The request takes effect, and no response ever arrives.
    AnswerHangs,
    /// The request takes effect this many milliseconds later, whether or not its sender still waits for the
    /// response.
    Late(u32),
    /// The request takes effect at once, and the response arrives this many milliseconds later.
    AnswerLate(u32),
    /// The response ends in the middle.
    Torn,
    /// The server answers with this status code instead.
    Code(u16),
    /// A policy denies the request: 422 with causes.
    Refused,
    /// 429, with this many seconds to wait.
    Busy(u16),
    /// An event of the watch, and all later ones, arrive this many milliseconds later.
    EventLate(u32),
    /// An event arrives twice.
    EventTwice,
    /// An older event arrives again.
    EventStale,
    /// The watch ends instead of sending an event.
    Cut,
    /// The watch breaks in the middle of an event.
    Broken,
    /// The watch sends no more events.
    Silent,
}

impl Fault {
    /// The maximum time after which everything works again, in milliseconds: the value that
    /// `docs/production/reliability.md` promises, and the time to detect the fault.
    pub fn recovery(self) -> i64 {
        let after = match self {
            Self::Silent => BLIND,
            Self::Refused | Self::Code(422) => REFUSED,
            Self::Busy(seconds) => RETRIED + 1000 * i64::from(seconds.min(60)),
            Self::Hangs | Self::AnswerHangs => UNANSWERED + RETRIED,
            Self::Late(late) | Self::AnswerLate(late) | Self::EventLate(late) => {
                UNANSWERED + RETRIED + i64::from(late)
            }
            _ => RETRIED,
        };
        after + A_MOMENT
    }

    /// Whether it affects an open watch, as opposed to a request.
    pub const fn is_of_the_watch(self) -> bool {
        matches!(
            self,
            Self::EventLate(_)
                | Self::EventTwice
                | Self::EventStale
                | Self::Cut
                | Self::Broken
                | Self::Silent
        )
    }
}

/// The stage of a write at which the controller is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Nothing was sent.
    Before,
    /// The request is in flight and will arrive.
    OnTheWay,
    /// It took effect and the response is in flight.
    After,
}

/// A lasting fault of requests about one object, or of Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// An admission webhook takes longer than any timeout.
    Hangs,
    /// An admission webhook does not answer, and the server reports the timeout.
    Fails,
    /// An admission webhook denies it.
    Denies,
    /// A permission is missing.
    Forbidden,
    /// The server answers 429.
    Busy,
}

impl Trouble {
    /// The time after the end of the fault in which the last failed write is retried, in milliseconds.
    pub const fn recovery(self) -> i64 {
        let after = match self {
            Self::Denies => REFUSED,
            Self::Hangs => UNANSWERED + RETRIED,
            Self::Fails | Self::Forbidden | Self::Busy => RETRIED,
        };
        after + A_MOMENT
    }

    /// The status code and message of a real API server.
    pub const fn answer(self) -> (u16, &'static str) {
        match self {
            Self::Hangs => (
                504,
                "Timeout: request did not complete within requested timeout",
            ),
            Self::Fails => (
                500,
                "Internal error occurred: failed calling webhook \"policy.example.com\": failed to \
                 call webhook: Post \"https://policy.ops.svc:443/validate?timeout=10s\": dial tcp \
                 10.96.0.7:443: connect: connection refused",
            ),
            Self::Denies => (
                403,
                "admission webhook \"policy.example.com\" denied the request: not on Fridays",
            ),
            Self::Forbidden => (
                403,
                "deployments.apps \"web\" is forbidden: User \"dayshift\" cannot patch resource \
                 \"deployments\" in API group \"apps\" in the namespace \"dev\"",
            ),
            Self::Busy => (429, "too many requests, please try again later"),
        }
    }
}
