//! Settings of a controller, fixed at its start.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use chrono::TimeDelta;
use dayshift_cluster::Workload;
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{
    DefaultSchedule, DependencyKind, Kind, KindTable, ParseContext, Pods, Prefix, READY_WITHIN,
    other_controllers::REVERT_WINDOW,
};

use crate::calendar_feed::CalendarFeed;

/// How a controller behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The zone of local times on an object without one.
    pub default_zone: Zone,
    /// The database in which zones are looked up.
    pub tzdata: Tzdata,
    /// The calendars for excluded dates.
    pub calendars: CalendarFeed,
    /// The prefix before the `/` of every annotation and label.
    pub prefix: Prefix,
    /// The schedule of everything in scope that neither has nor inherits one and is not excluded.
    /// It never holds in the namespace of this process, nor in those of Kubernetes itself (`kube-…`).
    pub default_schedule: Option<DefaultSchedule>,
    /// The kinds that dayshift scales, those of `--kind-file` included.
    pub kinds: Arc<KindTable>,
    /// Which workloads are in scope.
    pub scope: Scope,
    /// A boundary missed by more than this is adopted instead of carried out.
    pub catch_up: TimeDelta,
    /// How far the clock may differ from the API server's; `None` disables the comparison.
    pub max_clock_skew: Option<TimeDelta>,
    /// How many starts and stops of one namespace may be in flight at once; for all namespaces, a
    /// quarter more. Besides these: as many requests that take longer than a second, half as many
    /// other writes, and 8 Events.
    pub max_in_flight: NonZeroUsize,
    /// How many workloads that were started may be not ready yet; `None` for any number.
    pub max_starting: Option<NonZeroUsize>,
    /// For how long after dayshift has set a count it reports who reverts it; zero for never.
    pub revert_window: Duration,
    /// How long before a stop its notice is sent; zero for no notice.
    pub notice: TimeDelta,
    /// How long an object can take to be ready after a start before a Warning Event; zero for none.
    pub ready_within: TimeDelta,
    /// Publish a series for each workload too.
    pub per_workload_metrics: bool,
    /// Publish workloads under an override by the user who is written on it.
    pub per_user_metrics: bool,
    /// Publish savings by namespace.
    pub per_namespace_metrics: bool,
    /// Report what would be done, and write nothing.
    pub dry_run: bool,
    /// The pod that this process runs in: the Deployment it belongs to is never scaled.
    pub own_pod: Option<OwnPod>,
    /// The reporter of Events, for example the pod's name.
    pub instance: String,
    /// The seed of the backoff's jitter.
    pub seed: u64,
}

/// Which workloads are in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Of these kinds.
    pub kinds: Vec<Kind>,
    /// These namespaces; empty for all.
    pub namespaces: Vec<String>,
    /// But not these.
    pub excluded_namespaces: Vec<String>,
    /// Only objects that this label selector matches.
    pub selector: Option<String>,
    /// Only namespaces that this label selector matches. That needs the permission to list and
    /// watch Namespaces.
    pub namespace_selector: Option<String>,
    /// The label of Namespaces that names the team of each: savings are published by it.
    pub team_label: Option<String>,
    /// Whether the annotations of a Namespace are defaults for the objects in it. That needs the
    /// permission to list and watch Namespaces.
    pub namespace_defaults: bool,
    /// Whether starts may wait for Services. That needs the permission to list and watch
    /// EndpointSlices.
    pub services: bool,
}

/// The subject of one watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Watched {
    /// The Namespaces themselves.
    Namespaces,
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
            Self::Kind(kind) => kind.name(),
            Self::Services => "EndpointSlice",
        }
    }

    /// `namespaces` or `deployments.apps`.
    pub(crate) fn resource(&self) -> String {
        match self {
            Self::Namespaces => "namespaces".to_owned(),
            Self::Kind(kind) => kind.resource(),
            Self::Services => "endpointslices.discovery.k8s.io".to_owned(),
        }
    }
}

