//! One object: what its annotations ask for, what its labels remember, and [`decide`].
//!
//! Nothing here knows Kubernetes' client, a runtime or a clock: the same inputs give the same
//! decision, which is what the tables and the models of the tests rest on.

mod decision;
pub mod events;
mod held_down;
mod inputs;
mod jobs;
mod keys;
mod kinds;
pub mod names;
pub mod neighbours;
mod observed;
mod overdue;
mod override_command;
mod quantity;
mod readiness;
mod replicas;
mod requests;
mod restore;
pub mod savings;
mod state;
mod sync;
mod volumes;
mod waking;
mod workload_ref;

pub use decision::change::{Adoption, Cause, Change, ChangeKind};
pub use decision::context::{Decision, DecisionContext};
pub use decision::counts::{started, stopped, woken};
pub use decision::decide::decide;
pub use decision::event_note::{EventNote, TakenUp};
pub use decision::memory::Memory;
pub use decision::next_stop::next_stop;
pub use decision::start_wait::{DueStart, Lack, NeededState, Needs, StartWait, Waiting};
pub use decision::vain_wait::{NeededWorkload, VainWait};
pub use held_down::is_held_down_against_schedule;
pub use inputs::after::{After, Needed, NeededKind};
pub use inputs::annotations::{Annotations, Unknown};
pub use inputs::effective::{Inputs, Origin};
pub use inputs::fingerprint::{Fingerprint, hash_of};
pub use inputs::inheritance::{DefaultSchedule, Inheritance};
pub use inputs::overrides::{Author, Enforce, MAX_REASON, Override, OverrideSet, Overrides, Pause};
pub use inputs::parse_context::ParseContext;
pub use inputs::parsed::{ParsedInputs, read};
pub use inputs::problem::{InvalidSchedule, Problem};
pub use inputs::spec::ScheduleSpec;
pub use jobs::{Job, JobChange, JobsWish, MADE_LATE, jobs_wish, may_have_suspended_jobs};
pub use keys::{INHERITED, Key, Label, OVERRIDE_BEGAN, OWN_ANNOTATIONS, Prefix, PrefixError};
pub use kinds::count_kind::{CountKind, takes_zero};
pub use kinds::definition::{
    DefinitionError, Holds, KindDefinition, MAX_DEFINITIONS, PartDefinition, SwitchText,
};
pub use kinds::kind::{Kind, pointer};
pub use kinds::not_stopped::NotStopped;
pub use kinds::row::{CountForm, Part, Pods, ReadyForm, Shape};
pub use kinds::spec_member::SpecMember;
pub use kinds::switch::{Switch, SwitchConstant, SwitchField, SwitchValue};
pub use observed::{CountField, Observed};
pub use overdue::{Duty, OVERDUE_GRACE, Overdue, action_at, waiting_start};
pub use override_command::{Annotation, OverrideCommand, OverrideError};
pub use quantity::NANOS;
pub use readiness::{READY_WITHIN, Readiness};
pub use replicas::Replicas;
pub use requests::{Amounts, Footprint, PodRequests, ResourceRequests, Resources, SpecNode};
pub use restore::{NotRestored, restored};
pub use state::{Labels, Next, Phase, State};
pub use sync::Sync;
pub use volumes::VolumeRetention;
pub use waking::service::{NotCovered, RequestCoverage, ServicePort, ServiceSpec, selects};
pub use waking::wake_on_request::{IgnoredPaths, WakeOnRequest, wake_on_request_problems};
pub use workload_ref::WorkloadRef;
