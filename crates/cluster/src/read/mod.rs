//! Reading live objects: workloads by query, and the other objects that decisions and status depend on.

pub(crate) mod autoscalers;
pub(crate) mod discovery;
pub(crate) mod events;
pub(crate) mod list;
pub(crate) mod namespaces;
pub(crate) mod query;
pub(crate) mod services;
pub(crate) mod team_defaults;

pub use autoscalers::{Autoscalers, UnreadableList};
pub use discovery::{
    JOB_VERBS, KindAccess, VERBS, discover, kind_access, lacking_for_jobs, may_list, may_patch,
    may_patch_namespace, record_dropped_count,
};
pub use events::{CorrectionLimits, ListedEvent, WaitingStarts, events_in, events_of};
pub use list::{FindError, ListError, RawList, get_raw, list_raw};
pub use namespaces::{
    NamespaceDefaults, NamespaceMeta, ObservedNamespace, missing_namespaces, namespace_exists,
    namespace_names, no_namespaces, selected_namespaces,
};
pub use query::{MissingWorkload, Query, QueryPart, UnreadablePart, find, find_parts};
pub use services::{
    EndpointSlice, MANAGED_BY, MAX_PORTS, OTHERS_SLICES, SERVICE_LABEL, Service, ServiceSlice,
    Services, is_ready, service_spec,
};
pub use team_defaults::{ObservedTeamDefaults, TeamConfigMap, WholeTeamDefaults};
