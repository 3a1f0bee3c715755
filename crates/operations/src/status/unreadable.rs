//! What a look at a cluster leaves out, since the user may not read it: in the words of every table
//! and page.

use std::fmt;

use dayshift_text::first_of;
use dayshift_workload::Kind;

use dayshift_cluster::{
    Query,
    read::{Autoscalers, FindError, NamespaceDefaults, Services, UnreadablePart},
};

/// What a look at a cluster leaves out, since it may not be read or is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// `cronjobs.batch`, as RBAC and kubectl name it.
    pub resource: String,
    /// Whether workloads that were asked for are left out; else no more than something about them.
    pub hides_workloads: bool,
    /// What is left out, and why.
    pub text: String,
    /// What helps, if that is known.
    pub cure: Option<String>,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.cure {
            Some(cure) => write!(f, "; {cure}"),
            None => Ok(()),
        }
    }
}

impl Unreadable {
    /// All that a look leaves out: kinds or named objects first, then what is said about them.
    pub fn of(
        query: &Query,
        refused: &[UnreadablePart],
        autoscalers: &Autoscalers,
        services: &Services,
    ) -> Vec<Self> {
        let mut all = Self::workloads(query, refused, "not shown");
        all.extend(Self::autoscalers(autoscalers));
        all.extend(services.forbidden().map(|message| Self {
            resource: "services".to_owned(),
            hides_workloads: false,
            text: format!(
                "Services cannot be listed, so it is not known which of them wake a workload on request: \
                 {message}"
            ),
            cure: Some("allow list of services".to_owned()),
        }));
        all
    }

    /// What is said once of each kind in each namespace: that it is `left` (`not shown`, say), and why.
    pub fn workloads(query: &Query, refused: &[UnreadablePart], left: &str) -> Vec<Self> {
        let mut said: Vec<(Kind, Option<&str>)> = Vec::new();
        for UnreadablePart { part, .. } in refused {
            let one = (part.kind, part.namespace.as_deref());
            if !said.contains(&one) {
                said.push(one);
            }
        }
        let of = |(kind, namespace): (Kind, Option<&str>)| {
            let refused: Vec<_> = refused
                .iter()
                .filter(|it| (it.part.kind, it.part.namespace.as_deref()) == (kind, namespace))
                .collect();
            let error = &refused.first()?.error;
            let resource = kind.resource();
            let names: Vec<_> = refused
                .iter()
                .filter_map(|it| it.part.name.as_ref())
                .map(|name| format!("{}.{}/{name}", kind.singular(), kind.group()))
                .collect();
            let what = match &*names {
                [] => format!("{} are", kind.names_of_all()),
                [one] => format!("{one} is"),
                several => format!("{} are", first_of(several)),
            };
            let kinds: Vec<_> = said.iter().map(|(kind, _)| *kind).collect();
            Some(Self {
                hides_workloads: true,
                text: format!("{what} {left}: {error}"),
                cure: cure(query, &kinds, error, &resource),
                resource,
            })
        };
        said.iter().filter_map(|it| of(*it)).collect()
    }

    /// That what no controller has seen yet may inherit a schedule which is not seen, where that is
    /// so. What one has seen says itself what it inherits.
    pub fn namespaces(defaults: &NamespaceDefaults) -> Option<Self> {
        let why = defaults.unreadable()?;
        let cure = "allow get and list of namespaces";
        Some(Self {
            resource: "namespaces".to_owned(),
            hides_workloads: false,
            text: format!(
                "Namespaces cannot be read, so a workload that inherits its schedule is seen only after \
                 a controller has seen it: {why}"
            ),
            cure: defaults.is_forbidden().then(|| cure.to_owned()),
        })
    }

    fn autoscalers(autoscalers: &Autoscalers) -> impl Iterator<Item = Self> {
        autoscalers.forbidden().iter().map(|it| Self {
            resource: it.resource.clone(),
            hides_workloads: false,
            text: format!(
                "{} cannot be listed, so one that has not set a count yet is not seen: {}",
                it.name, it.message
            ),
            cure: Some(format!("allow list of {}", it.resource)),
        })
    }
}

/// What helps where these kinds, of which `resource` is one, are refused.
fn cure(query: &Query, refused: &[Kind], error: &FindError, resource: &str) -> Option<String> {
    let allow = match error {
        FindError::Forbidden { verb: "get", .. } => Some(format!("allow get of {resource}")),
        FindError::Forbidden { .. } => Some(format!("allow list and watch of {resource}")),
        _ => None,
    };
    let rest = query.kinds();
    let rest = rest.iter().filter(|it| !refused.contains(it));
    let rest: Vec<_> = rest.map(|it| it.argument()).collect();
    let can_leave_out = !query.is_by_name() && !rest.is_empty();
    let leave_out =
        can_leave_out.then(|| format!("leave them out with --kinds {}", rest.join(",")));
    match (allow, leave_out) {
        (Some(allow), Some(leave_out)) => Some(format!("{allow}, or {leave_out}")),
        (allow, leave_out) => allow.or(leave_out),
    }
}
