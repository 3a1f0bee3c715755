//! Many namespaces, each with its own Role and named by `-n`: one watch for each kind in each
//! namespace.

use std::{fmt, path::Path, time::Instant};

use chrono::{TimeDelta, Utc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, ObjectMeta, PostParams};
use serde::Serialize;

use super::{
    burst::{milliseconds, percentile},
    process::Process,
    support::{
        Assets, ControlPlane, Dayshift, Namespace, Parts, Request, block_on, deployment, soon,
    },
};

/// The number of namespaces that have a boundary of their own, one a second, before the others have
/// theirs together.
const MAX_SINGLE: usize = 30;

/// Times are in milliseconds, lateness after each boundary, and memory in bytes.
#[derive(Debug, Serialize)]
pub(crate) struct Namespaces {
    pub(crate) namespaces: usize,
    /// The watches that the server accepted.
    pub(crate) watches: usize,
    /// From the start of the program until every watch was open and its list complete.
    pub(crate) ready: f64,
    pub(crate) peak: u64,
    /// Namespaces that have a boundary of their own, one in each second.
    pub(crate) lone: Lateness,
    /// All other namespaces, at their common boundary.
    pub(crate) together: Lateness,
}

/// The arrival of the patches of some boundaries.
#[derive(Debug, Serialize)]
pub(crate) struct Lateness {
    pub(crate) transitions: usize,
    pub(crate) first: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// Measures one stopping Deployment in each of this many namespaces.
pub(crate) fn run(assets: &Assets, program: &Path, number: usize) -> Namespaces {
    let plane = ControlPlane::start(assets, Parts::Server);
    let home = plane.namespace("home");
    home.kubectl(&["apply", "-f", "manifests/namespaced.yaml"])
        .success();
    let teams: Vec<_> = (0..number).map(|_| plane.namespace("team")).collect();
    bind_role(&plane, home.name(), &teams);
    let kubeconfig = plane.kubeconfig_of(home.name(), "dayshift");

    let mark = plane.audit().mark();
    let mut arguments = vec!["run", "--namespace-defaults=false"];
    arguments.extend(teams.iter().flat_map(|team| ["-n", team.name()]));
    let begin = Instant::now();
    let mut dayshift = Dayshift::run_program(program, &kubeconfig, &arguments);
    dayshift.wait_ready();
    let ready = begin.elapsed();

    let lone = MAX_SINGLE.min(number / 2);
    // Time to create and adopt them.
    let first = soon(15 + i64::try_from(number / 20).unwrap());
    let instant = |place: usize| first.plus(i64::try_from(place.min(lone)).unwrap());
    for (place, team) in teams.iter().enumerate() {
        team.create(deployment("web").replicas(3).stop(instant(place).text()));
    }
    assert!(
        first.0 > Utc::now() + TimeDelta::seconds(5),
        "the preparation took too long: the machine is too busy"
    );
    instant(lone).plus(10).wait();
    let peak = Process(dayshift.id()).peak_memory();
    let mut requests = plane.audit().since(mark);
    requests.retain(Request::is_dayshift);
    dayshift.stop();

    let late = |places: &[Namespace<'_>], from: usize| {
        let late = places.iter().enumerate().map(|(place, team)| {
            let due = instant(from + place).micros();
            let is_stop = |it: &&Request| {
                it.is_made() && it.namespace == team.name() && it.received >= first.micros()
            };
            let stop = requests.iter().find(is_stop);
            stop.expect("a transition is missing").received - due
        });
        Lateness::new(&late.collect::<Vec<_>>())
    };
    Namespaces {
        namespaces: number,
        watches: requests.iter().filter(|it| it.verb == "watch").count(),
        ready: milliseconds(i64::try_from(ready.as_micros()).unwrap()),
        peak,
        lone: late(&teams[..lone], 0),
        together: late(&teams[lone..], lone),
    }
}

/// Binds the shipped Role to the ServiceAccount of `home` in each of these namespaces.
fn bind_role(plane: &ControlPlane, home: &str, teams: &[Namespace<'_>]) {
    let client = plane.client();
    let roles: Api<Role> = Api::namespaced(client.clone(), home);
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), home);
    let mut role = block_on(roles.get("dayshift")).unwrap();
    let mut binding = block_on(bindings.get("dayshift")).unwrap();
    for meta in [&mut role.metadata, &mut binding.metadata] {
        *meta = ObjectMeta {
            name: meta.name.take(),
            ..ObjectMeta::default()
        };
    }
    for subject in binding.subjects.iter_mut().flatten() {
        subject.namespace = Some(home.to_owned());
    }
    let (role, binding, params) = (&role, &binding, &PostParams::default());
    let all = teams.iter().map(|team| async move {
        let roles: Api<Role> = Api::namespaced(client.clone(), team.name());
        let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), team.name());
        roles.create(params, role).await?;
        bindings.create(params, binding).await
    });
    let all = stream::iter(all).buffered(16).try_collect::<Vec<_>>();
    block_on(all).unwrap();
}

impl Lateness {
    fn new(values: &[i64]) -> Self {
        let arrival = |part| milliseconds(percentile(values, part));
        Self {
            transitions: values.len(),
            first: arrival(0.0),
            p50: arrival(0.5),
            p99: arrival(0.99),
            max: arrival(1.0),
        }
    }
}

impl fmt::Display for Namespaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = self.peak >> 20;
        writeln!(
            f,
            "{} namespaces with a Role each: {} watches, ready after {:.0} ms, {mebibytes} MiB peak",
            self.namespaces, self.watches, self.ready
        )?;
        writeln!(f, "  one each second      {}", self.lone)?;
        writeln!(f, "  all others at once   {}", self.together)
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} stops, first {:.1} ms, p50 {:.1} ms, p99 {:.1} ms, last {:.1} ms",
            self.transitions, self.first, self.p50, self.p99, self.max
        )
    }
}
