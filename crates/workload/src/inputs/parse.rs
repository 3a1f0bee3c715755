//! Parses the own and inherited annotations of one object into a [`ScheduleSpec`], or collects everything that is
//! wrong with them.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{
    Calendars, Diagnostic, DiagnosticKind, ExcludedDates, ExtraWindows, Hours, Proposal, Schedule,
    ScheduleRule, StopAfter, Times, TreatedDates, Tzdata, Zone, parse_date_time, parse_grace,
    parse_jitter, parse_notice, parse_scale,
};

use crate::{
    inputs::{
        InvalidSchedule, Problem,
        after::After,
        annotations::{NamedSchedules, Origin},
        effective::{Inputs, Source, VolumeRetention, truth},
        overrides::{Enforce, OverrideSet, Overrides, Pause, SleepUntil},
        spec::ScheduleSpec,
    },
    keys::Key,
    kinds::{CountKind, table::KindTable},
    readiness::READY_WITHIN,
    replicas::Replicas,
};

/// Settings of the controller on which the meaning of annotations depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseContext {
    /// The time zone of objects without their own.
    pub default_zone: Zone,
    /// The database in which zones are looked up.
    pub tzdata: Tzdata,
    /// The calendars for `except` and `treat-as`.
    pub calendars: Calendars,
    /// How long before a stop a notice is sent if the object does not set it; `None` for no notice.
    pub notice: Option<TimeDelta>,
    /// How long a start can take if the object does not set it. The default is
    /// [`READY_WITHIN`](crate::READY_WITHIN).
    pub ready_within: Option<TimeDelta>,
    /// The kinds for `after`.
    pub kinds: Arc<KindTable>,
    /// The named schedules, for the error of a name that is unknown. The inputs hold the known ones.
    pub schedules: NamedSchedules,
}

impl Default for ParseContext {
    /// UTC, no calendars, and the default durations.
    fn default() -> Self {
        Zone::UTC.into()
    }
}

impl From<Zone> for ParseContext {
    /// This zone, and defaults for the rest.
    fn from(default_zone: Zone) -> Self {
        Self {
            default_zone,
            tzdata: Tzdata::default(),
            calendars: Calendars::default(),
            notice: None,
            ready_within: None,
            kinds: Arc::default(),
            schedules: NamedSchedules::default(),
        }
    }
}

/// The meaning of an object's annotations.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most values are `Scheduled`, and equal ones share one allocation"
)]
pub enum ParsedInputs {
    /// The object has no schedule.
    Unscheduled,
    /// The schedule is rejected, and the object is not changed.
    Invalid(InvalidSchedule),
    /// The schedule is valid.
    Scheduled(ScheduleSpec),
}

impl ParsedInputs {
    /// The schedule; `None` if there is none or it is rejected.
    pub const fn spec(&self) -> Option<&ScheduleSpec> {
        match self {
            Self::Scheduled(spec) => Some(spec),
            Self::Unscheduled | Self::Invalid(_) => None,
        }
    }

    /// As [`Self::spec`], by value.
    pub fn into_spec(self) -> Option<ScheduleSpec> {
        match self {
            Self::Scheduled(spec) => Some(spec),
            Self::Unscheduled | Self::Invalid(_) => None,
        }
    }

