//! The annotations in force for one object: its own, and the defaults of its Namespace and of the
//! controller.

use std::sync::Arc;

use dayshift_schedule::is_too_long;

use crate::{
    fingerprint::Fingerprint,
    inputs::{
        annotations::{Annotations, Origin, UnknownAnnotation},
        overrides::Author,
    },
    keys::{Key, Prefix},
    kinds::count::CountKind,
    replicas::Replicas,
};

/// What is in force for one object: its own annotations and, where it has none for a key, the
/// defaults of its Namespace, or the schedule of the scaler. Equal inputs ask for the same thing,
/// so what is read from them can be shared.
///
/// Each key falls back on its own, but for these: `start`, `stop`, `hours` and `scale` come
/// together from wherever any of them is, a Namespace's `replicas` and `stop-replicas` do not
/// lie beside an object's own `scale`, and what an object's kind has no use for it does not
/// inherit. `allow-volume-deletion` and `stop-jobs` count on the object alone: data or progress that
/// is gone cannot be brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    own: Arc<Annotations>,
    defaults: Option<Arc<Annotations>>,
    counts: CountKind,
    volumes: VolumeRetention,
}

/// The annotations that a fingerprint hashes, in this order.
const FINGERPRINTED: [Key; 8] = [
    Key::Start,
    Key::Stop,
    Key::Hours,
    Key::Scale,
    Key::Timezone,
    Key::Except,
    Key::TreatAs,
    Key::Jitter,
];

