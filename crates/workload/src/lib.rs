//! One workload: its schedule from annotations, its state from labels, and [`decide`].
//!
//! The crate does not depend on a Kubernetes client, a runtime or a clock. The same inputs always give
//! the same decision, so tests can compare decisions with tables and models.

mod commands;
mod decision;
pub mod events;
pub mod fields;
mod footprint;
mod inputs;
mod jobs;
mod keys;
mod kinds;
pub mod names;
mod object_spec;
mod observed;
pub mod other_controllers;
mod readiness;
mod replicas;
mod requests;
pub mod savings;
mod state;
pub mod time_format;
mod wake_on_request;
mod workload_ref;

pub use commands::{
    AnnotationChange, NotRestored, OverrideCommand, OverrideError, SyncAction, plan_restore,
};
pub use decision::{
    change::{AdoptedSchedule, Adoption, Cause, Change, ChangeKind, EventNote},
    context::{Decision, DecisionContext},
    decide::decide,
    memory::Memory,
    observer::{
        Duty, OVERDUE_GRACE, Overdue, is_stopped_against_schedule, next_stop, predicted_action,
        waiting_start,
    },
    start_wait::{
        DependencyState, DependencyWorkload, DueStart, IgnoredDependency, StartDependencies,
        StartWait, UnreadyDependency, UnsatisfiableDependency, WaitingStart,
    },
};
pub use footprint::Footprint;
pub use inputs::{
    InvalidSchedule, MAX_ERROR, Problem,
    after::{After, Dependency, DependencyKind},
    annotations::{
        Annotations, Excess, MAX_TEXTS, NamedSchedule, NamedSchedules, Origin, RecordedSchedules,
        UnknownAnnotation,
    },
    effective::{Inputs, Source, VolumeRetention},
    inheritance::{DefaultSchedule, Inheritance, RecordedDefaults, TEAM_CONFIG_MAP, allows_team},
    overrides::{
        Author, Enforce, MAX_REASON, Override, OverrideSet, Overrides, Pause, RequestWakes,
        SYNC_REASON, SleepUntil,
    },
    parse::{ParseContext, ParsedInputs, read},
    spec::{ScheduleSpec, SpecParts},
};
pub use jobs::{
    DesiredJobs, Job, JobChange, LATE_JOB_TOLERANCE, desired_jobs, may_have_suspended_jobs,
};
pub use keys::{INHERITED, Key, Label, OVERRIDE_BEGAN, OWN_ANNOTATIONS, Prefix, PrefixError};
pub use kinds::{
    CountKind,
    definition::{
        CountForm, CustomField, KindDefinition, PodGroup, Pods, ReadyForm, Shape, Switch,
        SwitchConstant, SwitchField, SwitchValue,
    },
    kind::{Kind, pointer},
    operators::NotStopped,
    table::{
        DefinitionError, KindTable, MAX_DEFINITIONS, defined_kind, guess_resource, is_spec_member,
        ready_condition,
    },
};
pub use object_spec::ObjectSpec;
pub use observed::{CountField, MAX_BEGAN, Observed};
pub use readiness::{READY_WITHIN, Readiness};
pub use replicas::{Replicas, count_after_start, count_after_stop, count_after_wake};
pub use requests::{NANOS, PodRequests, ResourceList, ResourceRequests, Resources};
pub use state::{
    Fingerprint, LATER_VERSION, Labels, Next, Phase, Revision, Started, State, sha256_prefix,
};
pub use wake_on_request::{
    AnsweredPaths, IgnoredPaths, NotCovered, RequestCoverage, ServicePort, ServiceSpec,
    WakeOnRequest, next_sleep_end, requests_ignored_until, selects, wake_on_request_problems,
};
pub use workload_ref::WorkloadRef;
