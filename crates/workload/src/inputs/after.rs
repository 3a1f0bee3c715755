//! Start dependencies, from the annotation `after`: `sts/db; deploy/cache, 5m`.

use std::{borrow::Cow, collections::HashSet, fmt, sync::Arc};

use chrono::TimeDelta;
use dayshift_schedule::{Diagnostic, Shared, parse_items_and_wait};

use crate::{
    inputs::effective::Inputs,
    keys::Key,
    kinds::{definition::ReadyForm, kind::Kind, table::KindTable},
    names::{is_dns_label, is_dns_subdomain},
    workload_ref::WorkloadRef,
};

/// How long a start waits if the annotation has no duration.
const WITHIN: TimeDelta = TimeDelta::minutes(10);

/// The maximum number of dependencies of a start.
const MAX_NEEDED: usize = 16;

/// The maximum number of workloads that the cycle check visits. The starts in a longer cycle wait
/// until their time is over.
const MAX_CIRCLE: usize = 64;

const EXAMPLE: &str = "sts/db; deploy/cache, 5m";

/// The dependencies that should be ready before a start, and how long the start waits for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    needed: Arc<[Dependency]>,
    within: TimeDelta,
    is_own: bool,
}

/// An object in the same namespace that should be ready before a start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// Its kind.
    pub kind: DependencyKind,
    /// Its name.
    pub name: Box<str>,
}

/// The kind of a dependency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependencyKind {
    /// A workload. Its own status reports whether it is ready.
    Workload(Kind),
    /// A Service. It is ready when one of its endpoints is.
    Service,
}

impl After {
    /// Parses objects in the form of kubectl, separated by `;`, and optionally a duration from one
    /// second to six hours after a `,` at the end.
    ///
    /// # Errors
    /// If an object has no kind, an unknown kind, or one that never reports whether it is ready; if
    /// an object is repeated, or there are too many; or if the duration is invalid. The span is in
    /// bytes of the string.
    pub fn parse(text: &str, kinds: &KindTable) -> Result<Self, Diagnostic> {
        let (items, within) = parse_items_and_wait(text, EXAMPLE)?;
        let mut needed = Vec::with_capacity(items.len().min(MAX_NEEDED));
        for (span, item) in items {
            let fails = |wrong: String, help: &str| {
                Err(Diagnostic::new(span.clone(), item, wrong, help.to_owned()))
            };
            if needed.len() == MAX_NEEDED {
                let help = format!("name at most {MAX_NEEDED} objects");
                return fails("is one object too many".to_owned(), &help);
            }
            let one = match Dependency::parse(item, kinds) {
                Ok(one) => one,
                Err((wrong, help)) => return fails(wrong, help),
            };
            if needed.contains(&one) {
                return fails("is named twice".to_owned(), "remove one of them");
            }
            needed.push(one);
        }
        Ok(Self {
            needed: needed.into(),
            within: within.unwrap_or(WITHIN),
            is_own: true,
        })
    }

    /// Records whether the annotation is written on the object itself.
    #[must_use]
    pub fn written_in(self, inputs: &Inputs) -> Self {
        let is_own = inputs.is_own(Key::After);
        Self { is_own, ..self }
    }

    /// Shares its dependencies with the starts that have equal ones.
    pub(super) fn share(&mut self, known: &mut Shared<[Dependency]>) {
        known.share(&mut self.needed);
    }

    /// The maximum wait of a start.
    pub const fn within(&self) -> TimeDelta {
        self.within
    }

    /// All dependencies.
    pub fn named(&self) -> &[Dependency] {
        &self.needed
    }

    /// The dependencies of this object. A default on its Namespace or in a named schedule does not
    /// apply to the objects that it names.
    pub fn needed_by(&self, object: &WorkloadRef) -> &[Dependency] {
        if !self.is_own && self.needed.iter().any(|dependency| dependency.is(object)) {
            return &[];
        }
        &self.needed
    }
}

impl Dependency {
    fn parse(text: &str, kinds: &KindTable) -> Result<Self, (String, &'static str)> {
        const KIND: &str = "write for example `sts/db`";
        let Some((kind, name)) = text.split_once('/') else {
            return Err(("has no kind".to_owned(), KIND));
        };
        if matches!(&*kind.to_lowercase(), "svc" | "service" | "services") {
            if !is_dns_label(name) {
                let help = "write for example `svc/db`";
                return Err(("is not the name of a Service".to_owned(), help));
            }
            return Ok(Self::service(name));
        }
        let Some(kind) = kinds.from_argument(kind) else {
            return Err(("is of a kind that dayshift does not know".to_owned(), KIND));
        };
        if kind.ready_form() == ReadyForm::Nowhere {
            let wrong = format!("is a {kind}, which does not report whether it is ready");
            return Err((wrong, "name a Deployment or a StatefulSet"));
        }
        if !is_dns_subdomain(name) {
            let help =
                "write kind and name, such as `sts/db`, and a duration at the end, after a `,`";
            return Err(("is not an object's name".to_owned(), help));
        }
        Ok(Self::workload(&kind, name))
    }

