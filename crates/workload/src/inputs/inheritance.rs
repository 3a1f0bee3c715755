//! Defaults that objects inherit from their team's ConfigMap, from their Namespace and from the controller's
//! flags, and the annotation `inherited`, in which the controller writes them on the object.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use dayshift_schedule::{Zone, format_notice, is_too_long};
use serde_json::{Map, Value};

use crate::{
    inputs::{
        InvalidSchedule,
        annotations::{Annotations, NamedSchedule, NamedSchedules, Origin},
        effective::{Inputs, Source, truth},
        parse::{ParseContext, ParsedInputs, read},
        spec::ScheduleSpec,
    },
    keys::Key,
};

/// The name of the ConfigMap with a team's defaults for the objects in its namespace. Its keys are those of
/// annotations without the prefix.
pub const TEAM_CONFIG_MAP: &str = "dayshift";

/// The sources from which objects inherit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inheritance {
    /// Whether the annotations of a Namespace are defaults for the objects in it.
    pub from_namespaces: bool,
    /// Whether the ConfigMap `dayshift` in a namespace has defaults for the objects in it, which come
    /// before those of the Namespace.
    pub from_teams: bool,
    /// The schedule of workloads that have no other one.
    pub default_schedule: Option<DefaultSchedule>,
    /// The schedules that objects, Namespaces and the default schedule can name.
    pub schedules: NamedSchedules,
}

/// The schedule that the controller gives to all workloads in its scope that have no other one:
/// `--default-hours`, `--default-schedule` and similar flags. It never applies in Kubernetes' own
/// namespaces (`kube-…`) or in that of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultSchedule {
    schedule: Arc<Annotations>,
    own_namespace: Option<Box<str>>,
}

impl Default for Inheritance {
    fn default() -> Self {
        Self {
            from_namespaces: true,
            from_teams: false,
            default_schedule: None,
            schedules: NamedSchedules::default(),
        }
    }
}

impl DefaultSchedule {
    /// A schedule from the values of keys; `None` if they contain no times and name no schedule.
    pub fn from_texts(texts: impl IntoIterator<Item = (Key, String)>) -> Option<Self> {
        let annotations = Annotations::from_texts(texts);
        let is_schedule = annotations.has_schedule() || annotations.has(Key::NamedSchedule);
        is_schedule.then(|| Self {
            schedule: Arc::new(annotations),
            own_namespace: None,
        })
    }

    /// Excludes the namespace in which the controller runs.
    #[must_use]
    pub fn except_in(self, own_namespace: Option<&str>) -> Self {
        Self {
            own_namespace: own_namespace.map(Into::into),
            ..self
        }
    }

    /// The name of the schedule, if it is a named one.
    pub fn name(&self) -> Option<&str> {
        self.schedule.text(Key::NamedSchedule)
    }

    /// The schedule as annotations that an object inherits.
    pub fn annotations(&self) -> Arc<Annotations> {
        Arc::new(Annotations::default().with_levels(None, Some(Arc::clone(&self.schedule))))
    }

    /// Whether it applies in a namespace.
    pub fn applies_in(&self, namespace: &str) -> bool {
        self.own_namespace.as_deref() != Some(namespace) && !namespace.starts_with("kube-")
    }
}

impl Inheritance {
    /// The annotations of a Namespace with the schedule that they name, without the default schedule.
    pub fn resolved(&self, annotations: &Arc<Annotations>) -> Arc<Annotations> {
        annotations.resolved(&self.schedules)
    }

    /// The defaults of objects in a namespace whose Namespace has these annotations, and whose team has
    /// these defaults; `None` if there are none.
    pub fn in_force(
        &self,
        namespace: &str,
        annotations: Option<&Arc<Annotations>>,
        team: Option<&Arc<Annotations>>,
    ) -> Option<Arc<Annotations>> {
        let resolved = |texts: &Arc<Annotations>| texts.resolved(&self.schedules);
        let default = self.default_schedule.as_ref();
        let default = default.filter(|schedule| schedule.applies_in(namespace));
        let default = default.map(|default| resolved(&default.schedule));
        let may_have_team =
            self.from_teams && annotations.is_none_or(|annotations| allows_team(annotations));
        let team = team.filter(|texts| may_have_team && !texts.is_empty());
        let team = team.map(resolved);
        let annotations =
            annotations.filter(|annotations| self.from_namespaces && !annotations.is_empty());
        let annotations = annotations.map(resolved);
        if team.is_none() && default.is_none() {
            return annotations;
        }
        let annotations = annotations.unwrap_or_default();
        Some(Arc::new(annotations.with_levels(team, default)))
    }

