//! The CLI commands that change one workload: `wake`, `sleep`, `pause` and `resume` as annotations, `sync` and
//! `restore` as a change of the count. Nothing is sent here: the `cluster` crate writes the result.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use dayshift_schedule::{Action, Zone};

use crate::{
    decision::change::{Change, ChangeKind},
    inputs::{
        InvalidSchedule,
        annotations::Origin,
        effective::Inputs,
        overrides::{NO_REQUEST_WAKE, Override, Pause},
        parse::{ParseContext, ParsedInputs, read},
        spec::ScheduleSpec,
    },
    keys::{Key, Label},
    observed::Observed,
    replicas::Replicas,
    state::{LATER_VERSION, Phase, State},
};

/// An override that a user requests for one object. It is written as annotations, so `kubectl
/// annotate` can do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideCommand {
    /// Begin an override.
    Begin(Override),
    /// Begin a sleep that no request ends ([`RequestWakes::Ignored`](crate::RequestWakes)).
    BeginClosedSleep(DateTime<Utc>),
    /// End all overrides.
    Resume,
}

/// An annotation to write: its new value, or `None` to remove it.
pub type AnnotationChange = (Key, Option<String>);

/// Why the controller would not apply a command to this object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// The object has no schedule.
    #[error("it has no schedule, so there is nothing to override")]
    NoSchedule,
    /// The labels show that the object has a schedule, but it is not written on the object.
    #[error(
        "it has no schedule annotation, so its scheduled state is unknown; wake or sleep it instead"
    )]
    ScheduleNotSeen,
    /// The controller ignores objects that are being deleted.
    #[error("it is being deleted")]
    Deleting,
    /// The object's schedule is rejected.
    #[error("its schedule is rejected: {0}")]
    Rejected(InvalidSchedule),
    /// A pause has priority over all other overrides.
    #[error("it is paused, and a pause comes before everything else; run dayshift resume first")]
    Paused(Pause),
    /// An override on its Namespace is active.
    #[error(
        "an override of its Namespace is active: run dayshift resume ns/{0}, or wake or sleep \
            only this workload"
    )]
    HeldByNamespace(Arc<str>),
    /// An override of its team is active.
    #[error(
        "an override of its team is active: run dayshift resume --team -n {0}, or wake or sleep \
            only this workload"
    )]
    HeldByTeam(Arc<str>),
    /// The schedule has had no boundary yet, so it requires nothing now.
    #[error("its schedule specifies nothing yet: its first boundary is still to come")]
    BeforeFirstBoundary,
    /// A later version of dayshift wrote its labels, which may mean something else.
    #[error("{LATER_VERSION}")]
    LaterVersion,
}

impl OverrideError {
    /// An override that the object inherits from this level is active.
    pub fn held_by(origin: Origin, namespace: Arc<str>) -> Self {
        match origin {
            Origin::Team => Self::HeldByTeam(namespace),
            Origin::Own | Origin::Namespace | Origin::Controller => {
                Self::HeldByNamespace(namespace)
            }
        }
    }
}

impl OverrideCommand {
    /// The override that the command begins.
    pub const fn begun(&self) -> Option<Override> {
        match self {
            Self::Begin(begun) => Some(*begun),
            Self::BeginClosedSleep(until) => Some(Override::Sleep(*until)),
            Self::Resume => None,
        }
    }

    /// The annotations to change on an object whose local times are in `zone`. A wake removes a
    /// sleep and the reverse; a pause keeps both.
    pub fn annotations(&self, inputs: &Inputs, zone: Zone) -> Vec<AnnotationChange> {
        let moment = |until: DateTime<Utc>| {
            until
                .with_timezone(&zone)
                .to_rfc3339_opts(SecondsFormat::Secs, true)
        };
        let wanted = match *self {
            Self::Begin(Override::Wake(until)) => {
                vec![
                    (Key::WakeUntil, Some(moment(until))),
                    (Key::SleepUntil, None),
                ]
            }
            Self::Begin(Override::Sleep(until)) => {
                vec![
                    (Key::WakeUntil, None),
                    (Key::SleepUntil, Some(moment(until))),
                ]
            }
            Self::BeginClosedSleep(until) => {
                let text = format!("{}; {NO_REQUEST_WAKE}", moment(until));
                vec![(Key::WakeUntil, None), (Key::SleepUntil, Some(text))]
            }
            Self::Begin(Override::Pause(pause)) => {
                let text = pause.until().map_or_else(|| "true".to_owned(), moment);
                vec![(Key::Pause, Some(text))]
            }
            Self::Resume => self.keys().iter().map(|key| (*key, None)).collect(),
        };
        let own = inputs.own();
        let changes = |(key, text): &AnnotationChange| {
            own.text(*key) != text.as_deref() || own.is_dropped(*key)
        };
        wanted.into_iter().filter(changes).collect()
    }

