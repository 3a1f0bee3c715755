//! The settings of a controller, which do not change while it runs, and the scope of the watches.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use chrono::TimeDelta;
use dayshift_cluster::Workload;
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{
    DefaultSchedule, DependencyKind, Kind, KindTable, ParseContext, Pods, Prefix, READY_WITHIN,
    other_controllers::REVERT_WINDOW,
};

use crate::feed::{CalendarFeed, ScheduleFeed};

/// The settings of a controller.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The time zone of objects without a time zone of their own.
    pub default_zone: Zone,
    /// The time zone database.
    pub tzdata: Tzdata,
    /// The calendars for excluded dates.
    pub calendars: CalendarFeed,
    /// The schedules that objects, Namespaces and the default schedule can name.
    pub schedules: ScheduleFeed,
    /// The part before the `/` of every annotation and label.
    pub prefix: Prefix,
    /// The schedule of objects in scope that neither have nor inherit one and are not excluded. Does
    /// not apply in the namespace of this process and in those of Kubernetes itself (`kube-…`).
    pub default_schedule: Option<DefaultSchedule>,
    /// The kinds that dayshift can scale, including those of `--kind-file`.
    pub kinds: Arc<KindTable>,
    /// Which workloads are in scope.
    pub scope: Scope,
    /// A boundary missed by more than this is adopted instead of carried out.
    pub catch_up: TimeDelta,
    /// The maximum difference from the API server's clock; `None` disables the comparison.
    pub max_clock_skew: Option<TimeDelta>,
    /// The maximum number of starts and stops of one namespace in flight. For all namespaces together,
    /// a quarter more. In addition, there can be as many requests that take longer than a second, half
    /// as many other writes, and 8 Events.
    pub max_in_flight: NonZeroUsize,
    /// The maximum number of started workloads that are not ready yet; `None` for no limit.
    pub max_starting: Option<NonZeroUsize>,
    /// How long a count that dayshift has set is checked for reverts; zero disables the check.
    pub revert_window: Duration,
    /// How long before a stop its notice is sent; zero for no notice.
    pub notice: TimeDelta,
    /// How long an object can take to become ready after a start before a Warning Event; zero for no
    /// Event.
    pub ready_within: TimeDelta,
    /// Publish a series for each workload.
    pub per_workload_metrics: bool,
    /// Publish the number of workloads with an override for each user.
    pub per_user_metrics: bool,
    /// Publish savings by namespace.
    pub per_namespace_metrics: bool,
    /// Report changes without making them.
    pub dry_run: bool,
    /// The pod in which this process runs. The workload that created the pod is never scaled.
    pub own_pod: Option<OwnPod>,
    /// The reporting instance of Events, for example the name of the pod.
    pub instance: String,
    /// The seed for the jitter of backoffs.
    pub seed: u64,
}

/// Which workloads are in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The kinds in scope.
    pub kinds: Vec<Kind>,
    /// The namespaces in scope; empty for all.
    pub namespaces: Vec<String>,
    /// The namespaces that are not in scope.
    pub excluded_namespaces: Vec<String>,
    /// The label selector of objects in scope.
    pub selector: Option<String>,
    /// The label selector of Namespaces in scope. Requires the permission to list and watch Namespaces.
    pub namespace_selector: Option<String>,
    /// The label of Namespaces whose value is the team. If set, savings are published by team.
    pub team_label: Option<String>,
    /// Whether the annotations of a Namespace are defaults for the objects in it. Requires the
    /// permission to list and watch Namespaces.
    pub namespace_defaults: bool,
    /// Whether the ConfigMap `dayshift` in a namespace has defaults for the objects in it. Requires the
    /// permission to list and watch ConfigMaps with this name.
    pub team_defaults: bool,
    /// Whether starts can wait for Services. Requires the permission to list and watch EndpointSlices.
    pub services: bool,
}

/// The subject of one watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Watched {
    /// The Namespaces themselves.
    Namespaces,
    /// The ConfigMaps with the defaults of teams.
    TeamDefaults,
    /// The objects of a kind.
    Kind(Kind),
    /// The EndpointSlices of Services.
    Services,
}