    /// A team's defaults, and nothing else, as an object inherits them.
    pub fn of_team(&self, team: &Arc<Annotations>) -> Arc<Annotations> {
        let team = Some(self.resolved(team));
        Arc::new(Annotations::default().with_levels(team, None))
    }

    /// Why a team's defaults are invalid, independent of the objects that inherit them.
    pub fn team_problem(
        &self,
        team: &Arc<Annotations>,
        context: &ParseContext,
    ) -> Option<InvalidSchedule> {
        let inputs = Inputs::from_own(self.resolved(team));
        match read(&inputs.or_always_on(), context) {
            ParsedInputs::Invalid(problem) => Some(problem.in_team_defaults()),
            ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
        }
    }
}

/// Whether a Namespace with these annotations lets its team have defaults. If its annotation is invalid,
/// every object in it is rejected.
pub fn allows_team(namespace: &Annotations) -> bool {
    let text = namespace.text(Key::TeamDefaults);
    text.and_then(truth) != Some(false)
}

/// The key for the place where the other keys are written.
const FROM: &str = "from";
const OF_NAMESPACE: &str = "Namespace";
/// The value of `from` for the team's defaults, and the key for their values if the Namespace has
/// others.
const OF_TEAM: &str = "team";
/// The value of `from` for the controller's flags, and the key for their values if the Namespace or
/// the team has others.
const OF_CONTROLLER: &str = "scaler";
/// The value of `from` if only a schedule that the object names gives values.
const OF_SCHEDULE: &str = "schedule";
/// The key for the values of named schedules, by name.
const SCHEDULES: &str = "schedules";
/// The key for the names that were omitted.
const LEFT_OUT: &str = "left-out";

/// The values that an object inherits or takes from named schedules, in the annotation `inherited` on
/// the object. The CLI reads them there, so it does not need the file of schedules.
///
/// It is a JSON object with the keys, their values, and `from`, which is `Namespace`, `team`, `scaler` or
/// `schedule`: `{"from":"Namespace","hours":"Mon-Fri 09:00-19:00"}`. If several have values, those of the
/// team are in `team`, and those of the controller in `scaler`:
/// `{"from":"Namespace","timezone":"Asia/Tokyo","scaler":{"hours":"09:00-19:00"}}`. The values of named
/// schedules are in `schedules`: `{"from":"schedule","schedules":{"office":{"hours":"09:00-19:00"}}}`.
/// The annotation is not longer than a value that a user may write. If it would be, the longest values
/// are omitted, and `left-out` lists their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    pub(crate) namespace: Annotations,
    pub(crate) team: Annotations,
    scaler: Annotations,
    /// The values in force of each named schedule.
    schedules: BTreeMap<Box<str>, Annotations>,
    pub(crate) left_out: Vec<Key>,
}

impl Inherited {
    /// The inherited values, and the controller's time zone and durations if no annotation sets
    /// them. UTC is omitted because it is the default.
    pub(crate) fn from_inputs(inputs: &Inputs, spec: &ScheduleSpec) -> Self {
        let mut inherited = Self::from_annotations(inputs);
        let zone = Some(spec.schedule.zone()).filter(|zone| *zone != Zone::UTC);
        for (key, text) in [
            (Key::Timezone, zone.map(|zone| Cow::from(zone.name()))),
            (Key::Notice, spec.notice.map(format_notice).map(Cow::from)),
            (
                Key::ReadyWithin,
                spec.ready_within.map(format_notice).map(Cow::from),
            ),
        ] {
            if inputs.text(key).is_none() {
                inherited.scaler.set(key, text.as_deref());
            }
        }
        inherited
    }