    /// [`Self::annotations`], with the new reason and without the old user: the API server writes the
    /// new one.
    pub fn signed(
        &self,
        inputs: &Inputs,
        zone: Zone,
        reason: Option<&str>,
    ) -> Vec<AnnotationChange> {
        let mut annotations = self.annotations(inputs, zone);
        let own = |key| inputs.own().text(key);
        if own(Key::Reason) != reason || inputs.own().is_dropped(Key::Reason) {
            annotations.push((Key::Reason, reason.map(str::to_owned)));
        }
        if !annotations.is_empty() && inputs.own().has(Key::OverrideBy) {
            annotations.push((Key::OverrideBy, None));
        }
        annotations
    }

    /// The annotations that the command writes or removes.
    const fn keys(&self) -> &'static [Key] {
        match self {
            Self::Begin(Override::Wake(_) | Override::Sleep(_)) | Self::BeginClosedSleep(_) => {
                &[Key::WakeUntil, Key::SleepUntil]
            }
            Self::Begin(Override::Pause(_)) => &[Key::Pause],
            Self::Resume => &[Key::Pause, Key::WakeUntil, Key::SleepUntil],
        }
    }

    /// The zone of the object's local times, for the time in the annotation.
    ///
    /// # Errors
    /// If the object has no schedule, its schedule is rejected, or a pause has priority over the
    /// command.
    pub fn zone(
        &self,
        inputs: &Inputs,
        context: &ParseContext,
        now: DateTime<Utc>,
    ) -> Result<Zone, OverrideError> {
        if *self == Self::Resume {
            return Ok(context.default_zone);
        }
        let replaced = self.keys();
        // An override that the command replaces can be invalid.
        match read(&inputs.clone().without(replaced), context) {
            ParsedInputs::Unscheduled => Err(OverrideError::NoSchedule),
            ParsedInputs::Invalid(refusal) => Err(OverrideError::Rejected(refusal)),
            ParsedInputs::Scheduled(spec) => self.zone_of(&spec, now),
        }
    }

    /// [`Self::zone`] for a command that begins an override of an object with this schedule.
    ///
    /// # Errors
    /// If a pause has priority over the command.
    pub fn zone_of(&self, spec: &ScheduleSpec, now: DateTime<Utc>) -> Result<Zone, OverrideError> {
        match (self.begun(), spec.overrides.own.at(now)) {
            (Some(Override::Wake(_) | Override::Sleep(_)), Some(Override::Pause(pause))) => {
                Err(OverrideError::Paused(pause))
            }
            _ => Ok(spec.schedule.zone()),
        }
    }

    /// Whether the state labels show that the controller has applied the command. While an override
    /// is active, the label `next` is its end.
    pub fn is_applied(&self, state: &State) -> bool {
        match self.begun() {
            Some(begun) => begun.holds(state),
            None => !state.phase.is_some_and(Phase::is_override),
        }
    }
}

/// How long the override of a `sync` lasts if there is no next boundary.
const WITHOUT_BOUNDARY: TimeDelta = TimeDelta::hours(1);

/// The action that makes an object match its schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncAction {
    /// An override, which the controller applies.
    Command(OverrideCommand),
    /// A count that no override can set. Like a manual change, it stays until the next boundary.
    Count {
        /// The change to write.
        change: Box<Change>,
        /// The next boundary, if any.
        until: Option<DateTime<Utc>>,
    },
}

