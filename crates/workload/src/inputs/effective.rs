//! The annotations in force for one object: its own, and the defaults of its team, of its Namespace
//! and of the controller, each with the schedule that it names.

use std::{borrow::Cow, iter, sync::Arc};

use dayshift_schedule::is_too_long;

use crate::{
    inputs::{
        annotations::{
            Annotations, Excess, NamedSchedule, NamedSchedules, Origin, UnknownAnnotation,
        },
        overrides::Author,
    },
    keys::{Key, Prefix},
    kinds::CountKind,
    replicas::Replicas,
    state::Fingerprint,
};

/// The annotations in force for one object: its own, and for each missing key the default of its
/// team, of its Namespace or of the controller. If inputs are equal, their meaning is too, so the parsed result
/// can be shared.
///
/// A key is searched in these places, in this order: the object's annotations, the schedule that they
/// name, the team's defaults, the schedule that they name, the Namespace's annotations, the schedule
/// that they name, the controller's flags, the schedule that they name.
///
/// Each key falls back separately, with three exceptions. `start`, `stop`, `hours` and `scale` come
/// from the same place. If that place has a `scale`, the places after it give no `replicas`,
/// `stop-replicas`, `extra` and `stop-after`. And no object inherits a key that does not apply to its kind.
/// `allow-volume-deletion` and `stop-jobs` must be set on the object itself, because nothing can
/// restore lost data or progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    own: Arc<Annotations>,
    defaults: Option<Arc<Annotations>>,
    counts: CountKind,
    volumes: VolumeRetention,
}

/// A place in which values are written: the annotations of a level, or the schedule that they name.
#[derive(Clone, Copy)]
struct Place<'i> {
    origin: Origin,
    named: Option<&'i NamedSchedule>,
    texts: &'i Annotations,
}

/// Where a value in force is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'i> {
    /// The object, its team's ConfigMap, its Namespace, or the controller's flags.
    pub origin: Origin,
    /// The name of the schedule that contains the value; `None` if an annotation or a flag contains
    /// it directly.
    pub schedule: Option<&'i str>,
}

impl Source<'_> {
    /// A value on the object itself.
    pub const OWN: Self = Self {
        origin: Origin::Own,
        schedule: None,
    };

    /// A phrase for messages, for example "in the schedule `office`".
    pub(super) fn place(self) -> Cow<'static, str> {
        match self.schedule {
            Some(name) => format!("in the schedule `{name}`").into(),
            None => self.origin.place().into(),
        }
    }
}

impl<'i> Place<'i> {
    /// Whether it gives the schedule keys. On the object itself, a key that does not apply to its
    /// kind is an error; elsewhere it is for other objects.
    fn gives_schedule(&self, counts: CountKind) -> bool {
        let is_own = self.source() == Source::OWN;
        let mut keys = Key::SCHEDULE.into_iter();
        keys.any(|key| self.texts.has(key) && (is_own || counts.has(key)))
    }

    /// Whether it gives a key that is not a schedule key.
    fn gives(&self, key: Key) -> bool {
        // These are the only flags. If a user adds other keys to the annotation `inherited`, they
        // are ignored.
        let is_flag = || {
            let flags = [
                Key::NamedSchedule,
                Key::Timezone,
                Key::Notice,
                Key::ReadyWithin,
            ];
            flags.contains(&key)
        };
        let may_give = self.origin != Origin::Controller || self.named.is_some() || is_flag();
        self.texts.has(key) && may_give
    }

    fn source(&self) -> Source<'i> {
        Source {
            origin: self.origin,
            schedule: self.named.map(NamedSchedule::name),
        }
    }
}

/// The annotations that a fingerprint hashes, in this order. The name of a schedule follows.
const FINGERPRINTED: [Key; 10] = [
    Key::Start,
    Key::Stop,
    Key::Hours,
    Key::Scale,
    Key::Timezone,
    Key::Except,
    Key::TreatAs,
    Key::Jitter,
    Key::Extra,
    Key::StopAfter,
];

