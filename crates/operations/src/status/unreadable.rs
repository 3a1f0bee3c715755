//! The parts of a cluster that a status omits because they cannot be read, with the fix.

use std::fmt;

use dayshift_cluster::{
    Query,
    read::{Autoscalers, FindError, ListError, NamespaceDefaults, UnreadablePart},
};
use dayshift_text::first_of;
use dayshift_workload::Kind;

use crate::live_view::LiveView;

/// A part of a cluster that a status omits because it is unreadable or not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The resource as RBAC and kubectl name it, such as `cronjobs.batch`.
    pub resource: String,
    /// Whether workloads of the query are omitted, or only information about them.
    pub hides_workloads: bool,
    /// The omitted part and the reason.
    pub text: String,
    /// The fix, if it is known.
    pub fix: Option<String>,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.fix {
            Some(fix) => write!(f, "; {fix}"),
            None => Ok(()),
        }
    }
}

impl Unreadable {
    /// Lists everything that a status omits: workloads first, then information about them.
    pub fn list(live: &LiveView) -> Vec<Self> {
        let mut all = Self::workloads(live.query(), &live.unreadable_parts(), "not shown");
        all.extend(Self::autoscalers(&live.autoscalers));
        all.extend(live.services.error().map(|error| Self {
            resource: "services".to_owned(),
            hides_workloads: false,
            text: format!(
                "Services cannot be listed, so it is not known which of them wake a workload on request: \
                 {error}"
            ),
            fix: fix_list(error, "services"),
        }));
        all
    }

    /// Describes the unreadable workloads, once for each kind and namespace. `left` is the consequence,
    /// such as `not shown`.
    pub fn workloads(query: &Query, unreadable_parts: &[UnreadablePart], left: &str) -> Vec<Self> {
        let mut groups: Vec<(Kind, Option<&str>)> = Vec::new();
        for UnreadablePart { part, .. } in unreadable_parts {
            let one = (part.kind.clone(), part.namespace.as_deref());
            if !groups.contains(&one) {
                groups.push(one);
            }
        }
        let kinds: Vec<_> = groups.iter().map(|(kind, _)| kind.clone()).collect();
        let describe = |(kind, namespace): &(Kind, Option<&str>)| {
            let is_here = |UnreadablePart { part, .. }: &&UnreadablePart| {
                part.kind == *kind && part.namespace.as_deref() == *namespace
            };
            let mut parts = unreadable_parts.iter().filter(is_here).peekable();
            let error = &parts.peek()?.error;
            let resource = kind.resource();
            let names = parts.filter_map(|unreadable| unreadable.part.name.as_ref());
            let names: Vec<_> = names
                .map(|name| format!("{}.{}/{name}", kind.singular(), kind.group()))
                .collect();
            let what = match &*names {
                [] => format!("{} are", kind.names_of_all()),
                [one] => format!("{one} is"),
                several => format!("{} are", first_of(several)),
            };
            Some(Self {
                hides_workloads: true,
                text: format!("{what} {left}: {error}"),
                fix: fix_for(query, &kinds, error, &resource),
                resource,
            })
        };
        groups.iter().filter_map(describe).collect()
    }

    /// Describes unreadable Namespaces, from which unobserved workloads might inherit a schedule.
    /// Observed workloads have a copy of the inherited annotations.
    pub fn namespaces(defaults: &NamespaceDefaults) -> Option<Self> {
        let why = defaults.unreadable()?;
        let fix = "allow get and list of namespaces";
        Some(Self {
            resource: "namespaces".to_owned(),
            hides_workloads: false,
            text: format!(
                "Namespaces cannot be read, so a workload that inherits its schedule is shown \
                    only after a controller has adopted it: {why}"
            ),
            fix: defaults.is_forbidden().then(|| fix.to_owned()),
        })
    }

    fn autoscalers(autoscalers: &Autoscalers) -> impl Iterator<Item = Self> {
        autoscalers.unreadable().iter().map(|list| Self {
            resource: list.resource.clone(),
            hides_workloads: false,
            text: format!(
                "{} cannot be listed, so one that has not set a count yet is not shown: {}",
                list.name, list.error
            ),
            fix: fix_list(&list.error, &list.resource),
        })
    }
}

fn fix_list(error: &ListError, resource: &str) -> Option<String> {
    error
        .is_forbidden()
        .then(|| format!("allow list of {resource}"))
}

/// The fix if these kinds are unreadable. `resource` is one of them.
fn fix_for(
    query: &Query,
    unreadable_kinds: &[Kind],
    error: &FindError,
    resource: &str,
) -> Option<String> {
    let allow = match error {
        FindError::Forbidden { verb: "get", .. } => Some(format!("allow get of {resource}")),
        FindError::Forbidden { .. } => Some(format!("allow list and watch of {resource}")),
        _ => None,
    };
    let rest = query.kinds();
    let rest = rest.iter().filter(|kind| !unreadable_kinds.contains(kind));
    let rest: Vec<_> = rest.map(Kind::argument).collect();
    let can_leave_out = !query.is_by_name() && !rest.is_empty();
    let leave_out =
        can_leave_out.then(|| format!("leave them out with --kinds {}", rest.join(",")));
    match (allow, leave_out) {
        (Some(allow), Some(leave_out)) => Some(format!("{allow}, or {leave_out}")),
        (allow, leave_out) => allow.or(leave_out),
    }
}