    fn from_annotations(inputs: &Inputs) -> Self {
        let mut inherited = Self::default();
        let has_any = inputs.defaults().is_some() || inputs.refers_to_schedules();
        let keys = has_any.then_some(Key::ALL);
        for key in keys.into_iter().flatten() {
            // An override might have ended while one of a later level is active.
            if Key::OVERRIDES.contains(&key) || Key::AUTHOR.contains(&key) {
                let defaults = inputs.defaults();
                let team = defaults.and_then(Annotations::team);
                let of_team = team.and_then(|team| team.text(key));
                inherited.team.set(key, of_team);
                let of_namespace = defaults.and_then(|defaults| defaults.text(key));
                inherited.namespace.set(key, of_namespace);
                continue;
            }
            let Some((source, written)) = inputs.written(key) else {
                continue;
            };
            let text = written.text(key);
            match source {
                Source { .. } if key == Key::TeamDefaults => {}
                Source::OWN => {}
                Source {
                    origin,
                    schedule: Some(name),
                } => inherited.set_named(origin, name, key, text),
                Source {
                    origin: Origin::Controller,
                    ..
                } => {
                    // The name of a default schedule is recorded with its values, if it gives any.
                    if key != Key::NamedSchedule {
                        inherited.scaler.set(key, text);
                    }
                }
                Source {
                    origin: Origin::Team,
                    ..
                } => inherited.team.set(key, text),
                Source { .. } => inherited.namespace.set(key, text),
            }
        }
        inherited
    }

    /// Records a value of a named schedule, and its name at the level that names it.
    fn set_named(&mut self, origin: Origin, name: &str, key: Key, text: Option<&str>) {
        let values = self.schedules.entry(name.into()).or_default();
        values.set(key, text);
        let level = match origin {
            // The object has the name.
            Origin::Own => return,
            Origin::Team => &mut self.team,
            Origin::Namespace => &mut self.namespace,
            Origin::Controller => &mut self.scaler,
        };
        if level.text(Key::NamedSchedule).is_none() {
            level.set(Key::NamedSchedule, Some(name));
        }
    }

    /// The value of the annotation; `None` if nothing is inherited.
    pub(crate) fn text(mut self) -> Option<Box<str>> {
        if self == Self::default() {
            return None;
        }
        loop {
            let text = self.document()?.to_string();
            if !is_too_long(&text) {
                return Some(text.into());
            }
            self.leave_out_longest()?;
        }
    }

    fn document(&self) -> Option<Value> {
        let values = |from: &Annotations| {
            let text = |key: Key| {
                let text = from.text(key)?;
                Some((key.name().to_owned(), text.into()))
            };
            Key::ALL
                .into_iter()
                .filter_map(text)
                .collect::<Map<_, Value>>()
        };
        // The first level that has values is written directly, and the others by name.
        let levels = [
            (OF_NAMESPACE, &self.namespace),
            (OF_TEAM, &self.team),
            (OF_CONTROLLER, &self.scaler),
        ];
        let levels = levels.map(|(name, level)| (name, values(level)));
        let mut levels = levels.into_iter().filter(|(_, values)| !values.is_empty());
        let (from, mut document) = match levels.next() {
            Some(first) => first,
            None if self.schedules.is_empty() => (OF_CONTROLLER, Map::new()),
            None => (OF_SCHEDULE, Map::new()),
        };
        for (name, values) in levels {
            document.insert(name.to_owned(), values.into());
        }
        let named = self.schedules.iter();
        let named = named.map(|(name, from)| (name.to_string(), values(from).into()));
        let named: Map<_, Value> = named.collect();
        if !named.is_empty() {
            document.insert(SCHEDULES.to_owned(), named.into());
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.iter().map(|key| key.name());
            document.insert(LEFT_OUT.to_owned(), names.collect());
        }
        if document.is_empty() {
            return None;
        }
        document.insert(FROM.to_owned(), from.into());
        Some(document.into())
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut Annotations> {
        let levels = [&mut self.namespace, &mut self.team, &mut self.scaler].into_iter();
        levels.chain(self.schedules.values_mut())
    }

    fn leave_out_longest(&mut self) -> Option<()> {
        let parts = || {
            let levels = [&self.namespace, &self.team, &self.scaler].into_iter();
            levels.chain(self.schedules.values())
        };
        let length = |from: &Annotations, key: Key| from.text(key).map_or(0, str::len);
        let longest_of = |key: &Key| parts().map(|from| length(from, *key)).max();
        // Without the name, it would be unknown which schedule the values are of.
        let keys = Key::ALL
            .into_iter()
            .filter(|key| *key != Key::NamedSchedule);
        let longest = keys.max_by_key(longest_of)?;
        longest_of(&longest).filter(|length| *length > 0)?;
        for from in self.parts_mut() {
            from.set(longest, None);
        }
        self.left_out.push(longest);
        Some(())
    }

    /// Parses the annotation; `None` if dayshift did not write it. Keys of a later version are
    /// ignored.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let document: Map<String, Value> = serde_json::from_str(text).ok()?;
        let read = |document: &Map<String, Value>| {
            let text = |key: Key| Some((key, document.get(key.name())?.as_str()?.to_owned()));
            Annotations::from_texts(Key::ALL.into_iter().filter_map(text))
        };
        let all = read(&document);
        let left_out = document.get(LEFT_OUT).and_then(Value::as_array);
        let left_out = left_out.into_iter().flatten().filter_map(Value::as_str);
        let named = document.get(SCHEDULES).and_then(Value::as_object);
        let named = named.into_iter().flatten();
        let mut inherited = Self {
            left_out: left_out.filter_map(Key::from_name).collect(),
            schedules: named
                .filter_map(|(name, values)| {
                    Some((name.as_str().into(), read(values.as_object()?)))
                })
                .collect(),
            ..Self::default()
        };
        let level = |name: &str| {
            let values = document.get(name).and_then(Value::as_object);
            values.map(read).unwrap_or_default()
        };
        inherited.team = level(OF_TEAM);
        inherited.scaler = level(OF_CONTROLLER);
        match document.get(FROM)?.as_str()? {
            OF_NAMESPACE => inherited.namespace = all,
            OF_TEAM => inherited.team = all,
            OF_CONTROLLER => inherited.scaler = all,
            OF_SCHEDULE => {}
            _ => return None,
        }
        Some(inherited)
    }