impl Inputs {
    /// Inputs with an object's own annotations, from full names and values.
    pub fn from_annotations<'a>(
        prefix: &Prefix,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self {
            own: Arc::new(Annotations::under(prefix, annotations)),
            ..Self::default()
        }
    }

    /// Inputs with an object's own annotations.
    pub fn from_own(own: Arc<Annotations>) -> Self {
        Self {
            own,
            ..Self::default()
        }
    }

    /// Sets the meaning of the object's count.
    #[must_use]
    pub fn with_counts(self, counts: CountKind) -> Self {
        Self { counts, ..self }
    }

    /// The meaning of the object's count.
    pub const fn counts(&self) -> CountKind {
        self.counts
    }

    /// Sets the retention policy of the object's volumes.
    #[must_use]
    pub fn with_volumes(self, volumes: VolumeRetention) -> Self {
        Self { volumes, ..self }
    }

    /// The retention policy of the object's volumes.
    pub const fn volumes(&self) -> VolumeRetention {
        self.volumes
    }

    /// Replaces the defaults with the annotations of a Namespace.
    #[must_use]
    pub fn with_defaults(self, defaults: Option<Arc<Annotations>>) -> Self {
        let defaults = defaults.filter(|annotations| !annotations.is_empty());
        Self { defaults, ..self }
    }

    /// The inputs of a Deployment without annotations in the same namespace.
    #[must_use]
    pub fn inherited(&self) -> Self {
        Self::default().with_defaults(self.defaults.clone())
    }

    /// Sets one of the object's own annotations.
    #[must_use]
    pub fn with(mut self, key: Key, text: &str) -> Self {
        Arc::make_mut(&mut self.own).set(key, Some(text));
        self
    }

    /// Removes some of the object's own annotations.
    #[must_use]
    pub fn without(mut self, keys: &[Key]) -> Self {
        let own = Arc::make_mut(&mut self.own);
        for key in keys {
            own.set(*key, None);
        }
        self
    }

    /// If there is no schedule, adds one that is always on, so that the other values can be
    /// checked. A Namespace without a schedule can have defaults for objects with one.
    #[must_use]
    pub fn or_always_on(self) -> Self {
        if self.has_schedule() {
            self
        } else {
            self.with(Key::Hours, "00:00-24:00")
        }
    }

    /// Drops all values of the object's own annotations, because they are too long: they have at
    /// least `bytes` bytes. See [`Excess::Object`].
    #[must_use]
    pub fn too_long(mut self, bytes: usize) -> Self {
        Arc::make_mut(&mut self.own).drop_texts(Excess::Object(bytes));
        self
    }

    /// Drops all values of the object's own annotations, because the namespace has too many: see
    /// [`Excess::Namespace`].
    pub(crate) fn drop_texts(&mut self, limit: usize) {
        let bytes = self.own.counted_bytes();
        let excess = Excess::Namespace { bytes, limit };
        Arc::make_mut(&mut self.own).drop_texts(excess);
    }

    /// The object's own annotations. A patch can test and remove only these.
    pub fn own(&self) -> &Annotations {
        &self.own
    }

    /// The annotations of its Namespace, if it has any.
    pub fn defaults(&self) -> Option<&Annotations> {
        self.defaults.as_deref()
    }

    /// The bytes of all levels that count toward a limit of memory.
    pub fn counted_bytes(&self) -> usize {
        self.levels().map(|(_, texts)| texts.counted_bytes()).sum()
    }

    /// The value in force for a key, as written; `None` if it has none, or if it was dropped.
    pub fn text(&self, key: Key) -> Option<&str> {
        self.find(key)?.texts.text(key)
    }

    /// The level at which the value of a key is written; `None` if it has no value.
    pub fn origin(&self, key: Key) -> Option<Origin> {
        self.find(key).map(|place| place.origin)
    }

    /// Where the value of a key is written; `None` if it has no value.
    pub fn source(&self, key: Key) -> Option<Source<'_>> {
        self.find(key).map(|place| place.source())
    }

    /// Whether the value in force is on the object itself.
    pub fn is_own(&self, key: Key) -> bool {
        self.own.has(key)
    }

    /// The annotations in which the value of a key is written, and where they are.
    pub(super) fn written(&self, key: Key) -> Option<(Source<'_>, &Annotations)> {
        let place = self.find(key)?;
        Some((place.source(), place.texts))
    }

    /// The places in which keys are searched, in this order.
    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.levels().flat_map(|(origin, texts)| {
            let direct = Place {
                origin,
                named: None,
                texts,
            };
            let named = texts.named().map(|named| Place {
                origin,
                named: Some(named),
                texts: named.texts(),
            });
            iter::once(direct).chain(named)
        })
    }

    /// The annotations of each level, in the order in which keys fall back.
    pub(super) fn levels(&self) -> impl Iterator<Item = (Origin, &Annotations)> {
        let defaults = self.defaults();
        let levels = [
            (Origin::Own, Some(self.own())),
            (Origin::Team, defaults.and_then(Annotations::team)),
            (Origin::Namespace, defaults),
            (
                Origin::Controller,
                defaults.and_then(Annotations::default_schedule),
            ),
        ];
        let known = |(origin, texts): (_, Option<_>)| Some((origin, texts?));
        levels.into_iter().filter_map(known)
    }

    fn find(&self, key: Key) -> Option<Place<'_>> {
        if self.own.has(key) {
            return Some(Place {
                origin: Origin::Own,
                named: None,
                texts: &self.own,
            });
        }
        if !self.counts.has(key) || matches!(key, Key::AllowVolumeDeletion | Key::StopJobs) {
            return None;
        }
        let counts = self.counts;
        if Key::SCHEDULE.contains(&key) {
            let place = self.places().find(|place| place.gives_schedule(counts));
            return place.filter(|place| place.texts.has(key));
        }
        if !matches!(
            key,
            Key::Replicas | Key::StopReplicas | Key::Extra | Key::StopAfter
        ) {
            return self.places().find(|place| place.gives(key));
        }
        let mut has_schedule = false;
        for place in self.places() {
            if place.gives(key) {
                return Some(place);
            }
            if !has_schedule && place.gives_schedule(counts) {
                has_schedule = true;
                if place.texts.has(Key::Scale) {
                    return None;
                }
            }
        }
        None
    }

    /// The schedules that are named, with the level that names each: known or not.
    pub(super) fn references(
        &self,
    ) -> impl Iterator<Item = (Origin, &str, Option<&NamedSchedule>)> {
        self.levels().filter_map(|(origin, texts)| {
            let name = texts.text(Key::NamedSchedule)?;
            Some((origin, name, texts.named()))
        })
    }

    /// The known schedules that are named, by the object, its team, its Namespace and the flags.
    pub fn schedules(&self) -> impl Iterator<Item = &NamedSchedule> {
        self.references().filter_map(|(_, _, named)| named)
    }

    /// Whether any schedule is named.
    pub fn refers_to_schedules(&self) -> bool {
        self.references().next().is_some()
    }

    /// Whether a schedule is named that is not known here, and the object is not excluded.
    pub fn names_unknown_schedule(&self) -> bool {
        let excluded = self.text(Key::Exclude).and_then(truth);
        excluded != Some(true) && self.references().any(|(_, _, named)| named.is_none())
    }

    /// Looks up the schedule that the object's own annotation names.
    /// [`Inheritance::in_force`](crate::Inheritance::in_force) looks up those that the defaults
    /// name.
    #[must_use]
    pub fn with_schedules(mut self, schedules: &NamedSchedules) -> Self {
        self.own = self.own.resolved(schedules);
        self
    }

    /// The name of the schedule that the object follows: the one that it names itself, or else the
    /// one that gives its times. Other levels can give further keys from other schedules.
    pub fn schedule_name(&self) -> Option<&str> {
        let own = self.own.text(Key::NamedSchedule);
        own.map(str::trim).or_else(|| {
            let mut keys = Key::SCHEDULE.into_iter().chain([Key::StopAfter]);
            keys.find_map(|key| self.source(key))?.schedule
        })
    }

    /// The fingerprint of this schedule on the object with this UID.
    pub fn fingerprint(&self, uid: &str) -> Fingerprint {
        let schedule = FINGERPRINTED.into_iter().filter_map(|key| {
            let place = self.find(key)?;
            // The controller's time zone is a flag. If it changes, that should not adopt every
            // workload.
            let is_flag = place.origin == Origin::Controller && place.named.is_none();
            let text = place.texts.text(key)?;
            (key != Key::Timezone || !is_flag).then_some((key.name(), text))
        });
        // With another name, the annotation `inherited` is written again.
        let name = self.schedule_name();
        let name = name.map(|name| (Key::NamedSchedule.name(), name));
        Fingerprint::new(uid, schedule.chain(name))
    }

    /// The author and the reason of the override at the level `origin`.
    pub fn author(&self, origin: Origin) -> Author {
        // The controller's flags have no author.
        let is_level = |level: &(Origin, _)| level.0 == origin && origin != Origin::Controller;
        let written = self.levels().find(is_level);
        let text = |key: Key| Some(written?.1.text(key)?.into());
        Author {
            by: text(Key::OverrideBy),
            reason: text(Key::Reason),
        }
    }

    /// The first annotations that are not keys: the object's own, then those of the defaults. An
    /// unknown name among the defaults might be a misspelled default, so it is reported if the object
    /// inherits anything.
    pub fn unknown(&self) -> impl Iterator<Item = (Origin, &UnknownAnnotation)> {
        let levels = self.levels_in_use();
        levels.flat_map(|(origin, texts)| texts.unknown().iter().map(move |name| (origin, name)))
    }

    /// The object's own annotations, and the defaults if the object inherits anything.
    fn levels_in_use(&self) -> impl Iterator<Item = (Origin, &Annotations)> {
        let inherits = self.inherits();
        let levels = self.levels();
        levels.filter(move |(origin, _)| inherits || *origin == Origin::Own)
    }

    /// Whether any value in force is inherited. Those of a schedule that the object names are not, nor
    /// is a setting of the Namespace itself.
    pub fn inherits(&self) -> bool {
        let is_inherited = |key: Key| self.origin(key).is_some_and(|origin| origin != Origin::Own);
        let mut keys = Key::ALL.into_iter();
        keys.any(|key| key != Key::TeamDefaults && is_inherited(key))
    }

    /// The number of further annotations that are not keys.
    pub fn unknown_more(&self) -> usize {
        let levels = self.levels_in_use();
        levels.map(|(_, texts)| texts.unknown_more()).sum()
    }

    /// Where the schedule in force is written: its times, or else `stop-after`.
    pub fn schedule_origin(&self) -> Option<Origin> {
        let mut keys = Key::SCHEDULE.into_iter().chain([Key::StopAfter]);
        keys.find_map(|key| self.origin(key))
    }

    /// Whether a start keeps a count of 0 if nothing is saved. This is the case if the schedule is
    /// inherited and the object has no `replicas` of its own: then no user has asked for a workload
    /// with 0 replicas to run. A schedule that the object names is its own.
    pub fn keeps_zero(&self) -> bool {
        let is_inherited = self
            .schedule_origin()
            .is_some_and(|origin| origin != Origin::Own);
        is_inherited && self.origin(Key::Replicas) != Some(Origin::Own)
    }

    /// Whether a schedule is in force.
    pub fn has_schedule(&self) -> bool {
        self.schedule_origin().is_some()
    }

    /// Whether a schedule is in force and `exclude` is not set.
    pub fn is_scheduled(&self) -> bool {
        self.has_schedule() && !self.is_excluded()
    }

    /// Whether both schedules are written on their objects and are equal, as after an operator has
    /// copied the annotations of its resource to a workload.
    pub fn copies_schedule_of(&self, owner: &Self) -> bool {
        let is_own = |inputs: &Self| inputs.schedule_origin() == Some(Origin::Own);
        is_own(self) && is_own(owner) && self.fingerprint("") == owner.fingerprint("")
    }

    /// Whether `exclude` is set.
    pub fn is_excluded(&self) -> bool {
        self.text(Key::Exclude).and_then(truth) == Some(true)
    }

    /// Whether the object has no annotations with our prefix and inherits no schedule.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && !self.has_schedule()
    }

    /// The count after a stop. An invalid value is treated as missing.
    pub fn stop_replicas(&self) -> Replicas {
        let text = self.text(Key::StopReplicas);
        let text = text.filter(|_| self.counts.has(Key::StopReplicas) && !self.counts.is_switch());
        let count = text.and_then(|text| Replicas::parse(text).ok());
        count.map_or(self.counts.stopped(), |count| {
            count.max(self.counts.least())
        })
    }
}

