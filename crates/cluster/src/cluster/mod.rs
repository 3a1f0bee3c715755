//! Kubernetes: the client, workloads as dayshift sees them, and the only code that sends writes.

mod bounded_value;
mod connection;
mod encoding;
mod object_status;
mod pod_template;
mod reading;
mod resource;
mod spec;
mod switch_field;
mod watching;
mod workload;
mod writing;

pub use connection::acting_as::acting_as;
pub use connection::connect::{
    ConnectError, Connection, connect, connect_as_itself, connect_silently, namespaces,
};
pub use connection::instrument::{Exchange, instrument};
pub use connection::patient::patient;
pub use connection::redact::redacted_chain;
pub use connection::server_time::server_time;
pub use encoding::compact::compact;
pub use reading::access::{
    JOB_VERBS, KindAccess, VERBS, kind_access, lacking_for_jobs, may_list, may_patch_namespace,
};
pub use reading::autoscalers::{Autoscalers, ForbiddenList};
pub use reading::defaults::NamespaceDefaults;
pub use reading::discovery::{discover, note_lacks_count};
pub use reading::events::{SeenEvent, WaitingStarts, events_in, events_of};
pub use reading::find::{
    FindError, Found, Missing, Refused, find, missing_namespaces, namespace_exists, no_namespaces,
    selected_namespaces,
};
pub use reading::managers::WithManagers;
pub use reading::namespace::{NamespaceMeta, ObservedNamespace};
pub use reading::pod_labels::WithPodLabels;
pub use reading::query::{Part, Query};
pub use reading::raw::{RawList, get_raw, list_raw};
pub use reading::services::{Services, service_spec};
pub use reading::view::WorkloadView;
pub use watching::error::{Absence, WatchError};
pub use watching::event::ReflectorEvent;
pub use watching::live_watch::{WatchEvent, WatchEvents, watch};
pub use watching::reflector::Reflector;
pub use watching::slices::{MANAGED_BY, OTHERS_SLICES, SERVICE_LABEL, ServiceSlice, is_ready};
pub use workload::{Version, Workload};
pub use writing::error::{AnnounceError, FailureKind, PatchError, ReadError, Unavailable};
pub use writing::event_object::EventObject;
pub use writing::guard::{Patch, guarded_patch};
pub use writing::writer::Writer;