    /// Gives an object these values, in place of its defaults and of the schedule that it names.
    pub(crate) fn given_to(self, inputs: Inputs) -> Inputs {
        let schedules = self.schedules();
        let levels = [self.namespace, self.team, self.scaler];
        let [namespace, team, scaler] = levels.map(|level| Arc::new(level).resolved(&schedules));
        let team = Some(team).filter(|team| !team.is_empty());
        let defaults = Arc::new(namespace.with_levels(team, Some(scaler)));
        inputs
            .with_defaults(Some(defaults))
            .with_schedules(&schedules)
    }

    /// The values of named schedules, of the team's defaults and of the default schedule; `None` if there
    /// are none of the first two.
    pub(crate) fn recorded(self) -> Option<RecordedDefaults> {
        if self.schedules.is_empty() && self.team.is_empty() {
            return None;
        }
        let name = self.scaler.text(Key::NamedSchedule);
        let name = name.map(|name| (Key::NamedSchedule, name.to_owned()));
        Some(RecordedDefaults {
            inheritance: Inheritance {
                from_namespaces: true,
                from_teams: true,
                default_schedule: DefaultSchedule::from_texts(name),
                schedules: self.schedules(),
            },
            team: (!self.team.is_empty()).then(|| Arc::new(self.team)),
        })
    }

    /// The values of the named schedules.
    pub(crate) fn schedules(&self) -> NamedSchedules {
        let named = self.schedules.iter().map(|(name, values)| {
            let text = |key: Key| Some((key, values.text(key)?.to_owned()));
            NamedSchedule::new(name, Key::ALL.into_iter().filter_map(text))
        });
        NamedSchedules::from_file(named)
    }

    /// Removes the keys of a schedule.
    pub(crate) fn without_schedule(mut self) -> Self {
        for from in self.parts_mut() {
            for key in Key::SCHEDULE.into_iter().chain([Key::StopAfter]) {
                from.set(key, None);
            }
        }
        self
    }
}

/// The defaults in the annotation `inherited` that are not read from Namespaces: the values of named
/// schedules, and of the team's ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDefaults {
    inheritance: Inheritance,
    team: Option<Arc<Annotations>>,
}

impl RecordedDefaults {
    /// The values, for their size: of each named schedule, and of the team.
    pub fn values(&self) -> impl Iterator<Item = &Annotations> {
        let named = self.inheritance.schedules.iter();
        let team = self.team.as_deref();
        named.map(NamedSchedule::texts).chain(team)
    }

