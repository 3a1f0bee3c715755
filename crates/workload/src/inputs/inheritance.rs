//! From what an object inherits: its Namespace, and the default schedule of the scaler.

use std::sync::Arc;

use super::annotations::Annotations;
use crate::keys::Key;

/// From what objects inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inheritance {
    /// Whether the annotations of a Namespace are defaults for the objects in it.
    pub from_namespaces: bool,
    /// The schedule of everything that neither has nor inherits one.
    pub default_schedule: Option<DefaultSchedule>,
}

/// The schedule that a scaler gives to everything in its scope that neither has nor inherits one:
/// `--default-hours` and the like. It never holds in the namespaces of Kubernetes itself
/// (`kube-…`), nor in that of the scaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultSchedule {
    schedule: Arc<Annotations>,
    own_namespace: Option<Box<str>>,
}

impl Default for Inheritance {
    fn default() -> Self {
        Self {
            from_namespaces: true,
            default_schedule: None,
        }
    }
}

impl DefaultSchedule {
    /// The schedule that these texts of keys make; `None` where they make none.
    pub fn of(texts: impl IntoIterator<Item = (Key, String)>) -> Option<Self> {
        let annotations = Annotations::of(texts);
        annotations.has_schedule().then(|| Self {
            schedule: Arc::new(annotations),
            own_namespace: None,
        })
    }

    /// The same, but not in the namespace that a scaler runs in.
    #[must_use]
    pub fn but_not_in(self, own_namespace: Option<&str>) -> Self {
        Self {
            own_namespace: own_namespace.map(Into::into),
            ..self
        }
    }

    /// It, as annotations that an object inherits.
    pub fn annotations(&self) -> Arc<Annotations> {
        self.beside(&Annotations::default())
    }

    /// It, beside the annotations of a Namespace: for those objects to which they give no schedule.
    fn beside(&self, annotations: &Annotations) -> Arc<Annotations> {
        Arc::new(annotations.with_default_schedule(self.schedule.clone()))
    }

    /// Whether it holds in a namespace.
    pub fn holds_in(&self, namespace: &str) -> bool {
        self.own_namespace.as_deref() != Some(namespace) && !namespace.starts_with("kube-")
    }
}

impl Inheritance {
    /// What the objects of a namespace inherit, whose annotations are these; `None` if nothing.
    pub fn in_force(
        &self,
        namespace: &str,
        annotations: Option<&Arc<Annotations>>,
    ) -> Option<Arc<Annotations>> {
        let default = self.default_schedule.as_ref();
        let default = default.filter(|it| it.holds_in(namespace));
        let annotations = annotations.filter(|it| self.from_namespaces && !it.is_empty());
        match (annotations, default) {
            (None, default) => default.map(DefaultSchedule::annotations),
            (Some(annotations), Some(default)) => Some(default.beside(annotations)),
            (Some(annotations), None) => Some(annotations.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inputs, Kind, Origin};

    fn annotations(texts: &[(Key, &str)]) -> Arc<Annotations> {
        let texts = texts.iter().map(|(key, text)| (*key, (*text).to_owned()));
        Arc::new(Annotations::of(texts))
    }

    #[test]
    fn each_key_says_on_which_of_three_levels_it_is_written() {
        let hours = [(Key::Hours, "08:00-19:00".to_owned())];
        let levels = Inheritance {
            default_schedule: DefaultSchedule::of(hours),
            ..Inheritance::default()
        };
        let zone = annotations(&[(Key::Timezone, "Asia/Tokyo")]);
        let night = annotations(&[(Key::Hours, "20:00-22:00")]);
        let in_namespace = |annotations: Option<&Arc<Annotations>>| {
            Inputs::default().with_defaults(levels.in_force("dev", annotations))
        };
        let (plain, zoned) = (in_namespace(None), in_namespace(Some(&zone)));
        let night = in_namespace(Some(&night));
        let own = plain.clone().with(Key::Hours, "10:00-11:00");
        for (inputs, key, text, origin) in [
            (&plain, Key::Hours, "08:00-19:00", Origin::Scaler),
            (&zoned, Key::Hours, "08:00-19:00", Origin::Scaler),
            (&zoned, Key::Timezone, "Asia/Tokyo", Origin::Namespace),
            (&night, Key::Hours, "20:00-22:00", Origin::Namespace),
            (&own, Key::Hours, "10:00-11:00", Origin::Own),
        ] {
            assert_eq!(inputs.text(key), Some(text));
            assert_eq!(inputs.origin(key), Some(origin), "{key}={text}");
        }
    }

    /// A CronJob has no use for a `scale`: its Namespace gives it no schedule, so the scaler does.
    #[test]
    fn what_has_no_use_for_the_schedule_of_its_namespace_goes_by_the_default() {
        let hours = [(Key::Hours, "08:00-19:00".to_owned())];
        let levels = Inheritance {
            default_schedule: DefaultSchedule::of(hours),
            ..Inheritance::default()
        };
        let steps = annotations(&[(Key::Scale, "09:00 = 3; 19:00 = 0")]);
        let both = annotations(&[(Key::Scale, "09:00 = 3"), (Key::Stop, "20:00")]);
        let of = |kind: Kind, annotations: &Arc<Annotations>| {
            let inputs = Inputs::default().with_counts(kind.counts());
            inputs.with_defaults(levels.in_force("dev", Some(annotations)))
        };
        for (kind, annotations, key, origin) in [
            (Kind::DEPLOYMENT, &steps, Key::Scale, Origin::Namespace),
            (Kind::CRON_JOB, &steps, Key::Hours, Origin::Scaler),
            (Kind::CRON_JOB, &both, Key::Stop, Origin::Namespace),
        ] {
            let inputs = of(kind, annotations);
            let found = Key::SCHEDULE.map(|key| inputs.origin(key));
            let expected = Key::SCHEDULE.map(|it| (it == key).then_some(origin));
            assert_eq!(found, expected, "{kind} {key}");
        }
    }

    #[test]
    fn a_default_schedule_leaves_kubernetes_and_the_scaler_alone() {
        let hours = [(Key::Hours, "08:00-19:00".to_owned())];
        let schedule = DefaultSchedule::of(hours).unwrap();
        let schedule = schedule.but_not_in(Some("tools"));
        for (namespace, holds) in [("dev", true), ("kube-system", false), ("tools", false)] {
            assert_eq!(schedule.holds_in(namespace), holds, "{namespace}");
        }
        assert_eq!(
            DefaultSchedule::of([(Key::Jitter, "5m".to_owned())]),
            None,
            "a schedule without times"
        );
    }
}
