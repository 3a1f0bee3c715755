//! The annotations in force for one object: its own, and the defaults of its Namespace and of the
//! controller.

use std::sync::Arc;

use dayshift_schedule::is_too_long;

use crate::{
    fingerprint::Fingerprint,
    inputs::{
        annotations::{Annotations, Excess, Origin, UnknownAnnotation},
        overrides::Author,
    },
    keys::{Key, Prefix},
    kinds::count::CountKind,
    replicas::Replicas,
};

/// The annotations in force for one object: its own, and for each missing key the default of its
/// Namespace or of the controller. If inputs are equal, their meaning is too, so the parsed result
/// can be shared.
///
/// Each key falls back separately, with three exceptions. `start`, `stop`, `hours` and `scale` come
/// from the same place. If an object has its own `scale`, it does not inherit `replicas`,
/// `stop-replicas` and `extra`. And no object inherits a key that does not apply to its kind.
/// `allow-volume-deletion` and `stop-jobs` must be set on the object itself, because nothing can
/// restore lost data or progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    own: Arc<Annotations>,
    defaults: Option<Arc<Annotations>>,
    counts: CountKind,
    volumes: VolumeRetention,
}

/// The annotations that a fingerprint hashes, in this order.
const FINGERPRINTED: [Key; 9] = [
    Key::Start,
    Key::Stop,
    Key::Hours,
    Key::Scale,
    Key::Timezone,
    Key::Except,
    Key::TreatAs,
    Key::Jitter,
    Key::Extra,
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

    /// Adds hours that are always on if there is no schedule. A Namespace without a schedule can
    /// still have defaults for objects that have one.
    #[must_use]
    pub fn or_always_on(self) -> Self {
        if self.has_schedule() {
            self
        } else {
            self.with(Key::Hours, "00:00-24:00")
        }
    }

    /// Drops all values of the object's own annotations, which had at least this many bytes: see
    /// [`Excess::Object`].
    #[must_use]
    pub fn too_long(mut self, bytes: usize) -> Self {
        Arc::make_mut(&mut self.own).drop_texts(Excess::Object(bytes));
        self
    }

    /// Drops all values of the object's own annotations, because the namespace has too many: see
    /// [`Excess::Namespace`].
    pub(crate) fn drop_texts(&mut self, limit: usize) {
        let bytes = self.own.kept_bytes();
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

    /// The value in force for a key, as written; `None` if it has none, or if it was dropped.
    pub fn text(&self, key: Key) -> Option<&str> {
        match self.origin(key)? {
            Origin::Own => self.own.text(key),
            Origin::Namespace => self.defaults()?.text(key),
            Origin::Controller => self.defaults()?.default_schedule()?.text(key),
        }
    }

    /// Where the value of a key is written; `None` if it has no value.
    pub fn origin(&self, key: Key) -> Option<Origin> {
        if self.own.has(key) {
            return Some(Origin::Own);
        }
        let defaults = self.defaults()?;
        let is_hidden = match key {
            _ if !self.counts.has(key) => true,
            Key::AllowVolumeDeletion | Key::StopJobs => true,
            Key::Replicas | Key::StopReplicas | Key::Extra => self.own.has(Key::Scale),
            _ => Key::SCHEDULE.contains(&key) && self.own.has_schedule(),
        };
        if is_hidden {
            return None;
        }
        // The schedule comes from one place: from the Namespace if any of its schedule keys applies
        // to the object.
        let is_of_use = |key: Key| defaults.has(key) && self.counts.has(key);
        if Key::SCHEDULE.contains(&key) && !Key::SCHEDULE.into_iter().any(is_of_use) {
            defaults.default_schedule()?.text(key)?;
            return Some(Origin::Controller);
        }
        if defaults.has(key) {
            return Some(Origin::Namespace);
        }
        let is_flag = matches!(key, Key::Timezone | Key::Notice | Key::ReadyWithin);
        let flags = defaults.default_schedule().filter(|_| is_flag)?;
        flags.text(key).map(|_| Origin::Controller)
    }

    /// The fingerprint of this schedule on the object with this UID.
    pub fn fingerprint(&self, uid: &str) -> Fingerprint {
        let schedule = FINGERPRINTED.into_iter().filter_map(|key| {
            // The controller's time zone is a flag. If it changes, that should not adopt every
            // workload.
            let is_flag = key == Key::Timezone && self.origin(key) == Some(Origin::Controller);
            let text = self.text(key).filter(|_| !is_flag)?;
            Some((key.name(), text))
        });
        Fingerprint::new(uid, schedule)
    }

    /// The author of the override that is written there, and the reason.
    pub fn author(&self, origin: Origin) -> Author {
        let written = match origin {
            Origin::Own => Some(self.own()),
            Origin::Namespace => self.defaults(),
            Origin::Controller => None,
        };
        let text = |key: Key| {
            written
                .and_then(|annotations| annotations.text(key))
                .map(Into::into)
        };
        Author {
            by: text(Key::OverrideBy),
            reason: text(Key::Reason),
        }
    }

    /// The first annotations that are not keys: the object's own, then those of its Namespace. An
    /// unknown name on the Namespace might be a misspelled default, so it is reported if the object
    /// inherits anything.
    pub fn unknown(&self) -> impl Iterator<Item = (Origin, &UnknownAnnotation)> {
        let own = self
            .own
            .unknown()
            .iter()
            .map(|annotation| (Origin::Own, annotation));
        let inherited = self.defaults().filter(|_| self.inherits());
        let inherited = inherited.map_or(&[][..], Annotations::unknown);
        own.chain(
            inherited
                .iter()
                .map(|annotation| (Origin::Namespace, annotation)),
        )
    }

    /// Whether any value in force is inherited.
    pub fn inherits(&self) -> bool {
        let is_inherited = |key: Key| self.origin(key).is_some_and(|origin| origin != Origin::Own);
        Key::ALL.into_iter().any(is_inherited)
    }

    /// The number of further annotations that are not keys.
    pub fn unknown_more(&self) -> usize {
        let inherited = self.defaults().filter(|_| self.inherits());
        self.own.unknown_more() + inherited.map_or(0, Annotations::unknown_more)
    }

    /// Where the schedule in force is written.
    pub fn schedule_origin(&self) -> Option<Origin> {
        Key::SCHEDULE.into_iter().find_map(|key| self.origin(key))
    }

    /// Whether a start keeps a count of 0 if nothing is saved. This is the case if the schedule is
    /// inherited and the object has no `replicas` of its own: then no user has asked for a workload
    /// with 0 replicas to run.
    pub fn keeps_zero(&self) -> bool {
        let is_inherited = self
            .schedule_origin()
            .is_some_and(|origin| origin != Origin::Own);
        is_inherited && !self.own.has(Key::Replicas)
    }

    /// Whether a schedule is in force.
    pub fn has_schedule(&self) -> bool {
        self.schedule_origin().is_some()
    }

    /// Whether a schedule is in force and `exclude` is not set.
    pub fn is_scheduled(&self) -> bool {
        self.has_schedule() && !self.is_excluded()
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
    if is("true") {
        Some(true)
    } else {
        is("false").then_some(false)
    }
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
            );
            assert_eq!(
                base.clone().with(key, "x").fingerprint("a") != base.fingerprint("a"),
                counts,
                "{key}"
            );
        }
        assert_ne!(base.fingerprint("a"), base.fingerprint("b"));
    }

    #[test]
    fn adjacent_values_cannot_have_the_same_fingerprint() {
        let one = Inputs::default().with(Key::Start, "a\nstop=1:b");
        let two = Inputs::default().with(Key::Start, "a").with(Key::Stop, "b");
        assert_ne!(one.fingerprint("a"), two.fingerprint("a"));
    }
}
