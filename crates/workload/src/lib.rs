//! One workload: its schedule from annotations, its state from labels, and [`decide`].
//!
//! The crate does not depend on a Kubernetes client, a runtime or a clock. The same inputs always give
//! the same decision, so tests can compare decisions with tables and models.

mod commands;
mod decision;
pub mod events;
pub mod fields;
mod fingerprint;
mod footprint;
mod inputs;
mod jobs;
mod keys;
mod kinds;
pub mod names;
mod object_spec;
mod observed;
pub mod other_controllers;
mod quantity;
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
pub use decision::change::{AdoptedSchedule, Adoption, Cause, Change, ChangeKind, EventNote};
pub use decision::context::{Decision, DecisionContext};
pub use decision::decide::decide;
pub use decision::memory::Memory;
pub use decision::observer::{
    Duty, OVERDUE_GRACE, Overdue, is_stopped_against_schedule, next_stop, predicted_action,
    waiting_start,
};
pub use decision::start_wait::{
    DependencyState, DependencyWorkload, DueStart, IgnoredDependency, StartDependencies, StartWait,
    UnreadyDependency, UnsatisfiableDependency, WaitingStart,
};
pub use fingerprint::{Fingerprint, sha256_prefix};
pub use footprint::Footprint;
pub use inputs::after::{After, Dependency, DependencyKind};
pub use inputs::annotations::{
    Annotations, Excess, MAX_TEXTS, NamedSchedule, NamedSchedules, Origin, UnknownAnnotation,
};
pub use inputs::effective::{Inputs, Source, VolumeRetention};
pub use inputs::inheritance::{
    DefaultSchedule, Inheritance, RecordedDefaults, TEAM_CONFIG_MAP, allows_team,
};
pub use inputs::overrides::{
    Author, Enforce, MAX_REASON, Override, OverrideSet, Overrides, Pause, RequestWakes,
    SYNC_REASON, SleepUntil,
};
pub use inputs::parse::{ParseContext, ParsedInputs, read};
pub use inputs::problem::{InvalidSchedule, MAX_ERROR, Problem};
pub use inputs::spec::{ScheduleSpec, SpecParts};
pub use jobs::{
    DesiredJobs, Job, JobChange, LATE_JOB_TOLERANCE, desired_jobs, may_have_suspended_jobs,
};
pub use keys::{INHERITED, Key, Label, OVERRIDE_BEGAN, OWN_ANNOTATIONS, Prefix, PrefixError};
pub use kinds::count::CountKind;
pub use kinds::definition::{
    CountForm, CustomField, KindDefinition, PodGroup, Pods, ReadyForm, Shape,
};
pub use kinds::kind::{Kind, pointer};
pub use kinds::not_stopped::NotStopped;
pub use kinds::switch::{Switch, SwitchConstant, SwitchField, SwitchValue};
pub use kinds::table::{
    DefinitionError, KindTable, MAX_DEFINITIONS, defined_kind, guess_resource, is_spec_member,
    ready_condition,
};
pub use object_spec::ObjectSpec;
pub use observed::{CountField, MAX_BEGAN, Observed};
pub use quantity::NANOS;
pub use readiness::{READY_WITHIN, Readiness};
pub use replicas::{Replicas, count_after_start, count_after_stop, count_after_wake};
pub use requests::{PodRequests, ResourceList, ResourceRequests, Resources};
pub use state::{LATER_VERSION, Labels, Next, Phase, Revision, Started, State};
pub use wake_on_request::{
    AnsweredPaths, IgnoredPaths, NotCovered, RequestCoverage, ServicePort, ServiceSpec,
    WakeOnRequest, next_sleep_end, requests_ignored_until, selects, wake_on_request_problems,
};
pub use workload_ref::WorkloadRef;