    /// This object as a dependency of others in its namespace.
    pub fn from_workload(object: &WorkloadRef) -> Self {
        Self::workload(&object.kind, &object.name)
    }

    /// The workload with this kind and name.
    pub fn workload(kind: &Kind, name: &str) -> Self {
        Self {
            kind: DependencyKind::Workload(kind.clone()),
            name: name.into(),
        }
    }

    /// The Service with this name.
    pub fn service(name: &str) -> Self {
        Self {
            kind: DependencyKind::Service,
            name: name.into(),
        }
    }

    /// Whether it depends on this object, directly or through others. `needs` returns the
    /// dependencies of each. If this object depends on it too, that is a cycle.
    pub fn leads_back_to<'n>(
        &self,
        object: &WorkloadRef,
        needs: impl Fn(&Self) -> Cow<'n, [Self]>,
    ) -> bool {
        let mut seen = HashSet::from([self.clone()]);
        let mut next = vec![self.clone()];
        while let Some(one) = next.pop() {
            if one.is(object) {
                return true;
            }
            for other in &*needs(&one) {
                if seen.len() < MAX_CIRCLE && seen.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        false
    }

    /// Whether it is this object, which must be in the same namespace.
    pub fn is(&self, object: &WorkloadRef) -> bool {
        matches!(&self.kind, DependencyKind::Workload(kind) if *kind == object.kind)
            && *self.name == *object.name
    }
}

/// `sts/db`
impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            DependencyKind::Workload(kind) => kind.short_name(),
            DependencyKind::Service => "svc",
        };
        write!(f, "{kind}/{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_in_the_form_of_kubectl() {
        for (text, names, minutes) in [
            ("sts/db", &["sts/db"][..], 10),
            (
                " sts/db ; deployment/cache , 5m",
                &["sts/db", "deploy/cache"],
                5,
            ),
            ("StatefulSets.apps/db,1h", &["sts/db"], 60),
            ("svc/db; Services/cache, 1h", &["svc/db", "svc/cache"], 60),
            (
                "rollouts.argoproj.io/pg.main, 6h",
                &["rollouts.argoproj.io/pg.main"],
                360,
            ),
        ] {
            let after = After::parse(text, &KindTable::default()).unwrap();
            let named: Vec<_> = after.named().iter().map(Dependency::to_string).collect();
            assert_eq!(
                (&*named, after.within().num_minutes()),
                (
                    &*names
                        .iter()
                        .map(|name| (*name).to_owned())
                        .collect::<Vec<_>>(),
                    minutes
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn errors_point_at_the_invalid_part() {
        let many = format!(
            "{}sts/x",
            (0..16).map(|n| format!("sts/db-{n};")).collect::<String>()
        );
        for (text, found, wrong) in [
            ("", "", "the value is empty"),
            ("sts/db;", ";", "has no item on one side"),
            ("db", "db", "has no kind"),
            (
                "sts/db; ds/logs",
                "ds/logs",
                "is of a kind that dayshift does not know",
            ),
            ("svc/pg.main", "svc/pg.main", "is not the name of a Service"),
            ("svc/db; service/db", "service/db", "is named twice"),
            (
                "cj/report",
                "cj/report",
                "is a CronJob, which does not report whether it is ready",
            ),
            ("sts/DB", "sts/DB", "is not an object's name"),
            ("sts/", "sts/", "is not an object's name"),
            (
                "sts/db, 5m; deploy/web",
                "sts/db, 5m",
                "is not an object's name",
            ),
            ("sts/db; statefulset/db", "statefulset/db", "is named twice"),
            (
                "sts/db, deploy/cache",
                "deploy/cache",
                "follows a `,`, where only a duration is allowed",
            ),
            (
                "db, cache",
                "cache",
                "follows a `,`, where only a duration is allowed",
            ),
            ("sts/db, 5", "5", "is not a duration"),
            ("sts/db, 0s", "0s", "is not a duration"),
            ("sts/db, 7h", "7h", "is too long"),
            (&many, "sts/x", "is one object too many"),
        ] {
            let error = After::parse(text, &KindTable::default()).unwrap_err();
            let expected = if found.is_empty() {
                wrong.to_owned()
            } else {
                format!("`{found}` {wrong}")
            };
            assert_eq!(error.message(), expected, "{text}");
            assert_eq!(&text[error.span()], found, "{text}");
        }
    }
}