    /// The problems of a rejected schedule.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid(refusal) => refusal.problems(),
            Self::Unscheduled | Self::Scheduled(_) => &[],
        }
    }

    /// Whether the schedule uses calendars.
    pub fn names_calendars(&self) -> bool {
        self.spec().is_some_and(ScheduleSpec::names_calendars)
    }

    /// A digest of the calendar dates; 0 without calendars. It is only valid within one process.
    pub fn calendar_digest(&self) -> u64 {
        let Some(spec) = self.spec().filter(|spec| spec.names_calendars()) else {
            return 0;
        };
        let mut hasher = DefaultHasher::new();
        for named in spec.schedule.calendars() {
            named.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// How long before a stop a notice is sent; zero for no notice.
    pub fn notice(&self) -> TimeDelta {
        let notice = self.spec().and_then(|spec| spec.notice);
        notice.unwrap_or_default()
    }

    /// How long a start can take; zero for no warning.
    pub fn ready_within(&self) -> TimeDelta {
        let within = self.spec().and_then(|spec| spec.ready_within);
        within.unwrap_or(READY_WITHIN)
    }

    /// Whether the result depends on calendars: the annotations name one, even if it is unknown.
    pub fn depends_on_calendars(&self) -> bool {
        let mut problems = self.problems().iter();
        self.names_calendars()
            || problems.any(|problem| problem.diagnostic.kind() == DiagnosticKind::Calendar)
    }
}

/// Parses the inputs. Local times are in the object's `timezone`, or else in the default zone. All
/// problems are collected, not only the first one.
pub fn read(inputs: &Inputs, context: &ParseContext) -> ParsedInputs {
    if let Some(refusal) = InvalidSchedule::from_problems(dropped(inputs)) {
        return ParsedInputs::Invalid(refusal);
    }
    let mut problems = Problems::default();
    if problems.parse_bool(inputs, Key::Exclude) {
        return ParsedInputs::Unscheduled;
    }
    let mut unknown = inputs.unknown().peekable();
    while let Some((origin, annotation)) = unknown.next() {
        let more = unknown.peek().map_or(inputs.unknown_more(), |_| 0);
        let problem = Problem::unknown_annotation(&annotation.name, annotation.length, more);
        problems.0.push(problem.from(origin));
    }
    problems.named_schedules(inputs, context);
    problems.team_defaults(inputs);
    let may_delete = problems.parse_bool(inputs, Key::AllowVolumeDeletion);
    problems.stop_jobs(inputs);
    if !inputs.has_schedule() {
        problems.reject_override_without_schedule(inputs);
    } else if inputs.volumes() == VolumeRetention::Delete && !may_delete {
        problems.0.push(Problem::deletes_volumes(inputs));
    }
    let spec = inputs
        .has_schedule()
        .then(|| problems.spec(inputs, context));
    for problem in &mut problems.0 {
        // Several levels can have overrides and names of schedules, so their problems already have an
        // origin. So have mistakes in the form of a schedule.
        let has_origin = |key: &Key| Key::OVERRIDES.contains(key) || *key == Key::NamedSchedule;
        let key = Key::from_name(&problem.annotation).filter(|key| !has_origin(key));
        if let Some(source) = key.and_then(|key| inputs.source(key))
            && problem.schedule.is_none()
        {
            problem.origin = source.origin;
            problem.schedule = source.schedule.map(Into::into);
        }
    }
    match (InvalidSchedule::from_problems(problems.0), spec.flatten()) {
        (Some(refusal), _) => ParsedInputs::Invalid(refusal),
        (None, Some(spec)) => ParsedInputs::Scheduled(spec),
        (None, None) => ParsedInputs::Unscheduled,
    }
}

/// The problems with values that were dropped because they are too long, or too many.
fn dropped(inputs: &Inputs) -> Vec<Problem> {
    if !inputs.levels().any(|(_, texts)| texts.has_dropped()) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if let Some(excess) = inputs.own().excess() {
        let first = Key::ALL.into_iter().find(|key| inputs.own().has(*key));
        problems.push(Problem::excess(excess, first));
    }
    let mut reported = vec![Origin::Own];
    for key in Key::ALL {
        let Some((Source { origin, .. }, written)) = inputs.written(key) else {
            continue;
        };
        let Some(unread) = written.unread(key) else {
            continue;
        };
        match written.excess() {
            None => {
                let problem = Problem::new(key.name(), Diagnostic::too_long(unread));
                problems.push(problem.from(origin));
            }
            Some(excess) if !reported.contains(&origin) => {
                reported.push(origin);
                problems.push(Problem::excess(excess, Some(key)).from(origin));
            }
            Some(_) => {}
        }
    }
    problems
}

/// Collects problems, so that a user sees all of them at once.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    /// Rejects names of unknown schedules, and schedules with mistakes in their form.
    fn named_schedules(&mut self, inputs: &Inputs, context: &ParseContext) {
        for (origin, name, named) in inputs.references() {
            let Some(named) = named else {
                let rejection = context.schedules.rejection(name);
                let problem = |diagnostic| Problem::new(Key::NamedSchedule.name(), diagnostic);
                self.0
                    .extend(rejection.map(problem).map(|problem| problem.from(origin)));
                continue;
            };
            let problems = named.problems().map(|(key, diagnostic)| {
                let problem = Problem::new(key, diagnostic.clone()).from(origin);
                problem.in_schedule(named.name())
            });
            self.0.extend(problems);
        }
    }

    fn spec(&mut self, inputs: &Inputs, context: &ParseContext) -> Option<ScheduleSpec> {
        let default_zone = context.default_zone;
        let zone = self.parse(inputs, Key::Timezone, |text| {
            context.tzdata.parse_zone(text)
        });
        let start = self.parse(inputs, Key::Start, Times::parse);
        let stop = self.parse(inputs, Key::Stop, Times::parse);
        let hours = self.parse(inputs, Key::Hours, Hours::parse);
        let scale = self.parse(inputs, Key::Scale, parse_scale);
        let except = self.parse(inputs, Key::Except, |text| {
            ExcludedDates::parse_with(text, &context.calendars)
        });
        let treated = self.parse(inputs, Key::TreatAs, |text| {
            TreatedDates::parse_with(text, &context.calendars)
        });
        let extra = self.parse(inputs, Key::Extra, ExtraWindows::parse);
        let stop_after = self.parse(inputs, Key::StopAfter, StopAfter::parse);
        let jitter = self.parse(inputs, Key::Jitter, parse_jitter);
        let after = self.parse(inputs, Key::After, |text| {
            After::parse(text, &context.kinds).map(|after| after.written_in(inputs))
        });
        let replicas = self.parse(inputs, Key::Replicas, Replicas::parse);
        let stop_replicas = self.parse(inputs, Key::StopReplicas, Replicas::parse);
        let notice = self.parse(inputs, Key::Notice, parse_notice);
        let ready_within = self.parse(inputs, Key::ReadyWithin, parse_notice);
        let overrides = self.overrides(inputs, zone.unwrap_or(default_zone));
        self.0.extend(exclusive(inputs));
        self.reject_below_minimum(inputs, replicas, Key::Replicas);
        self.reject_below_minimum(inputs, stop_replicas, Key::StopReplicas);
        if let Some(entries) = &scale {
            let counts = entries.iter().filter_map(|entry| entry.action.count());
            self.reject_below_minimum(inputs, counts.min().map(Replicas::new), Key::Scale);
        }
        let scaled = scale
            .iter()
            .flatten()
            .map(|entry| (Key::Scale, &entry.times));
        let times = start.iter().map(|times| (Key::Start, times));
        let times = times.chain(stop.iter().map(|times| (Key::Stop, times)));
        let mut times = times.chain(scaled);
        if jitter.is_some_and(|jitter| !jitter.is_zero())
            && let Some((key, _)) = times.find(|(_, times)| times.has_several_per_minute())
        {
            self.reject_jitter(inputs, key);
        }
        if !self.0.is_empty() {
            return None;
        }
        let counts = inputs.counts();
        let rule = match hours {
            Some(hours) => ScheduleRule::Hours(hours),
            None => scale.map_or_else(
                || ScheduleRule::start_and_stop(start, stop),
                ScheduleRule::Times,
            ),
        };
        Some(ScheduleSpec {
            schedule: Schedule::new(
                rule,
                except.unwrap_or_default(),
                zone.unwrap_or(default_zone),
            )
            .with_treated_dates(treated.unwrap_or_default())
            .with_extra(extra.unwrap_or_default()),
            replicas: replicas.map(|count| count.max(counts.least())),
            stop_replicas: inputs.stop_replicas(),
            keeps_zero: inputs.keeps_zero(),
            counts,
            jitter: jitter.unwrap_or_default(),
            stop_after,
            after,
            notice: notice.or(context.notice),
            ready_within: ready_within.or(context.ready_within),
            overrides,
            planned_start: None,
        })
    }

    /// Rejects a jitter if a list of times has several within a minute. If the jitter is inherited, the problem
    /// is reported for the times.
    fn reject_jitter(&mut self, inputs: &Inputs, key: Key) {
        let (key, wrong, help) = if inputs.is_own(key) && !inputs.is_own(Key::Jitter) {
            let wrong = "occurs more than once a minute, which the inherited jitter cannot spread";
            let help = "write a cron with one second, such as 0 */5 * * * *, or add jitter: \"0s\"";
            (key, wrong, help)
        } else {
            let wrong = "cannot spread times that occur more than once a minute";
            let help =
                "write a cron with one second, such as 0 */5 * * * *, or remove this annotation";
            (Key::Jitter, wrong, help)
        };
        let text = inputs.text(key).unwrap_or_default();
        self.0.push(Problem::for_text(key, text, wrong, help));
    }

    fn overrides(&mut self, inputs: &Inputs, zone: Zone) -> Overrides {
        let mut overrides = Overrides::default();
        // `pause: "false"` on the object cancels a pause of its team or Namespace, and among the
        // team's defaults one of the Namespace. A pause that has ended does not.
        let mut is_pause_cancelled = false;
        for (origin, texts) in inputs.levels() {
            let set = match origin {
                Origin::Own => &mut overrides.own,
                Origin::Team => &mut overrides.team,
                Origin::Namespace => &mut overrides.inherited,
                Origin::Controller => continue,
            };
            let text = |key| {
                let text = texts.text(key);
                text.filter(|_| key != Key::Pause || !is_pause_cancelled)
            };
            *set = self.override_set(text, origin, zone);
            is_pause_cancelled |= set.pause.is_none() && texts.text(Key::Pause).is_some();
        }
        overrides.enforce = self.enforce(inputs);
        overrides
    }

    fn override_set<'i>(
        &mut self,
        text: impl Fn(Key) -> Option<&'i str>,
        origin: Origin,
        zone: Zone,
    ) -> OverrideSet {
        let before = self.0.len();
        let mut parsed = |key, parse: fn(&str, Zone) -> Result<DateTime<Utc>, Diagnostic>| {
            parse(text(key)?, zone)
                .map_err(|error| self.0.push(Problem::new(key.name(), error)))
                .ok()
        };
        let wake_until = parsed(Key::WakeUntil, parse_date_time);
        let sleep_until = parsed(Key::SleepUntil, |text, zone| {
            SleepUntil::parse(text, zone).map(|sleep| sleep.until)
        });
        let set = OverrideSet {
            pause: text(Key::Pause).and_then(|text| self.pause(text, zone)),
            wake_until,
            sleep_until,
        };
        for problem in self.0.iter_mut().skip(before) {
            problem.origin = origin;
        }
        set
    }

    fn pause(&mut self, text: &str, zone: Zone) -> Option<Pause> {
        if let Some(is_on) = truth(text) {
            return is_on.then_some(Pause::Forever);
        }
        match parse_date_time(text, zone) {
            Ok(until) => return Some(Pause::Until(until)),
            Err(error)
                if error.kind() == DiagnosticKind::NotADateTime && error.proposal().is_none() =>
            {
                let help = "write `true`, local time such as `2026-12-24 18:00`, or RFC 3339 such as `2026-12-24T18:00:00Z`";
                self.reject_boolean(Key::Pause, text, "is neither `true` nor a time", help);
            }
            Err(error) => self.0.push(Problem::new(Key::Pause.name(), error)),
        }
        None
    }

    fn enforce(&mut self, inputs: &Inputs) -> Enforce {
        let Some(text) = inputs.text(Key::Enforce) else {
            return Enforce::No;
        };
        match (truth(text), parse_grace(text)) {
            (Some(true), _) => Enforce::AtOnce,
            (Some(false), _) => Enforce::No,
            (None, Ok(grace)) => Enforce::After(grace),
            (None, Err(_)) => {
                let wrong = "is neither `true` nor a duration from 1s to 24h";
                let help = "write `true`, or a duration such as `30m`, or remove the annotation";
                self.reject_boolean(Key::Enforce, text, wrong, help);
                Enforce::No
            }
        }
    }

    /// Whether a key is `true`; false if it is missing.
    fn parse_bool(&mut self, inputs: &Inputs, key: Key) -> bool {
        let Some(text) = inputs.text(key) else {
            return false;
        };
        truth(text).unwrap_or_else(|| {
            let help = "write `true`, or remove the annotation";
            self.reject_boolean(key, text, "is neither `true` nor `false`", help);
            false
        })
    }

    /// Rejects `team-defaults` if it is not on the Namespace, or is neither `true` nor `false`.
    fn team_defaults(&mut self, inputs: &Inputs) {
        let key = Key::TeamDefaults;
        match inputs.origin(key) {
            None => {}
            Some(Origin::Team) if !inputs.inherits() => {}
            Some(Origin::Namespace) => {
                self.parse_bool(inputs, key);
            }
            Some(Origin::Own | Origin::Team | Origin::Controller) => {
                let text = inputs.text(key).unwrap_or_default();
                let wrong = "has no meaning here: only a Namespace allows or forbids the defaults of its team";
                let help = "write it on the Namespace, or remove it";
                self.0.push(Problem::for_text(key, text, wrong, help));
            }
        }
    }

    /// Rejects `stop-jobs` if it is neither `true` nor `false`, or if the kind has no Jobs.
    fn stop_jobs(&mut self, inputs: &Inputs) {
        if self.applicable_text(inputs, Key::StopJobs).is_some() {
            self.parse_bool(inputs, Key::StopJobs);
        }
    }

    /// Rejects a wake or sleep without a schedule, because no schedule would apply after its end. A pause without a schedule changes nothing and is accepted.
    fn reject_override_without_schedule(&mut self, inputs: &Inputs) {
        for key in [Key::WakeUntil, Key::SleepUntil] {
            if let Some(text) = inputs.own().text(key) {
                let wrong = "needs a schedule, but there is none";
                let help = "write hours, such as Mon-Fri 09:00-19:00, or start and stop, or remove the annotation";
                self.0.push(Problem::for_text(key, text, wrong, help));
            }
        }
    }

    /// Rejects the value of a key that can be `true`.
    fn reject_boolean(&mut self, key: Key, text: &str, wrong: &'static str, help: &'static str) {
        let meant = match &*text.trim().to_ascii_lowercase() {
            "yes" | "y" | "on" | "1" | "enabled" => Some("true"),
            "no" | "n" | "off" | "0" | "disabled" => Some("false"),
            _ => None,
        };
        let meant = meant.map(|meant| Proposal::replace_all(text, meant));
        let diagnostic = Diagnostic::new(0..text.len(), text, wrong, help).with_proposal(meant);
        self.0.push(Problem::new(key.name(), diagnostic));
    }

    /// Rejects a count on the object itself if it is below the minimum of its kind. A count on its
    /// Namespace is also for others, so it is raised instead.
    fn reject_below_minimum(&mut self, inputs: &Inputs, count: Option<Replicas>, key: Key) {
        let is_below = count.is_some_and(|count| count < inputs.counts().least());
        if let (true, Some(text)) = (is_below, inputs.own().text(key)) {
            let wrong = "is below 1, and an autoscaler keeps at least 1";
            let help = "write 1 or more; 0 requires a metric of type Object or External";
            self.0.push(Problem::for_text(key, text, wrong, help));
        }
    }

    /// The value of a key if it applies to the kind of the object. Otherwise, adds a problem.
    fn applicable_text<'i>(&mut self, inputs: &'i Inputs, key: Key) -> Option<&'i str> {
        let text = inputs.text(key)?;
        let wrong = match inputs.counts() {
            counts if counts.has(key) => return Some(text),
            _ if key == Key::StopJobs => "has no meaning here: only a CronJob has Jobs of its own",
            CountKind::Suspend { .. } if key == Key::StopAfter => {
                "has no meaning on a CronJob, nor on any other kind that is only suspended and \
                    resumed: only its schedule starts it"
            }
            CountKind::Suspend { .. } => {
                "has no meaning on a CronJob, nor on any other kind that is only suspended and \
                    resumed"
            }
            CountKind::Switch => "has no meaning on a kind that is only stopped and started",
            CountKind::Exact => {
                "has no meaning on a kind that runs with its own count or not at \
                all"
            }
            _ => "has no meaning on a ScaledObject: KEDA sets its counts",
        };
        let problem = Problem::for_text(key, text, wrong, "remove the annotation");
        self.0.push(problem);
        None
    }

    fn parse<T>(
        &mut self,
        inputs: &Inputs,
        key: Key,
        parse: impl FnOnce(&str) -> Result<T, Diagnostic>,
    ) -> Option<T> {
        parse(self.applicable_text(inputs, key)?)
            .map_err(|error| self.0.push(Problem::new(key.name(), error)))
            .ok()
    }
}