impl SyncAction {
    /// The action that makes the object match its schedule at `now`: an override until the next
    /// boundary, the end of the active override, or a count. `None` if the object matches already.
    ///
    /// # Errors
    /// If the object is paused, its Namespace has an active override, its schedule requires nothing
    /// yet, or a count is needed and a later version wrote the labels.
    pub fn plan(
        spec: &ScheduleSpec,
        observed: &Observed,
        now: DateTime<Utc>,
    ) -> Result<Option<Self>, OverrideError> {
        let state = observed.state();
        let overrides = observed.overrides(spec, &state, now);
        match overrides.with_origin_at(now) {
            Some((origin @ (Origin::Team | Origin::Namespace | Origin::Controller), _)) => {
                let namespace = observed.object.namespace.clone();
                return Err(OverrideError::held_by(origin, namespace));
            }
            Some((Origin::Own, Override::Pause(pause))) => {
                return Err(OverrideError::Paused(pause));
            }
            Some((Origin::Own, _)) => return Ok(Some(Self::Command(OverrideCommand::Resume))),
            None => {}
        }
        let required = spec
            .required_action(&observed.object, observed.started(spec), now)
            .ok_or(OverrideError::BeforeFirstBoundary)?;
        let seen = observed.replicas;
        let is_so = match required {
            Action::Stop => seen <= spec.stop_replicas,
            Action::Start => spec.count_after_start(seen, state.remembered()) == seen,
            Action::Scale(count) => seen == spec.counts.least().max(Replicas::new(count)),
        };
        if is_so {
            return Ok(None);
        }
        let next = spec.next_after(&observed.object, observed.started(spec), now);
        let next = next.map(|next| next.at);
        // Without a next boundary the schedule requires the same when the override ends.
        let until = next.unwrap_or(now + WITHOUT_BOUNDARY);
        let over = match required {
            Action::Start => Override::Wake(until),
            Action::Stop | Action::Scale(0) => Override::Sleep(until),
            // A wake sets the largest count of the schedule, but never lowers the observed one.
            Action::Scale(count)
                if spec.largest_count() == Some(Replicas::new(count).max(seen)) =>
            {
                Override::Wake(until)
            }
            Action::Scale(_) if observed.labels.are_from_later_version() => {
                return Err(OverrideError::LaterVersion);
            }
            Action::Scale(count) => {
                let count = spec.counts.least().max(Replicas::new(count));
                return Ok(Some(Self::Count {
                    change: Box::new(Change::requested(
                        ChangeKind::Sync,
                        observed,
                        count,
                        state,
                        now,
                    )),
                    until: next,
                }));
            }
        };
        Ok(Some(Self::Command(OverrideCommand::Begin(over))))
    }
}

/// Why an object that might be stopped is not restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRestored {
    /// The object is being deleted.
    #[error("it is being deleted")]
    Deleting,
    /// A later version of dayshift wrote its labels, which may mean something else.
    #[error("{LATER_VERSION}")]
    LaterVersion,
    /// The label of the saved count is invalid.
    #[error(
        "its saved count `{quoted}` is not a number: set {field} yourself",
        quoted = dayshift_text::quote(.text)
    )]
    Unreadable {
        /// The value of the label.
        text: String,
        /// The field of the count.
        field: String,
    },
}

