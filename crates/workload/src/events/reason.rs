//! The reasons of Events.

use dayshift_text::named_enum;

named_enum! {
    /// Why an Event is sent. The name of the variant is the `reason` in Kubernetes.
    pub enum EventReason {
        /// A start raised the count.
        Started,
        /// A stop lowered the count.
        Stopped,
        /// `scale` set another count.
        Scaled,
        /// `wake-until` began: the object runs until then.
        Woken,
        /// `dayshift activator` wrote a `wake-until` because of a connection to a Service.
        WokenByRequest,
        /// `dayshift activator` has no free port for a Service of a workload with `wake-on-request`.
        NoActivatorPort,
        /// A Service selects more workloads with `wake-on-request` than a request wakes.
        TooManyWakes,
        /// `sleep-until` began: the object is stopped until then.
        Slept,
        /// A pause began: dayshift does not change the object.
        Paused,
        /// A user ended an active override earlier, without removing it.
        OverrideShortened,
        /// An override ended. Nothing was scaled, unless dayshift had stopped the object.
        Resumed,
        /// The object will be stopped soon: by its schedule, at the end of a wake, or by `enforce`.
        StopsSoon,
        /// A manual increase while stopped was reverted.
        Enforced,
        /// An override had ended before it was first observed, or was restored after its end.
        OverrideExpired,
        /// The schedule was observed for the first time, and the workload does not match it.
        Adopted,
        /// The schedule was edited or copied. Nothing was scaled, unless dayshift had stopped the
        /// object.
        ScheduleChanged,
        /// The schedule was removed while more was saved than ran.
        ScheduleRemoved,
        /// The schedule is rejected.
        InvalidSchedule,
        /// The API server rejects the patch.
        ScaleFailed,
        /// A dependency of a start was not ready.
        StartedWithout,
        /// Starts in a namespace wait until fewer workloads are starting.
        StartsWait,
        /// A started workload is not ready in time.
        NotReady,
        /// Jobs of a CronJob were suspended after its stop.
        JobsSuspended,
        /// Jobs of a CronJob were resumed after its start.
        JobsResumed,
        /// Jobs of a CronJob cannot be suspended or resumed.
        JobsFailed,
        /// Boundaries are closer together than the controller can carry them out.
        BoundariesSkipped,
        /// A boundary was missed for longer than the catch-up limit.
        BoundaryMissed,
        /// The label `last` is more than an hour ahead of the clock.
        StateFromFuture,
        /// A later version of dayshift wrote the state labels.
        StateFromLaterVersion,
        /// Another client reverts every correction of the state.
        CorrectionLimitReached,
        /// Another client reverted a count that dayshift had set.
        Reverted,
    }
}

impl EventReason {
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
                | Self::OverrideShortened
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