/// Each key, the keys that it excludes, and the fix.
const EXCLUSIVE: [(Key, &[Key], &str); 5] = [
    (
        Key::Hours,
        &[Key::Start, Key::Stop],
        "hours, such as Mon-Fri 09:00-19:00, already have the starts and stops",
    ),
    (
        Key::Scale,
        &[Key::Start, Key::Stop, Key::Hours],
        "exact counts, such as Mon-Fri 08:00 = 5; 19:00 = 0, already have the starts and stops",
    ),
    (
        Key::Scale,
        &[Key::Replicas, Key::StopReplicas],
        "each time of scale has its own count, such as Mon-Fri 08:00 = 5; 19:00 = 0",
    ),
    (
        Key::Scale,
        &[Key::Extra],
        "a date in scale needs a count too, such as 2026-12-05 09:00 = 5; 2026-12-05 18:00 = 0",
    ),
    (
        Key::Scale,
        &[Key::StopAfter],
        "write the stop as a time with a count, such as 19:00 = 0",
    ),
];

/// Finds annotations in force that exclude each other.
///
/// If both are written in the same place, the problem is reported there. Otherwise it is reported for
/// the place that comes first, because the other might be right for all other objects that use it.
pub(super) fn exclusive(inputs: &Inputs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |key: Key, wrong: String, help: String| {
        let text = inputs.text(key).unwrap_or_default();
        let problem = Problem::for_text(key, text, wrong, help);
        problems.push(problem.with_kind(DiagnosticKind::Conflict));
    };
    for (key, others, advice) in EXCLUSIVE {
        let Some(source) = inputs.source(key) else {
            continue;
        };
        let is_there = |other: &&Key| inputs.source(**other) == Some(source);
        if let Some(other) = others.iter().find(is_there) {
            refuse(
                key,
                format!("cannot be combined with `{other}`"),
                format!("remove `{other}` or `{key}`: {advice}"),
            );
        }
        for other in others.iter().filter(|other| !is_there(other)) {
            // A place after that of `key` gives none of the others.
            let Some(earlier) = inputs.source(*other) else {
                continue;
            };
            let (there, here) = (source.place(), earlier.place());
            let wrong = format!("{here} cannot be combined with `{key}` {there}");
            let help = match earlier {
                Source::OWN => format!(
                    "remove `{other}` from the object, or write a schedule there too, such as hours: Mon-Fri 09:00-19:00"
                ),
                _ => format!("remove `{other}` or `{key}`"),
            };
            refuse(*other, wrong, help);
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inputs, Key, NamedSchedule};

    fn parse_with(key: Key, text: &str) -> ParsedInputs {
        let inputs = Inputs::default()
            .with(Key::Hours, "09:00-19:00")
            .with(Key::Timezone, "Asia/Tokyo")
            .with(key, text);
        read(&inputs, &Zone::UTC.into())
    }

    #[test]
    fn overrides_are_parsed_in_the_time_zone_of_the_object() {
        let at = "2026-12-24T09:00:00Z".parse().ok();
        let none = OverrideSet::default();
        for (key, text, expected) in [
            (
                Key::WakeUntil,
                "2026-12-24 18:00",
                OverrideSet {
                    wake_until: at,
                    ..none
                },
            ),
            (
                Key::SleepUntil,
                "2026-12-24T10:00:00+01:00",
                OverrideSet {
                    sleep_until: at,
                    ..none
                },
            ),
            (
                Key::SleepUntil,
                "2026-12-24 18:00 ; No-Request-Wake ",
                OverrideSet {
                    sleep_until: at,
                    ..none
                },
            ),
            (
                Key::Pause,
                "2026-12-24 18:00",
                OverrideSet {
                    pause: at.map(Pause::Until),
                    ..none
                },
            ),
            (
                Key::Pause,
                " True",
                OverrideSet {
                    pause: Some(Pause::Forever),
                    ..none
                },
            ),
            (Key::Pause, "false", none),
        ] {
            match parse_with(key, text) {
                ParsedInputs::Scheduled(spec) => {
                    assert_eq!(spec.overrides.own, expected, "{key} {text}");
                    assert_eq!(spec.overrides.enforce, Enforce::No);
                }
                other => panic!("{key} {text}: {other:?}"),
            }
        }
    }

    #[test]
    fn enforce_is_a_boolean_or_a_grace_period() {
        for (text, expected) in [
            ("true", Enforce::AtOnce),
            ("false", Enforce::No),
            (" TRUE", Enforce::AtOnce),
            ("30m", Enforce::After(TimeDelta::minutes(30))),
            ("1s", Enforce::After(TimeDelta::seconds(1))),
            ("24h", Enforce::After(TimeDelta::hours(24))),
        ] {
            match parse_with(Key::Enforce, text) {
                ParsedInputs::Scheduled(spec) => {
                    assert_eq!(spec.overrides.enforce, expected, "{text}");
                    assert_eq!(spec.overrides.own, OverrideSet::default());
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn errors_in_overrides_have_a_span_and_an_example() {
        for (key, text, span, part) in [
            (Key::Pause, "yes", 0..3, "`yes` is neither `true` nor"),
            (Key::Pause, "2026-12-24", 0..10, "`2026-12-24 18:00`"),
            (Key::WakeUntil, "22:00", 0..5, "write local time such as"),
            (
                Key::SleepUntil,
                "2026-12-24 1800",
                11..15,
                "write `2026-12-24 18:00`",
            ),
            (Key::SleepUntil, "", 0..0, "`2026-12-24 18:00`"),
            (
                Key::SleepUntil,
                "2026-12-24 18:00; no-wake",
                18..25,
                "`no-wake` is not `no-request-wake`",
            ),
            (
                Key::SleepUntil,
                "tonight; no-request-wake",
                0..7,
                "write local time such as",
            ),
            (Key::Enforce, "on", 0..2, "write `true`"),
            (Key::Enforce, "0s", 0..2, "from 1s to 24h"),
            (Key::Enforce, "24h1s", 0..5, "from 1s to 24h"),
        ] {
            match parse_with(key, text) {
                ParsedInputs::Invalid(refusal) => {
                    let [problem] = refusal.problems() else {
                        panic!("{key} {text}: {refusal}");
                    };
                    assert_eq!(
                        (&*problem.annotation, problem.diagnostic.span()),
                        (key.name(), span.clone())
                    );
                    assert!(
                        problem.diagnostic.to_string().contains(part),
                        "{}",
                        problem.diagnostic
                    );
                }
                other => panic!("{key} {text}: {other:?}"),
            }
        }
    }

    fn named(name: &str, texts: &[(Key, &str)]) -> NamedSchedule {
        let texts = texts.iter().map(|(key, text)| (*key, (*text).to_owned()));
        NamedSchedule::new(name, texts)
    }

    #[test]
    fn problems_with_named_schedules_name_the_schedule_and_the_key() {
        let mistake = Diagnostic::new(0..1, "huors", "is not a key", "did you mean `hours`?");
        let schedules = NamedSchedules::from_file([
            named("office", &[(Key::Hours, "Mon-Fry 09:00-19:00")]),
            named(
                "zone",
                &[(Key::Timezone, "Asia/Tokio"), (Key::Replicas, "2")],
            ),
            named("steps", &[(Key::Scale, "09:00 = 3; 19:00 = 0")]),
            named("form", &[(Key::Hours, "09:00-19:00")])
                .with_problems(vec![("huors".into(), mistake)]),
        ]);
        let context = ParseContext {
            schedules: schedules.clone(),
            ..ParseContext::default()
        };
        for (name, own, expected) in [
            (
                "office",
                &[][..],
                "schedule `office`, key `hours`: `Fry` is not a day; write `Mon-Fri 09:00-19:00`",
            ),
            // A mistake in a key that the object has itself does not matter.
            ("office", &[(Key::Hours, "09:00-19:00")], ""),
            (
                "zone",
                &[(Key::Hours, "09:00-19:00")],
                "schedule `zone`, key `timezone`: `Asia/Tokio` is not a time zone",
            ),
            (
                "form",
                &[],
                "schedule `form`, key `huors`: `huors` is not a key; did you mean `hours`?",
            ),
            (
                "ofice",
                &[],
                "dayshift/schedule: `ofice` is not a schedule of the file of --schedules; write \
                 `office`",
            ),
            (
                "steps",
                &[(Key::Replicas, "2")],
                "dayshift/replicas: `2` on the object cannot be combined with `scale` in the schedule \
                 `steps`; remove `replicas` from the object",
            ),
        ] {
            let inputs = Inputs::default().with(Key::NamedSchedule, name);
            let add = |inputs: Inputs, (key, text): &(Key, &str)| inputs.with(*key, text);
            let inputs = own.iter().fold(inputs, add).with_schedules(&schedules);
            let text = match read(&inputs, &context) {
                ParsedInputs::Invalid(rejection) => {
                    assert!(!rejection.is_inherited(), "the object uses the schedule");
                    rejection.to_string()
                }
                ParsedInputs::Scheduled(_) | ParsedInputs::Unscheduled => String::new(),
            };
            assert!(text.starts_with(expected), "{name} {own:?}: {text}");
            assert_eq!(
                text.is_empty(),
                expected.is_empty(),
                "{name} {own:?}: {text}"
            );
        }
    }

    #[test]
    fn an_override_without_a_schedule_is_an_error_except_a_pause() {
        for (key, refused) in [
            (Key::WakeUntil, true),
            (Key::SleepUntil, true),
            (Key::Pause, false),
            (Key::Enforce, false),
        ] {
            let inputs = Inputs::default().with(key, "2026-12-24 18:00");
            let parsed = read(&inputs, &Zone::UTC.into());
            assert_eq!(matches!(parsed, ParsedInputs::Invalid(_)), refused, "{key}");
        }
    }

    #[test]
    fn jitter_with_several_times_per_minute_is_rejected() {
        let scheduled = |start: &str, jitter: &str| {
            let inputs = Inputs::default().with(Key::Start, start);
            let inputs = inputs
                .with(Key::Stop, "* * * * *")
                .with(Key::Jitter, jitter);
            read(&inputs, &Zone::UTC.into())
        };
        for (start, jitter, refused) in [
            ("* * * * * *", "1h", true),
            ("09:00; 0,30 0 9 1 * *", "5m", true),
            ("0 * * * * *; 30 0 9 * * *", "1h", false),
            ("* * * * *", "1h", false),
            ("* * * * * *", "0s", false),
        ] {
            match scheduled(start, jitter) {
                ParsedInputs::Invalid(refusal) => {
                    assert!(refused, "{start}: {refusal}");
                    let text = refusal.to_string();
                    let expected = format!("dayshift/jitter: `{jitter}` cannot spread times");
                    assert!(text.starts_with(&expected), "{text}");
                    assert!(text.contains("such as 0 */5 * * * *"), "{text}");
                }
                other => assert!(!refused, "{start}: {other:?}"),
            }
        }
    }
}