/// Parses `true` or `false`, in any case. `None` if the string is anything else, or is too long.
pub(crate) fn truth(text: &str) -> Option<bool> {
    let is = |word: &str| !is_too_long(text) && text.trim().eq_ignore_ascii_case(word);
    is("true")
        .then_some(true)
        .or_else(|| is("false").then_some(false))
}

/// What happens to the volumes of pods that a stop removes:
/// `spec.persistentVolumeClaimRetentionPolicy.whenScaled` of a StatefulSet. Other kinds with this
/// field give it the same meaning, for example OpenKruise's StatefulSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VolumeRetention {
    /// Not set, so they are kept. Since Kubernetes 1.27 the API server sets `Retain`.
    #[default]
    Unsaid,
    /// They are kept.
    Retain,
    /// They are deleted with their data.
    Delete,
}

impl VolumeRetention {
    /// The field, as the tokens of a JSON pointer.
    pub const PATH: [&str; 3] = ["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"];

    /// Parses the value of the field.
    pub fn from_text(text: Option<&str>) -> Self {
        match text {
            Some("Retain") => Self::Retain,
            Some("Delete") => Self::Delete,
            _ => Self::Unsaid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha256_prefix;

    fn namespace(texts: &[(Key, &str)]) -> Option<Arc<Annotations>> {
        let mut annotations = Annotations::default();
        for (key, text) in texts {
            annotations.set(*key, Some(text));
        }
        Some(Arc::new(annotations))
    }

    #[test]
    fn each_key_falls_back_separately() {
        let defaults = namespace(&[
            (Key::Hours, "09:00-19:00"),
            (Key::Timezone, "Asia/Tokyo"),
            (Key::Jitter, "5m"),
        ]);
        let inputs = Inputs::default()
            .with(Key::Timezone, "Europe/Berlin")
            .with_defaults(defaults);
        for (key, text, origin) in [
            (Key::Hours, Some("09:00-19:00"), Some(Origin::Namespace)),
            (Key::Timezone, Some("Europe/Berlin"), Some(Origin::Own)),
            (Key::Jitter, Some("5m"), Some(Origin::Namespace)),
            (Key::Except, None, None),
        ] {
            assert_eq!(
                (inputs.text(key), inputs.origin(key)),
                (text, origin),
                "{key}"
            );
        }
        assert!(inputs.has_schedule() && !inputs.own().has_schedule());
    }

    #[test]
    fn the_schedule_is_read_from_one_level() {
        for own in Key::SCHEDULE {
            let every = Key::SCHEDULE.map(|key| (key, "default"));
            let inputs = Inputs::default()
                .with(own, "own")
                .with_defaults(namespace(&every));
            for key in Key::SCHEDULE {
                let expected = (key == own).then_some("own");
                assert_eq!(inputs.text(key), expected, "{key} beside an own {own}");
            }
        }
    }

    #[test]
    fn an_own_scale_ignores_inherited_counts() {
        let counts = namespace(&[(Key::Replicas, "2"), (Key::StopReplicas, "1")]);
        let hours = Inputs::default().with(Key::Hours, "09:00-19:00");
        let hours = hours.with_defaults(counts.clone());
        assert_eq!(
            (hours.text(Key::Replicas), hours.stop_replicas()),
            (Some("2"), Replicas::ONE)
        );
        let steps = Inputs::default().with(Key::Scale, "09:00 = 3");
        let steps = steps.with_defaults(counts);
        assert_eq!(
            (steps.text(Key::Replicas), steps.stop_replicas()),
            (None, Replicas::ZERO)
        );
    }

    #[test]
    fn removing_an_own_value_uses_the_default_again() {
        let inputs = Inputs::default()
            .with(Key::Pause, "true")
            .with_defaults(namespace(&[(Key::Pause, "false")]));
        assert_eq!(inputs.text(Key::Pause), Some("true"));
        let without = inputs.without(&[Key::Pause]);
        assert_eq!(without.origin(Key::Pause), Some(Origin::Namespace));
    }

    /// You can calculate it with `printf uid-1 | sha256sum` and `printf '\nstart=13:Mon-Fri 09:00'
    /// | sha256sum`.
    #[test]
    fn the_fingerprint_is_the_documented_hash() {
        let inputs = Inputs::default().with(Key::Start, "Mon-Fri 09:00");
        assert_eq!(
            inputs.fingerprint("uid-1").to_string(),
            "v2-4a49acf8a6bd7277-cdb276bb89557700"
        );
    }

    #[test]
    fn the_fingerprint_distinguishes_object_and_schedule() {
        let inputs = Inputs::default().with(Key::Hours, "09:00-17:00");
        let edited = Inputs::default().with(Key::Hours, "09:00-18:00");
        let fingerprint = inputs.fingerprint("a");
        assert_ne!(fingerprint, inputs.fingerprint("b"));
        assert_ne!(fingerprint, edited.fingerprint("a"));
        assert!(fingerprint.belongs_to("a"));
        assert!(!fingerprint.belongs_to("b"));
    }

    #[test]
    fn only_schedule_keys_and_the_uid_change_the_fingerprint() {
        let base = Inputs::default().with(Key::Hours, "09:00-17:00");
        for key in Key::ALL {
            let counts = matches!(
                key,
                Key::Start
                    | Key::Stop
                    | Key::Hours
                    | Key::Scale
                    | Key::Timezone
                    | Key::Except
                    | Key::TreatAs
                    | Key::Jitter
                    | Key::Extra
                    | Key::StopAfter
                    | Key::NamedSchedule
            );
            assert_eq!(
                base.clone().with(key, "x").fingerprint("a") != base.fingerprint("a"),
                counts,
                "{key}"
            );
        }
        assert_ne!(base.fingerprint("a"), base.fingerprint("b"));
    }

    /// You can calculate it with `printf '\nhours=11:09:00-17:00\nschedule=6:office' | sha256sum`.
    #[test]
    fn the_name_of_a_schedule_follows_the_other_values_in_the_fingerprint() {
        let inputs = Inputs::default().with(Key::Hours, "09:00-17:00");
        let named = inputs.with(Key::NamedSchedule, " office ");
        let expected = sha256_prefix("\nhours=11:09:00-17:00\nschedule=6:office");
        let fingerprint = named.fingerprint("uid-1").to_string();
        assert!(
            fingerprint.ends_with(&format!("-{expected:016x}")),
            "{fingerprint}"
        );
    }

    #[test]
    fn adjacent_values_cannot_have_the_same_fingerprint() {
        let one = Inputs::default().with(Key::Start, "a\nstop=1:b");
        let two = Inputs::default().with(Key::Start, "a").with(Key::Stop, "b");
        assert_ne!(one.fingerprint("a"), two.fingerprint("a"));
    }
}