impl Watched {
    /// `Namespace` or `Deployment`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Namespaces => "Namespace",
            Self::TeamDefaults => "ConfigMap",
            Self::Kind(kind) => kind.name(),
            Self::Services => "EndpointSlice",
        }
    }

    /// `namespaces` or `deployments.apps`.
    pub(crate) fn resource(&self) -> String {
        match self {
            Self::Namespaces => "namespaces".to_owned(),
            Self::TeamDefaults => "configmaps".to_owned(),
            Self::Kind(kind) => kind.resource(),
            Self::Services => "endpointslices.discovery.k8s.io".to_owned(),
        }
    }
}

/// The watch that shows the state of a dependency.
impl From<DependencyKind> for Watched {
    fn from(kind: DependencyKind) -> Self {
        match kind {
            DependencyKind::Workload(kind) => Self::Kind(kind),
            DependencyKind::Service => Self::Services,
        }
    }
}

impl Scope {
    /// All watches, and the namespace of each, `None` for all: Namespaces if they are needed, the
    /// ConfigMaps of teams if they are enabled, each kind, and EndpointSlices if they are enabled. The position of a watch is its number.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (Watched, Option<&str>)> {
        let namespaces: Vec<Option<&str>> = match &*self.namespaces {
            [] => vec![None],
            some => some.iter().map(|name| Some(&**name)).collect(),
        };
        let are_watched = self.namespace_defaults
            || self.namespace_selector.is_some()
            || self.team_label.is_some();
        let defaults = are_watched.then_some(Watched::Namespaces);
        let teams = self.team_defaults.then_some(Watched::TeamDefaults);
        let kinds = self.kinds.iter().cloned().map(Watched::Kind);
        let services = self.services.then_some(Watched::Services);
        let defaults = defaults.into_iter().chain(teams);
        let each = defaults.chain(kinds).chain(services);
        each.flat_map(move |watched| {
            let namespaces = namespaces.clone().into_iter();
            namespaces.map(move |name| (watched.clone(), name))
        })
    }
}

impl Default for Scope {
    /// The default kinds, in all namespaces.
    fn default() -> Self {
        Self {
            kinds: Kind::DEFAULT.to_vec(),
            namespaces: Vec::new(),
            excluded_namespaces: Vec::new(),
            selector: None,
            namespace_selector: None,
            team_label: None,
            namespace_defaults: true,
            team_defaults: false,
            services: false,
        }
    }
}

/// The pod in which this process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPod {
    /// The namespace of the pod.
    pub namespace: String,
    /// The name of the pod. If a Deployment created it, `<deployment>-<hash>-`, truncated to 58 bytes,
    /// and five random characters. If a StatefulSet created it, `<statefulset>-<number>`.
    pub name: String,
}

/// The number of bytes of a `generateName` that the API server keeps, and the number of random
/// characters that it appends (`SimpleNameGenerator` of k8s.io/apiserver).
const KEPT: usize = 58;
const RANDOM: usize = 5;

/// The maximum length of a pod template hash: the number of decimal digits of a 32-bit number, each of
/// which is encoded as one letter or digit.
const MAX_HASH: usize = 10;

impl OwnPod {
    /// Whether a workload might have created the pod. If the names of several Deployments have the same
    /// long prefix, this is true for each of them.
    pub fn belongs_to(&self, kind: &Kind, namespace: &str, name: &str) -> bool {
        let may_be_of = match kind.pods() {
            Pods::ByHash => Self::may_be_of_deployment,
            Pods::ByNumber => Self::is_of_stateful_set,
            Pods::OfTarget | Pods::None => return false,
        };
        self.namespace == namespace && may_be_of(self, name)
    }

    /// Whether a workload might have created the pod, or scales a workload that might have.
    pub(crate) fn is_of(&self, kind: &Kind, workload: &Workload) -> bool {
        let namespace = workload.namespace();
        let target = workload.scale_target(kind);
        self.belongs_to(kind, namespace, workload.name())
            || target.is_some_and(|(kind, name)| self.belongs_to(&kind, namespace, name))
    }

    fn is_of_stateful_set(&self, name: &str) -> bool {
        let ordinal = self
            .name
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-'));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        ordinal.is_some_and(|ordinal| !ordinal.is_empty() && is_number(ordinal))
    }

    fn may_be_of_deployment(&self, deployment: &str) -> bool {
        let Some(kept) = self
            .name
            .len()
            .checked_sub(RANDOM)
            .and_then(|end| self.name.get(..end))
        else {
            return false;
        };
        let is_cut = kept.len() == KEPT;
        if is_cut && deployment.starts_with(kept) {
            return true;
        }
        let Some(rest) = kept
            .strip_prefix(deployment)
            .and_then(|rest| rest.strip_prefix('-'))
        else {
            return false;
        };
        let hash = rest.strip_suffix('-').unwrap_or(rest);
        let is_whole = !hash.is_empty() && rest.ends_with('-');
        (is_whole || is_cut)
            && hash.len() <= MAX_HASH
            && hash.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }
}