impl Inputs {
    /// Those among an object's own annotations, given as full names and texts.
    pub fn from_annotations<'a>(
        prefix: &Prefix,
        annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self {
            own: Arc::new(Annotations::under(prefix, annotations)),
            ..Self::default()
        }
    }

    /// Those that stand on an object itself.
    pub fn from_own(own: Arc<Annotations>) -> Self {
        Self {
            own,
            ..Self::default()
        }
    }

    /// These inputs on an object whose count means this.
    #[must_use]
    pub fn with_counts(self, counts: CountKind) -> Self {
        Self { counts, ..self }
    }

    /// What the count of the object means.
    pub const fn counts(&self) -> CountKind {
        self.counts
    }

    /// These inputs on an object that says this of its volumes.
    #[must_use]
    pub fn with_volumes(self, volumes: VolumeRetention) -> Self {
        Self { volumes, ..self }
    }

    /// What the object says of its volumes.
    pub const fn volumes(&self) -> VolumeRetention {
        self.volumes
    }

    /// These inputs with the annotations of a Namespace as defaults, in place of any other.
    #[must_use]
    pub fn with_defaults(self, defaults: Option<Arc<Annotations>>) -> Self {
        let defaults = defaults.filter(|annotations| !annotations.is_empty());
        Self { defaults, ..self }
    }

    /// What a Deployment without annotations of its own would inherit in the same place.
    #[must_use]
    pub fn inherited(&self) -> Self {
        Self::default().with_defaults(self.defaults.clone())
    }

    /// These inputs with one text of the object's own more, or another text for a key.
    #[must_use]
    pub fn with(mut self, key: Key, text: &str) -> Self {
        Arc::make_mut(&mut self.own).set(key, Some(text));
        self
    }

    /// These inputs without the object's own texts of some keys.
    #[must_use]
    pub fn without(mut self, keys: &[Key]) -> Self {
        let own = Arc::make_mut(&mut self.own);
        for key in keys {
            own.set(*key, None);
        }
        self
    }

    /// These inputs, with hours that are always on where there is no schedule: what a Namespace
    /// says without one, somebody may inherit who has one.
    #[must_use]
    pub fn or_always_on(self) -> Self {
        if self.has_schedule() {
            self
        } else {
            self.with(Key::Hours, "00:00-24:00")
        }
    }

    /// What stands on the object itself: all that a patch may test and remove.
    pub fn own(&self) -> &Annotations {
        &self.own
    }

    /// The annotations of its Namespace, if it has any.
    pub fn defaults(&self) -> Option<&Annotations> {
        self.defaults.as_deref()
    }

    /// The text that is in force for a key, as it was written.
    pub fn text(&self, key: Key) -> Option<&str> {
        match self.origin(key)? {
            Origin::Own => self.own.text(key),
            Origin::Namespace => self.defaults()?.text(key),
            Origin::Scaler => self.defaults()?.default_schedule()?.text(key),
        }
    }

    /// Where the text of a key is written; `None` where there is none.
    pub fn origin(&self, key: Key) -> Option<Origin> {
        if self.own.text(key).is_some() {
            return Some(Origin::Own);
        }
        let defaults = self.defaults()?;
        let is_hidden = match key {
            _ if !self.counts.has(key) => true,
            Key::AllowVolumeDeletion | Key::StopJobs => true,
            Key::Replicas | Key::StopReplicas => self.own.text(Key::Scale).is_some(),
            _ => Key::SCHEDULE.contains(&key) && self.own.has_schedule(),
        };
        if is_hidden {
            return None;
        }
        // The schedule comes from one place: the Namespace, if the object has a use for its own.
        let is_of_use = |key: Key| defaults.text(key).is_some() && self.counts.has(key);
        if Key::SCHEDULE.contains(&key) && !Key::SCHEDULE.into_iter().any(is_of_use) {
            defaults.default_schedule()?.text(key)?;
            return Some(Origin::Scaler);
        }
        if defaults.text(key).is_some() {
            return Some(Origin::Namespace);
        }
        let is_flag = matches!(key, Key::Timezone | Key::Notice | Key::ReadyWithin);
        let flags = defaults.default_schedule().filter(|_| is_flag)?;
        flags.text(key).map(|_| Origin::Scaler)
    }

    /// The fingerprint of this schedule on the object with this UID.
    pub fn fingerprint(&self, uid: &str) -> Fingerprint {
        let schedule = FINGERPRINTED.into_iter().filter_map(|key| {
            // The controller's zone is a flag: another one must not adopt every workload.
            let is_flag = key == Key::Timezone && self.origin(key) == Some(Origin::Scaler);
            let text = self.text(key).filter(|_| !is_flag)?;
            Some((key.name(), text))
        });
        Fingerprint::new(uid, schedule)
    }

    /// Whose the override is that is written there, and why.
    pub fn author(&self, origin: Origin) -> Author {
        let written = match origin {
            Origin::Own => Some(self.own()),
            Origin::Namespace => self.defaults(),
            Origin::Scaler => None,
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

    /// The first annotations that are not keys, the object's own before its Namespace's. What its
    /// Namespace has beside what it inherits may be a misspelt part of that; where it inherits
    /// nothing, it is no concern of the object.
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

    /// Whether anything that is in force is not written on the object itself.
    pub fn inherits(&self) -> bool {
        let is_inherited = |key: Key| self.origin(key).is_some_and(|origin| origin != Origin::Own);
        Key::ALL.into_iter().any(is_inherited)
    }

    /// How many annotations are not keys besides those.
    pub fn unknown_more(&self) -> usize {
        let inherited = self.defaults().filter(|_| self.inherits());
        self.own.unknown_more() + inherited.map_or(0, Annotations::unknown_more)
    }

    /// Where `start`, `stop`, `hours` or `scale` is written, of which any is in force.
    pub fn schedule_origin(&self) -> Option<Origin> {
        Key::SCHEDULE.into_iter().find_map(|key| self.origin(key))
    }

    /// Whether a start leaves a 0 for which nothing is saved: the schedule is inherited, and the
    /// object has no `replicas` of its own. Neither is a wish to run what somebody keeps at 0.
    pub fn keeps_zero(&self) -> bool {
        let is_inherited = self
            .schedule_origin()
            .is_some_and(|origin| origin != Origin::Own);
        is_inherited && self.own.text(Key::Replicas).is_none()
    }

    /// Whether any of `start`, `stop`, `hours` and `scale` is in force.
    pub fn has_schedule(&self) -> bool {
        self.schedule_origin().is_some()
    }

    /// Whether a schedule is in force, and `exclude` does not leave the object alone.
    pub fn is_scheduled(&self) -> bool {
        let excluded = self.text(Key::Exclude).and_then(truth);
        self.has_schedule() && excluded != Some(true)
    }

    /// Whether the object has nothing under the prefix, and no schedule of its Namespace either.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && !self.has_schedule()
    }

    /// The count after a stop; what cannot be read counts as the default.
    pub fn stop_replicas(&self) -> Replicas {
        let text = self.text(Key::StopReplicas);
        let text = text.filter(|_| self.counts.has(Key::StopReplicas) && !self.counts.is_switch());
        let count = text.and_then(|text| Replicas::parse(text).ok());
        count.map_or(self.counts.stopped(), |count| {
            count.max(self.counts.least())
        })
    }
}