/// The change that raises the object to its saved count, with or without a schedule. `None` if
/// nothing is saved, or if the count is already as high.
///
/// Like a start, it never lowers the count, and it removes the saved count. The phase `stopped`
/// becomes `running`, so that `enforce` does not treat the raised count as a manual change.
///
/// # Errors
/// If the object is being deleted, a later version wrote its labels, or its saved count is invalid.
pub fn plan_restore(
    observed: &Observed,
    now: DateTime<Utc>,
) -> Result<Option<Change>, NotRestored> {
    let Some(text) = observed.labels.text(Label::SavedReplicas) else {
        return Ok(None);
    };
    let state = observed.state();
    let change = match state.saved {
        _ if observed.deleting => return Err(NotRestored::Deleting),
        _ if observed.labels.are_from_later_version() => return Err(NotRestored::LaterVersion),
        None => {
            return Err(NotRestored::Unreadable {
                text: text.to_owned(),
                field: observed.object.kind.path().join("."),
            });
        }
        Some(saved) if saved <= observed.replicas => return Ok(None),
        Some(saved) => {
            let state = State {
                phase: state.phase.map(|phase| match phase {
                    Phase::Stopped | Phase::Adopted => Phase::Running,
                    other => other,
                }),
                saved: None,
                ..state
            };
            Change::requested(ChangeKind::Restore, observed, saved, state, now).with_value(observed)
        }
    };
    Ok(Some(change))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn scheduled() -> Inputs {
        Inputs::default()
            .with(Key::Hours, "09:00-19:00")
            .with(Key::Timezone, "Asia/Tokyo")
    }

    fn written(instruction: OverrideCommand, inputs: &Inputs) -> String {
        let now = at("2026-11-20T10:00:00Z");
        let zone = instruction.zone(inputs, &Zone::UTC.into(), now).unwrap();
        let annotations = instruction.annotations(inputs, zone);
        let shown = annotations.iter().map(|(key, text)| match text {
            Some(text) => format!("{key}={text}"),
            None => format!("{key}-"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn times_are_written_with_the_offset_of_the_object() {
        let until = at("2026-11-20T13:00:00Z");
        let (wake, sleep) = (Override::Wake(until), Override::Sleep(until));
        let woken = scheduled().with(Key::WakeUntil, "2026-11-21T00:00:00Z");
        let (pause_without_end, until) = (
            Override::Pause(Pause::Forever),
            Override::Pause(Pause::Until(until)),
        );
        for (begun, inputs, expected) in [
            (wake, scheduled(), "wake-until=2026-11-20T22:00:00+09:00"),
            (
                sleep,
                woken.clone(),
                "wake-until- sleep-until=2026-11-20T22:00:00+09:00",
            ),
            (pause_without_end, woken.clone(), "pause=true"),
            (until, scheduled(), "pause=2026-11-20T22:00:00+09:00"),
        ] {
            assert_eq!(written(OverrideCommand::Begin(begun), &inputs), expected);
        }
        let end = at("2026-11-20T13:00:00Z");
        let asleep = "2026-11-20T22:00:00+09:00";
        let closed_text = format!("{asleep}; no-request-wake");
        let asleep = scheduled().with(Key::SleepUntil, asleep);
        let closed = scheduled().with(Key::SleepUntil, &closed_text);
        let (open_sleep, closed_sleep) = (
            OverrideCommand::Begin(sleep),
            OverrideCommand::BeginClosedSleep(end),
        );
        assert_eq!(
            written(closed_sleep, &asleep),
            format!("sleep-until={closed_text}")
        );
        assert_eq!(written(closed_sleep, &closed), "");
        assert_eq!(
            written(open_sleep, &closed),
            "sleep-until=2026-11-20T22:00:00+09:00"
        );
        assert_eq!(written(OverrideCommand::Resume, &closed), "sleep-until-");
        assert_eq!(written(OverrideCommand::Resume, &woken), "wake-until-");
        assert_eq!(written(OverrideCommand::Resume, &scheduled()), "");
    }

    #[test]
    fn reports_why_a_command_would_have_no_effect() {
        let now = at("2026-11-20T10:00:00Z");
        let wake = OverrideCommand::Begin(Override::Wake(at("2026-11-20T13:00:00Z")));
        let paused = scheduled().with(Key::Pause, "true");
        assert_eq!(
            wake.zone(&paused, &Zone::UTC.into(), now),
            Err(OverrideError::Paused(Pause::Forever))
        );
        let over = scheduled().with(Key::Pause, "2026-11-20T09:00:00Z");
        assert!(wake.zone(&over, &Zone::UTC.into(), now).is_ok());
        let longer = OverrideCommand::Begin(Override::Pause(Pause::Forever));
        assert!(longer.zone(&paused, &Zone::UTC.into(), now).is_ok());

        let none = Inputs::default();
        assert_eq!(
            wake.zone(&none, &Zone::UTC.into(), now),
            Err(OverrideError::NoSchedule)
        );
        let wrong = scheduled().with(Key::Hours, "9-5");
        let rejected = wake.zone(&wrong, &Zone::UTC.into(), now).unwrap_err();
        assert!(
            rejected.to_string().contains("dayshift/hours: `9`"),
            "{rejected}"
        );
        // The command replaces the invalid override.
        let replaced = scheduled().with(Key::WakeUntil, "tonight");
        assert!(wake.zone(&replaced, &Zone::UTC.into(), now).is_ok());
        assert!(longer.zone(&replaced, &Zone::UTC.into(), now).is_err());
        let replaced = scheduled().with(Key::Pause, "yes");
        assert!(longer.zone(&replaced, &Zone::UTC.into(), now).is_ok());
        assert!(wake.zone(&replaced, &Zone::UTC.into(), now).is_err());
        // `resume` can always remove an invalid override.
        assert!(
            OverrideCommand::Resume
                .zone(&wrong, &Zone::UTC.into(), now)
                .is_ok()
        );
    }
}