impl Settings {
    /// The context for parsing annotations, with the current calendars.
    pub fn parse_context(&self) -> ParseContext {
        ParseContext {
            default_zone: self.default_zone,
            tzdata: self.tzdata.clone(),
            kinds: Arc::clone(&self.kinds),
            calendars: self.calendars.current(),
            schedules: self.schedules.current(),
            notice: (!self.notice.is_zero()).then_some(self.notice),
            ready_within: (self.ready_within != READY_WITHIN).then_some(self.ready_within),
        }
    }
}

impl Default for Settings {
    /// The documented defaults: all namespaces, UTC, catch up for 72 h, 30 s of clock skew.
    fn default() -> Self {
        Self {
            default_zone: Zone::UTC,
            tzdata: Tzdata::default(),
            calendars: CalendarFeed::default(),
            schedules: ScheduleFeed::default(),
            prefix: Prefix::default(),
            default_schedule: None,
            kinds: Arc::default(),
            scope: Scope::default(),
            catch_up: TimeDelta::hours(72),
            max_clock_skew: Some(TimeDelta::seconds(30)),
            max_in_flight: NonZeroUsize::new(32).unwrap_or(NonZeroUsize::MIN),
            max_starting: None,
            revert_window: REVERT_WINDOW,
            notice: TimeDelta::zero(),
            ready_within: READY_WITHIN,
            per_workload_metrics: false,
            per_user_metrics: false,
            per_namespace_metrics: false,
            dry_run: false,
            own_pod: None,
            instance: "dayshift".to_owned(),
            seed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deployment_of_a_pod_is_recognized_by_its_name() {
        let pod = OwnPod {
            namespace: "ops".into(),
            name: "day-shift-7c9f8d6b5-x2x4z".into(),
        };
        assert!(pod.belongs_to(&Kind::DEPLOYMENT, "ops", "day-shift"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "dev", "day-shift"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "day"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "day-shift-7c9f8d6b5"));
    }

    /// The name is `<deployment>-<hash>-`, truncated to 58 bytes, and five random characters.
    #[test]
    fn the_deployment_of_a_pod_with_a_truncated_name_is_recognized() {
        let long: String = ('a'..='z').cycle().take(70).collect();
        for length in 40..=70 {
            let deployment = &long[..length];
            let mut name = format!("{deployment}-7c9f8d6b54-");
            name.truncate(58);
            let pod = OwnPod {
                namespace: "ops".into(),
                name: format!("{name}x2x4z"),
            };
            assert!(
                pod.belongs_to(&Kind::DEPLOYMENT, "ops", deployment),
                "{length}"
            );
            assert!(
                !pod.belongs_to(&Kind::DEPLOYMENT, "dev", deployment),
                "{length}"
            );
            assert!(
                !pod.belongs_to(&Kind::DEPLOYMENT, "ops", &deployment[1..length - 1]),
                "{length}"
            );
            assert!(
                !pod.belongs_to(&Kind::DEPLOYMENT, "ops", &format!("b{deployment}")),
                "{length}"
            );
        }
    }

    #[test]
    fn a_pod_without_a_deployment_belongs_to_none() {
        for name in ["", "x2x4z", "web", "web-0", "-x2x4z", "web-x2x4z"] {
            let pod = OwnPod {
                namespace: "ops".into(),
                name: name.into(),
            };
            assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "web"), "{name}");
        }
    }

    #[test]
    fn the_stateful_set_of_a_pod_is_recognized_by_its_name() {
        let pod = OwnPod {
            namespace: "ops".into(),
            name: "dayshift-0".into(),
        };
        assert!(pod.belongs_to(&Kind::STATEFUL_SET, "ops", "dayshift"));
        assert!(!pod.belongs_to(&Kind::STATEFUL_SET, "dev", "dayshift"));
        assert!(!pod.belongs_to(&Kind::STATEFUL_SET, "ops", "day"));
        assert!(!pod.belongs_to(&Kind::STATEFUL_SET, "ops", "dayshift-0"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "dayshift"));
    }
}
