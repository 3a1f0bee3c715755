//! The reasons of Events.

use std::fmt;

/// Why an Event is sent; its `reason` is the name of the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventReason {
    /// A start raised the count.
    Started,
    /// A stop lowered the count.
    Stopped,
    /// `scale` set another count.
    Scaled,
    /// `wake-until` began: the object runs until then.
    Woken,
    /// A connection to its Service asks for it: `dayshift activator` wrote a `wake-until`.
    WokenByRequest,
    /// `dayshift activator` has no free port for a Service of a workload with `wake-on-request`.
    NoActivatorPort,
    /// `sleep-until` began: the object is stopped until then.
    Slept,
    /// A pause began: dayshift leaves the object alone.
    Paused,
    /// An override or a pause ended, and nothing was scaled but what was held down.
    Resumed,
    /// It is stopped before long: by its schedule, where a wake ends, or by `enforce`.
    StopsSoon,
    /// A count raised by hand while stopped was put back.
    Enforced,
    /// An override was over when it was first seen, or already ended and was restored.
    OverrideExpired,
    /// The schedule was seen for the first time, and the workload is not as it says.
    Adopted,
    /// The schedule was edited, or came with a copy; nothing was scaled but what was held down.
    ScheduleChanged,
    /// The schedule was removed while fewer ran than are saved.
    ScheduleRemoved,
    /// The schedule is refused.
    InvalidSchedule,
    /// The API server refuses the patch.
    ScaleFailed,
    /// What a start needs was not ready.
    StartedWithout,
    /// Starts of a namespace wait until fewer workloads are starting.
    StartsWait,
    /// What was started is not ready in time.
    NotReady,
    /// Jobs of a CronJob were suspended after its stop.
    JobsSuspended,
    /// They were resumed.
    JobsResumed,
    /// They cannot be.
    JobsFailed,
    /// Boundaries come faster than they can be carried out.
    BoundariesSkipped,
    /// A boundary was missed for longer than the catch-up.
    BoundaryMissed,
    /// The label `last` is more than an hour ahead of the clock.
    StateFromFuture,
    /// Somebody undoes each correction of the state.
    CorrectionLimitReached,
    /// Somebody else has set back a count that dayshift set.
    Reverted,
}

impl EventReason {
    /// All of them.
    pub const ALL: [Self; 28] = [
        Self::Started,
        Self::Stopped,
        Self::Scaled,
        Self::Woken,
        Self::WokenByRequest,
        Self::NoActivatorPort,
        Self::Slept,
        Self::Paused,
        Self::Resumed,
        Self::StopsSoon,
        Self::Enforced,
        Self::OverrideExpired,
        Self::Adopted,
        Self::ScheduleChanged,
        Self::ScheduleRemoved,
        Self::InvalidSchedule,
        Self::ScaleFailed,
        Self::StartedWithout,
        Self::StartsWait,
        Self::NotReady,
        Self::JobsSuspended,
        Self::JobsResumed,
        Self::JobsFailed,
        Self::BoundariesSkipped,
        Self::BoundaryMissed,
        Self::StateFromFuture,
        Self::CorrectionLimitReached,
        Self::Reverted,
    ];

    /// Whether the Event is a Warning.
    pub const fn is_warning(self) -> bool {
        !matches!(
            self,
            Self::Started
                | Self::Stopped
                | Self::Scaled
                | Self::Woken
                | Self::WokenByRequest
                | Self::Slept
                | Self::Paused
                | Self::Resumed
                | Self::StopsSoon
                | Self::Enforced
                | Self::StartsWait
                | Self::Adopted
                | Self::ScheduleChanged
                | Self::JobsSuspended
                | Self::JobsResumed
        )
    }
}

impl fmt::Display for EventReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