/// What shows how something stands that starts wait for.
impl From<DependencyKind> for Watched {
    fn from(kind: DependencyKind) -> Self {
        match kind {
            DependencyKind::Workload(kind) => Self::Kind(kind),
            DependencyKind::Service => Self::Services,
        }
    }
}

impl Scope {
    /// All watches, in each namespace or in all at once: the Namespaces themselves, if they have
    /// defaults, each kind, and EndpointSlices. The position is the watch's number.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (Watched, Option<&str>)> {
        let namespaces: Vec<Option<&str>> = match &*self.namespaces {
            [] => vec![None],
            some => some.iter().map(|name| Some(&**name)).collect(),
        };
        let are_watched = self.namespace_defaults
            || self.namespace_selector.is_some()
            || self.team_label.is_some();
        let defaults = are_watched.then_some(Watched::Namespaces);
        let kinds = self.kinds.iter().cloned().map(Watched::Kind);
        let services = self.services.then_some(Watched::Services);
        let each = defaults.into_iter().chain(kinds).chain(services);
        each.flat_map(move |what| {
            let namespaces = namespaces.clone().into_iter();
            namespaces.map(move |name| (what.clone(), name))
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
            services: false,
        }
    }
}

/// The pod that this process runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPod {
    /// Its namespace.
    pub namespace: String,
    /// Its name: `<deployment>-<hash>-` cut to 58 bytes, and five random characters, where a
    /// Deployment made it, and `<statefulset>-<number>` where a StatefulSet did.
    pub name: String,
}

/// How many bytes of a `generateName` the API server keeps, and how many random characters it adds
/// (`SimpleNameGenerator` of k8s.io/apiserver).
const KEPT: usize = 58;
const RANDOM: usize = 5;

/// The longest hash of a pod template: a 32-bit number in decimal digits, each as one letter or
/// digit.
const MAX_HASH: usize = 10;

impl OwnPod {
    /// Whether this workload may have made the pod: of several Deployments with long names that
    /// begin alike, each may.
    pub fn belongs_to(&self, kind: &Kind, namespace: &str, name: &str) -> bool {
        let may_be_of = match kind.pods() {
            Pods::ByHash => Self::may_be_of_deployment,
            Pods::ByNumber => Self::is_of_stateful_set,
            Pods::OfTarget | Pods::None => return false,
        };
        self.namespace == namespace && may_be_of(self, name)
    }

    /// Whether this workload may have made the pod, or scales one that may.
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
        ordinal.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
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
    /// What texts are read with now.
    pub fn parse_context(&self) -> ParseContext {
        ParseContext {
            default_zone: self.default_zone,
            tzdata: self.tzdata.clone(),
            kinds: Arc::clone(&self.kinds),
            calendars: self.calendars.current(),
            notice: Some(self.notice).filter(|it| !it.is_zero()),
            ready_within: Some(self.ready_within).filter(|it| *it != READY_WITHIN),
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
    fn a_pod_knows_the_deployment_that_made_it() {
        let pod = OwnPod {
            namespace: "ops".into(),
            name: "day-shift-7c9f8d6b5-x2x4z".into(),
        };
        assert!(pod.belongs_to(&Kind::DEPLOYMENT, "ops", "day-shift"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "dev", "day-shift"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "day"));
        assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "day-shift-7c9f8d6b5"));
    }

    /// As the server names them: `<deployment>-<hash>-`, cut to 58 bytes, and five characters.
    #[test]
    fn a_pod_with_a_long_name_does_too() {
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
    fn a_pod_that_no_deployment_made_belongs_to_none() {
        for name in ["", "x2x4z", "web", "web-0", "-x2x4z", "web-x2x4z"] {
            let pod = OwnPod {
                namespace: "ops".into(),
                name: name.into(),
            };
            assert!(!pod.belongs_to(&Kind::DEPLOYMENT, "ops", "web"), "{name}");
        }
    }

    #[test]
    fn a_pod_with_a_number_belongs_to_the_stateful_set_of_its_name() {
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
