//! What can go wrong between scalers and the server.

use serde::{Deserialize, Serialize};

/// How long a watch can be blind without anybody noticing: the longest that a server keeps one open, and
/// some pauses before it is open again. Connections that say nothing are noticed below this.
pub const BLIND: i64 = 15 * 60_000;

/// A refused patch is tried again after ten minutes at last.
pub const REFUSED: i64 = 10 * 60_000;

/// What failed is tried again after half a minute at last, for whatever reason, and a server that is away
/// after five seconds.
pub const RETRIED: i64 = 30_000;

/// How long an answer is waited for.
const UNANSWERED: i64 = 10_000;

/// What the tries of some objects take, one after the other.
pub const A_MOMENT: i64 = 10_000;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// The connection breaks before the server has read the request.
    Lost,
    /// It breaks after the request took effect.
    AnswerLost,
    /// The request never arrives, and the connection stays open.
    Hangs,
    /// It takes effect, and no answer ever comes.
    AnswerHangs,
    /// It takes effect so many milliseconds later, whether anybody still waits for it or not.
    Late(u32),
    /// It takes effect at once and is answered so many milliseconds later.
    AnswerLate(u32),
    /// The answer ends in the middle.
    Torn,
    /// The server answers with this status code instead.
    Code(u16),
    /// 422 with causes: a policy refuses.
    Refused,
    /// 429, and so many seconds to wait.
    Busy(u16),
    /// An event of the watch comes so many milliseconds later, and with it all that follow.
    EventLate(u32),
    /// An event comes twice.
    EventTwice,
    /// An older event comes once more.
    EventStale,
    /// The watch ends in the place of an event.
    Cut,
    /// The watch breaks in the middle of one.
    Broken,
    /// The watch says nothing any more.
    Silent,
}

impl Fault {
    /// How long after it everything is in order again at the latest, in milliseconds: what
    /// `docs/production/reliability.md` promises, and the time that it takes to notice.
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

    /// Whether it is a fault of an open watch, and not of a request.
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

/// At which stage of a write the scaler is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Nothing was sent.
    Before,
    /// The request is on its way and will arrive.
    OnTheWay,
    /// It took effect and the answer is on its way.
    After,
}

/// A lasting fault of requests about one object, or of Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// An admission webhook takes longer than anybody waits.
    Hangs,
    /// An admission webhook does not answer, and the server says so.
    Fails,
    /// An admission webhook says no.
    Denies,
    /// A permission is missing.
    Forbidden,
    /// The server answers 429.
    Busy,
}

impl Trouble {
    /// How long after its end the last write that met it has been tried again, in milliseconds.
    pub const fn recovery(self) -> i64 {
        let after = match self {
            Self::Denies => REFUSED,
            Self::Hangs => UNANSWERED + RETRIED,
            Self::Fails | Self::Forbidden | Self::Busy => RETRIED,
        };
        after + A_MOMENT
    }

    /// The code and the message of the API server, as a real one words them.
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