    /// Gives an object these defaults together with the annotations of its Namespace.
    #[must_use]
    pub fn given_to(
        &self,
        inputs: Inputs,
        namespace: &str,
        annotations: Option<&Arc<Annotations>>,
    ) -> Inputs {
        let team = self.team.as_ref();
        let defaults = self.inheritance.in_force(namespace, annotations, team);
        inputs
            .with_defaults(defaults)
            .with_schedules(&self.inheritance.schedules)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::{Inputs, Kind, Origin};

    fn annotations(texts: &[(Key, &str)]) -> Arc<Annotations> {
        let texts = texts.iter().map(|(key, text)| (*key, (*text).to_owned()));
        Arc::new(Annotations::from_texts(texts))
    }

    #[test]
    fn each_key_has_the_origin_of_its_level() {
        let hours = [(Key::Hours, "08:00-19:00".to_owned())];
        let levels = Inheritance {
            default_schedule: DefaultSchedule::from_texts(hours),
            ..Inheritance::default()
        };
        let zone = annotations(&[(Key::Timezone, "Asia/Tokyo")]);
        let night = annotations(&[(Key::Hours, "20:00-22:00")]);
        let in_namespace = |annotations: Option<&Arc<Annotations>>| {
            Inputs::default().with_defaults(levels.in_force("dev", annotations, None))
        };
        let (plain, zoned) = (in_namespace(None), in_namespace(Some(&zone)));
        let night = in_namespace(Some(&night));
        let own = plain.clone().with(Key::Hours, "10:00-11:00");
        for (inputs, key, text, origin) in [
            (&plain, Key::Hours, "08:00-19:00", Origin::Controller),
            (&zoned, Key::Hours, "08:00-19:00", Origin::Controller),
            (&zoned, Key::Timezone, "Asia/Tokyo", Origin::Namespace),
            (&night, Key::Hours, "20:00-22:00", Origin::Namespace),
            (&own, Key::Hours, "10:00-11:00", Origin::Own),
        ] {
            assert_eq!(inputs.text(key), Some(text));
            assert_eq!(inputs.origin(key), Some(origin), "{key}={text}");
        }
    }

    /// `scale` does not apply to a CronJob. So if the Namespace has only a `scale`, the
    /// controller's default applies.
    #[test]
    fn a_kind_to_which_the_namespace_schedule_does_not_apply_uses_the_default_schedule() {
        let hours = [(Key::Hours, "08:00-19:00".to_owned())];
        let levels = Inheritance {
            default_schedule: DefaultSchedule::from_texts(hours),
            ..Inheritance::default()
        };
        let steps = annotations(&[(Key::Scale, "09:00 = 3; 19:00 = 0")]);
        let both = annotations(&[(Key::Scale, "09:00 = 3"), (Key::Stop, "20:00")]);
        let of = |kind: &Kind, annotations: &Arc<Annotations>| {
            let inputs = Inputs::default().with_counts(kind.counts());
            inputs.with_defaults(levels.in_force("dev", Some(annotations), None))
        };
        for (kind, annotations, key, origin) in [
            (Kind::DEPLOYMENT, &steps, Key::Scale, Origin::Namespace),
            (Kind::CRON_JOB, &steps, Key::Hours, Origin::Controller),
            (Kind::CRON_JOB, &both, Key::Stop, Origin::Namespace),
        ] {
            let inputs = of(&kind, annotations);
            let found = Key::SCHEDULE.map(|key| inputs.origin(key));
            let expected =
                Key::SCHEDULE.map(|schedule_key| (schedule_key == key).then_some(origin));
            assert_eq!(found, expected, "{kind} {key}");
        }
    }

    #[test]
    fn a_default_schedule_excludes_the_namespaces_of_kubernetes_and_the_controller() {
        let hours = [(Key::Hours, "08:00-19:00".to_owned())];
        let schedule = DefaultSchedule::from_texts(hours).unwrap();
        let schedule = schedule.except_in(Some("tools"));
        for (namespace, holds) in [("dev", true), ("kube-system", false), ("tools", false)] {
            assert_eq!(schedule.applies_in(namespace), holds, "{namespace}");
        }
        assert_eq!(
            DefaultSchedule::from_texts([(Key::Jitter, "5m".to_owned())]),
            None,
            "defaults without times are not a schedule"
        );
    }

    fn inputs(own: &[(Key, &str)], namespace: &[(Key, &str)], hours: Option<&str>) -> Inputs {
        let hours = hours.map(|text| (Key::Hours, text.to_owned()));
        let levels = Inheritance {
            default_schedule: DefaultSchedule::from_texts(hours),
            ..Inheritance::default()
        };
        let defaults = levels.in_force("dev", Some(&annotations(namespace)), None);
        Inputs::from_own(annotations(own)).with_defaults(defaults)
    }

    fn text(inputs: &Inputs, context: &ParseContext) -> Option<Box<str>> {
        match read(inputs, context) {
            ParsedInputs::Scheduled(spec) => Inherited::from_inputs(inputs, &spec).text(),
            other => panic!("{other:?}"),
        }
    }

    const HOURS: (Key, &str) = (Key::Hours, "Mon-Fri 09:00-19:00");
    const ZONE: (Key, &str) = (Key::Timezone, "Asia/Tokyo");

    #[test]
    fn the_inherited_annotation_contains_values_and_their_origin() {
        let tokyo = Zone::parse("Asia/Tokyo").unwrap();
        let night = Some("20:00-22:00");
        for (inputs, zone, expected) in [
            (inputs(&[HOURS, ZONE], &[], None), tokyo, None),
            (inputs(&[HOURS], &[], None), Zone::UTC, None),
            (
                inputs(&[HOURS], &[], night),
                tokyo,
                Some(r#"{"from":"scaler","timezone":"Asia/Tokyo"}"#),
            ),
            (
                inputs(&[], &[HOURS, ZONE], night),
                Zone::UTC,
                Some(
                    r#"{"from":"Namespace","hours":"Mon-Fri 09:00-19:00","timezone":"Asia/Tokyo"}"#,
                ),
            ),
            (
                inputs(&[], &[ZONE], night),
                Zone::UTC,
                Some(
                    r#"{"from":"Namespace","scaler":{"hours":"20:00-22:00"},"timezone":"Asia/Tokyo"}"#,
                ),
            ),
            (
                inputs(
                    &[HOURS, (Key::WakeUntil, "2026-11-20 10:00")],
                    &[(Key::WakeUntil, "2026-11-20 12:00"), (Key::Enforce, "true")],
                    None,
                ),
                Zone::UTC,
                Some(r#"{"enforce":"true","from":"Namespace","wake-until":"2026-11-20 12:00"}"#),
            ),
        ] {
            let text = text(&inputs, &zone.into());
            assert_eq!(text.as_deref(), expected);
            let Some(text) = text else { continue };
            let read = Inherited::parse(&text).unwrap();
            assert_eq!(read.text().as_deref(), expected, "read again");
        }
    }

    /// A reader without the file gets the same values from the same places.
    #[test]
    fn the_inherited_annotation_contains_the_values_of_named_schedules() {
        let office = [
            (Key::Hours, "Mon-Fri 09:00-19:00"),
            (Key::Timezone, "Asia/Tokyo"),
        ];
        let night = [
            (Key::Start, "22:00"),
            (Key::Stop, "06:00"),
            (Key::Notice, "15m"),
        ];
        let given = |texts: &[(Key, &str)]| {
            let texts = texts.iter().map(|(key, text)| (*key, (*text).to_owned()));
            texts.collect::<Vec<_>>()
        };
        let schedules = NamedSchedules::from_file([
            NamedSchedule::new("office", given(&office)),
            NamedSchedule::new("night", given(&night)),
            NamedSchedule::new("steps", given(&[(Key::Scale, "09:00 = 3; 19:00 = 0")])),
        ]);
        let named = |name| (Key::NamedSchedule, name);
        for (own, namespace, default, expected) in [
            (
                vec![named("office")],
                vec![],
                None,
                r#"{"from":"schedule","schedules":{"office":{"hours":"Mon-Fri 09:00-19:00","timezone":"Asia/Tokyo"}}}"#,
            ),
            (
                vec![named("office"), (Key::Timezone, "Europe/Berlin")],
                vec![named("night")],
                None,
                r#"{"from":"Namespace","schedule":"night","schedules":{"night":{"notice":"15m"},"office":{"hours":"Mon-Fri 09:00-19:00"}}}"#,
            ),
            (
                vec![HOURS],
                vec![named("night"), (Key::Jitter, "5m")],
                Some("office"),
                r#"{"from":"Namespace","jitter":"5m","scaler":{"schedule":"office"},"schedule":"night","schedules":{"night":{"notice":"15m"},"office":{"timezone":"Asia/Tokyo"}}}"#,
            ),
            (
                vec![],
                vec![],
                Some("steps"),
                r#"{"from":"scaler","schedule":"steps","schedules":{"steps":{"scale":"09:00 = 3; 19:00 = 0"}}}"#,
            ),
            (
                vec![named("office")],
                vec![named("office")],
                Some("office"),
                r#"{"from":"schedule","schedules":{"office":{"hours":"Mon-Fri 09:00-19:00","timezone":"Asia/Tokyo"}}}"#,
            ),
        ] {
            let default = default.map(|name: &str| (Key::NamedSchedule, name.to_owned()));
            let levels = Inheritance {
                default_schedule: DefaultSchedule::from_texts(default),
                schedules: schedules.clone(),
                ..Inheritance::default()
            };
            let own = Inputs::from_own(annotations(&own));
            let inputs = own
                .clone()
                .with_defaults(levels.in_force("dev", Some(&annotations(&namespace)), None))
                .with_schedules(&schedules);
            let text = text(&inputs, &Zone::UTC.into()).unwrap();
            assert_eq!(&*text, expected);
            let seen = Inherited::parse(&text).unwrap().given_to(own);
            for key in Key::ALL
                .into_iter()
                .filter(|key| *key != Key::NamedSchedule)
            {
                assert_eq!(seen.text(key), inputs.text(key), "{key} in {text}");
                assert_eq!(seen.source(key), inputs.source(key), "{key} in {text}");
            }
            assert_eq!(seen.fingerprint("u1"), inputs.fingerprint("u1"), "{text}");
            assert_eq!(seen.schedule_name(), inputs.schedule_name(), "{text}");
        }
    }

    #[test]
    fn contains_durations_of_the_controller_unless_an_annotation_sets_them() {
        let flags = ParseContext {
            notice: Some(TimeDelta::minutes(15)),
            ready_within: Some(TimeDelta::seconds(150)),
            ..ParseContext::default()
        };
        let notice = (Key::Notice, "0");
        let within = (Key::ReadyWithin, "1h");
        for (own, namespace, expected) in [
            (
                &[HOURS][..],
                &[][..],
                Some(r#"{"from":"scaler","notice":"15m","ready-within":"150s"}"#),
            ),
            (
                &[HOURS, notice],
                &[within],
                Some(r#"{"from":"Namespace","ready-within":"1h"}"#),
            ),
            (
                &[HOURS, within],
                &[ZONE],
                Some(r#"{"from":"Namespace","scaler":{"notice":"15m"},"timezone":"Asia/Tokyo"}"#),
            ),
            (&[HOURS, within, notice], &[], None),
        ] {
            let given = inputs(own, namespace, None);
            let text = text(&given, &flags);
            assert_eq!(text.as_deref(), expected);
            // A reader without the flags gets the same from the annotation.
            let seen = inputs(own, &[], None);
            let seen = match text {
                Some(text) => Inherited::parse(&text).unwrap().given_to(seen),
                None => seen,
            };
            let [by_flags, by_text] = [read(&given, &flags), read(&seen, &ParseContext::default())];
            let lengths = |parsed: &ParsedInputs| (parsed.notice(), parsed.ready_within());
            assert_eq!(lengths(&by_text), lengths(&by_flags));
        }
    }

    #[test]
    fn the_parsed_annotation_has_the_values_in_force() {
        let inherited = inputs(&[], &[ZONE], Some("20:00-22:00"));
        let read = Inherited::parse(&text(&inherited, &ParseContext::default()).unwrap());
        let read = read.unwrap().given_to(Inputs::default());
        for key in Key::ALL {
            assert_eq!(read.text(key), inherited.text(key), "{key}");
            assert_eq!(read.origin(key), inherited.origin(key), "{key}");
        }
    }

    #[test]
    fn the_inherited_annotation_is_not_too_long() {
        let long = "2026-12-24;".repeat(370);
        let quoted = "\"".repeat(3000);
        for texts in [
            &[HOURS, ZONE, (Key::Except, &*long), (Key::Enforce, &*quoted)][..],
            &[(Key::Except, &*long), (Key::TreatAs, &*long), HOURS],
            &[(Key::Hours, &*quoted)],
        ] {
            let text = Inherited::from_annotations(&inputs(&[], texts, None)).text();
            let text = text.unwrap();
            assert!(!is_too_long(&text), "{}", text.len());
            let left_out = Inherited::parse(&text).unwrap().left_out;
            assert!(!left_out.is_empty(), "{text}");
        }
    }

    /// A reader without the ConfigMap gets the same values from the same places.
    #[test]
    fn the_inherited_annotation_contains_the_values_of_the_team() {
        let hours = |text: &str| (Key::Hours, text.to_owned());
        let levels = Inheritance {
            from_teams: true,
            default_schedule: DefaultSchedule::from_texts([hours("20:00-22:00")]),
            schedules: NamedSchedules::from_file([NamedSchedule::new(
                "office",
                [hours("09:00-19:00"), (Key::Timezone, "UTC".to_owned())],
            )]),
            ..Inheritance::default()
        };
        let office = (Key::NamedSchedule, "office");
        let wake = (Key::WakeUntil, "2026-11-20 12:00");
        for (own, team, namespace, expected) in [
            (
                vec![],
                vec![HOURS],
                vec![],
                r#"{"from":"team","hours":"Mon-Fri 09:00-19:00"}"#,
            ),
            (
                vec![],
                vec![HOURS],
                vec![ZONE, (Key::Hours, "01:00-02:00")],
                r#"{"from":"Namespace","team":{"hours":"Mon-Fri 09:00-19:00"},"timezone":"Asia/Tokyo"}"#,
            ),
            (
                vec![],
                vec![ZONE],
                vec![],
                r#"{"from":"team","scaler":{"hours":"20:00-22:00"},"timezone":"Asia/Tokyo"}"#,
            ),
            (
                vec![],
                vec![office],
                vec![ZONE],
                r#"{"from":"team","schedule":"office","schedules":{"office":{"hours":"09:00-19:00","timezone":"UTC"}}}"#,
            ),
            // An override might end before one of a later level.
            (
                vec![HOURS, wake],
                vec![(Key::WakeUntil, "2026-11-20 13:00")],
                vec![
                    (Key::WakeUntil, "2026-11-20 14:00"),
                    (Key::TeamDefaults, "true"),
                ],
                r#"{"from":"Namespace","team":{"wake-until":"2026-11-20 13:00"},"wake-until":"2026-11-20 14:00"}"#,
            ),
        ] {
            let own = Inputs::from_own(annotations(&own));
            let (team, namespace) = (annotations(&team), annotations(&namespace));
            let defaults = levels.in_force("dev", Some(&namespace), Some(&team));
            let inputs = own.clone().with_defaults(defaults);
            let text = text(&inputs, &Zone::UTC.into()).unwrap();
            assert_eq!(&*text, expected);
            let seen = Inherited::parse(&text).unwrap();
            assert_eq!(seen.clone().text().as_deref(), Some(expected), "read again");
            let given = seen.clone().given_to(own.clone());
            // The activator reads the Namespace itself.
            let recorded = seen.recorded().unwrap();
            let beside = recorded.given_to(own, "dev", Some(&namespace));
            let keys = Key::ALL.into_iter();
            for key in keys.filter(|key| !matches!(key, Key::NamedSchedule | Key::TeamDefaults)) {
                assert_eq!(given.text(key), inputs.text(key), "{key} in {text}");
                assert_eq!(given.source(key), inputs.source(key), "{key} in {text}");
                if inputs.origin(key) == Some(Origin::Team) {
                    assert_eq!(beside.source(key), inputs.source(key), "{key} in {text}");
                }
            }
            assert_eq!(given.fingerprint("u1"), inputs.fingerprint("u1"), "{text}");
        }
    }

    #[test]
    fn an_annotation_of_another_author_is_ignored() {
        for text in ["", "{}", "[]", "true", r#"{"from":"me"}"#, r#"{"from":1}"#] {
            assert_eq!(Inherited::parse(text), None, "{text}");
        }
    }
}