/// Reads `true` or `false`; case does not matter. A text that is too long is neither.
pub(crate) fn truth(text: &str) -> Option<bool> {
    let is = |word: &str| !is_too_long(text) && text.trim().eq_ignore_ascii_case(word);
    if is("true") {
        Some(true)
    } else {
        is("false").then_some(false)
    }
}

/// What an object says of the volumes of pods that scaling down takes away: a StatefulSet, in
/// `spec.persistentVolumeClaimRetentionPolicy.whenScaled`. Other kinds that have the field, such
/// as OpenKruise's StatefulSet, mean the same by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VolumeRetention {
    /// Nothing, and so they stay. The API server itself fills in `Retain` since Kubernetes 1.27.
    #[default]
    Unsaid,
    /// They stay.
    Retain,
    /// They are deleted, and what is on them is lost.
    Delete,
}

impl VolumeRetention {
    /// Where an object says it, as the tokens of a JSON pointer.
    pub const PATH: [&str; 3] = ["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"];

    /// Reads the text of that field.
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
    fn each_key_falls_back_on_its_own() {
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
    fn the_schedule_comes_from_one_place() {
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
    fn an_own_scale_does_not_meet_the_counts_of_the_namespace() {
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
    fn what_is_taken_away_shows_the_default_again() {
        let inputs = Inputs::default()
            .with(Key::Pause, "true")
            .with_defaults(namespace(&[(Key::Pause, "false")]));
        assert_eq!(inputs.text(Key::Pause), Some("true"));
        let without = inputs.without(&[Key::Pause]);
        assert_eq!(without.origin(Key::Pause), Some(Origin::Namespace));
    }

    /// Anybody can compute it: `printf uid-1 | sha256sum` and
    /// `printf '\nstart=13:Mon-Fri 09:00' | sha256sum`.
    #[test]
    fn is_the_documented_hash_for_ever() {
        let inputs = Inputs::default().with(Key::Start, "Mon-Fri 09:00");
        assert_eq!(
            inputs.fingerprint("uid-1").to_string(),
            "v2-4a49acf8a6bd7277-cdb276bb89557700"
        );
    }

    #[test]
    fn tells_the_object_from_the_text() {
        let inputs = Inputs::default().with(Key::Hours, "09:00-17:00");
        let edited = Inputs::default().with(Key::Hours, "09:00-18:00");
        let fingerprint = inputs.fingerprint("a");
        assert_ne!(fingerprint, inputs.fingerprint("b"));
        assert_ne!(fingerprint, edited.fingerprint("a"));
        assert!(fingerprint.belongs_to("a"));
        assert!(!fingerprint.belongs_to("b"));
    }

    #[test]
    fn counts_the_schedule_and_the_uid_and_nothing_else() {
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
    fn texts_cannot_run_into_each_other() {
        let one = Inputs::default().with(Key::Start, "a\nstop=1:b");
        let two = Inputs::default().with(Key::Start, "a").with(Key::Stop, "b");
        assert_ne!(one.fingerprint("a"), two.fingerprint("a"));
    }
}
