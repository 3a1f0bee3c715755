//! Parses the annotations in force for one object into a [`ScheduleSpec`], or collects everything that is
//! wrong with them.

use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::TimeDelta;
use dayshift_schedule::{
    Calendars, Diagnostic, DiagnosticKind, ExcludedDates, Hours, Proposal, Schedule, ScheduleRule,
    Times, TreatedDates, Tzdata, Zone, is_too_long, parse_date_time, parse_grace, parse_jitter,
    parse_notice, parse_scale,
};

use crate::{
    inputs::{
        after::After,
        annotations::{Annotations, Origin},
        effective::{Inputs, VolumeRetention, truth},
        overrides::{Enforce, OverrideSet, Overrides, Pause},
        problem::{InvalidSchedule, Problem},
        spec::ScheduleSpec,
    },
    keys::Key,
    kinds::count::CountKind,
    readiness::READY_WITHIN,
    replicas::Replicas,
};

/// What a scaler was told that texts rest on: the same text may mean something else to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseContext {
    /// The zone of local times on an object that names none.
    pub default_zone: Zone,
    /// The database in which zones are looked up.
    pub tzdata: Tzdata,
    /// The calendars that `except` and `treat-as` may name.
    pub calendars: Calendars,
    /// How long before a stop people are told, on an object that does not say; `None` where nobody is.
    pub notice: Option<TimeDelta>,
    /// How long a start may take, on an object that does not say, where that is not
    /// [`READY_WITHIN`](crate::READY_WITHIN).
    pub ready_within: Option<TimeDelta>,
}

impl Default for ParseContext {
    /// UTC, no calendars, and the usual lengths of time.
    fn default() -> Self {
        Zone::UTC.into()
    }
}

impl From<Zone> for ParseContext {
    /// That zone, and all else by default.
    fn from(default_zone: Zone) -> Self {
        Self {
            default_zone,
            tzdata: Tzdata::default(),
            calendars: Calendars::default(),
            notice: None,
            ready_within: None,
        }
    }
}

/// What the annotations of an object ask for.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are schedules, and equal ones are shared"
)]
pub enum ParsedInputs {
    /// There is no schedule.
    Unscheduled,
    /// The schedule is refused: the object stays as it is.
    Invalid(InvalidSchedule),
    /// A schedule to follow.
    Scheduled(ScheduleSpec),
}

impl ParsedInputs {
    /// The schedule to follow; `None` where there is none, or one that is refused.
    pub const fn spec(&self) -> Option<&ScheduleSpec> {
        match self {
            Self::Scheduled(spec) => Some(spec),
            Self::Unscheduled | Self::Invalid(_) => None,
        }
    }

    /// Whether the schedule goes by the dates of calendars.
    pub fn names_calendars(&self) -> bool {
        self.spec().is_some_and(ScheduleSpec::names_calendars)
    }

    /// A digest of the dates of those calendars; 0 without any. It is the same as long as the program
    /// runs, and no longer.
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

    /// How long before a stop people are told; zero where nobody is.
    pub fn notice(&self) -> TimeDelta {
        let notice = self.spec().and_then(|spec| spec.notice);
        notice.unwrap_or_default()
    }

    /// How long a start may take; zero where nobody is told.
    pub fn ready_within(&self) -> TimeDelta {
        let within = self.spec().and_then(|spec| spec.ready_within);
        within.unwrap_or(READY_WITHIN)
    }

    /// Whether other calendars may make something else of the same inputs: they name calendars,
    /// which are known or are refused.
    pub fn depends_on_calendars(&self) -> bool {
        match self {
            Self::Invalid(refusal) => {
                let mut problems = refusal.problems().iter();
                problems.any(|problem| problem.diagnostic.kind() == DiagnosticKind::Calendar)
            }
            Self::Unscheduled | Self::Scheduled(_) => self.names_calendars(),
        }
    }
}

/// Reads what the inputs ask for. Local times are in the object's `timezone`, else in the default
/// zone of the context. All problems are collected, not only the first one.
pub fn read(inputs: &Inputs, context: &ParseContext) -> ParsedInputs {
    if let Some(refusal) = InvalidSchedule::from_problems(too_long(inputs)) {
        return ParsedInputs::Invalid(refusal);
    }
    let mut problems = Problems::default();
    if problems.switch(inputs, Key::Exclude) {
        return ParsedInputs::Unscheduled;
    }
    let mut unknown = inputs.unknown().peekable();
    while let Some((origin, annotation)) = unknown.next() {
        let more = unknown.peek().map_or(inputs.unknown_more(), |_| 0);
        let problem = Problem::unknown_annotation(&annotation.name, annotation.length, more);
        problems.0.push(problem.from(origin));
    }
    let may_delete = problems.switch(inputs, Key::AllowVolumeDeletion);
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
        // Overrides may be in both places: those know where they come from.
        let key = Key::from_name(&problem.annotation).filter(|key| !Key::OVERRIDES.contains(key));
        let origin = key.and_then(|key| inputs.origin(key));
        problem.origin = origin.unwrap_or(problem.origin);
    }
    match (InvalidSchedule::from_problems(problems.0), spec.flatten()) {
        (Some(refusal), _) => ParsedInputs::Invalid(refusal),
        (None, Some(spec)) => ParsedInputs::Scheduled(spec),
        (None, None) => ParsedInputs::Unscheduled,
    }
}

/// The texts that are too long. Only their beginnings are there, which would say something else.
fn too_long(inputs: &Inputs) -> Vec<Problem> {
    let defaults = inputs.defaults();
    if !inputs.own().are_too_long() && !defaults.is_some_and(Annotations::are_too_long) {
        return Vec::new();
    }
    let problem = |key: Key| {
        let text = inputs.text(key).filter(|text| is_too_long(text))?;
        let problem = Problem::new(key.name(), Diagnostic::too_long(text));
        Some(problem.from(inputs.origin(key)?))
    };
    Key::ALL.into_iter().filter_map(problem).collect()
}

/// Collects what is wrong, so that a user sees all of it at once.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
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
        let jitter = self.parse(inputs, Key::Jitter, parse_jitter);
        let after = self.parse(inputs, Key::After, |text| {
            After::parse(text).map(|after| after.written_in(inputs))
        });
        let replicas = self.parse(inputs, Key::Replicas, Replicas::parse);
        let stop_replicas = self.parse(inputs, Key::StopReplicas, Replicas::parse);
        let notice = self.parse(inputs, Key::Notice, parse_notice);
        let ready_within = self.parse(inputs, Key::ReadyWithin, parse_notice);
        let overrides = self.overrides(inputs, zone.unwrap_or(default_zone));
        self.0.extend(exclusive(inputs));
        self.refuse_below_least(inputs, replicas, Key::Replicas);
        self.refuse_below_least(inputs, stop_replicas, Key::StopReplicas);
        if let Some(entries) = &scale {
            let counts = entries.iter().filter_map(|entry| entry.action.count());
            self.refuse_below_least(inputs, counts.min().map(Replicas::new), Key::Scale);
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
            self.refuse_jitter(inputs, key);
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
            .with_treated_dates(treated.unwrap_or_default()),
            replicas: replicas.map(|count| count.max(counts.least())),
            stop_replicas: inputs.stop_replicas(),
            keeps_zero: inputs.keeps_zero(),
            counts,
            jitter: jitter.unwrap_or_default(),
            after,
            notice: notice.or(context.notice),
            ready_within: ready_within.or(context.ready_within),
            overrides,
        })
    }

    /// Refuses a jitter beside times that it cannot spread. Where it is inherited, those are at fault.
    fn refuse_jitter(&mut self, inputs: &Inputs, key: Key) {
        let is_own = |key| inputs.origin(key) == Some(Origin::Own);
        let (key, wrong, help) = if is_own(key) && !is_own(Key::Jitter) {
            let wrong = "comes more than once a minute, which the inherited jitter cannot spread";
            let help =
                "write a cron with one second, such as 0 */5 * * * *, or jitter: \"0s\" beside it";
            (key, wrong, help)
        } else {
            let wrong = "cannot spread times that come more than once a minute";
            let help =
                "write a cron with one second, such as 0 */5 * * * *, or remove this annotation";
            (Key::Jitter, wrong, help)
        };
        let text = inputs.text(key).unwrap_or_default();
        self.0.push(Problem::for_text(key, text, wrong, help));
    }

    fn overrides(&mut self, inputs: &Inputs, zone: Zone) -> Overrides {
        let own = self.override_set(|key| inputs.own().text(key), Origin::Own, zone);
        let defaults = inputs.defaults();
        // `pause: "false"` on the object is a word against the pause of its Namespace; a time that is
        // over is none.
        let is_refused =
            |key| key == Key::Pause && own.pause.is_none() && inputs.own().text(key).is_some();
        let inherited = |key| defaults?.text(key).filter(|_| !is_refused(key));
        Overrides {
            own,
            inherited: self.override_set(inherited, Origin::Namespace, zone),
            enforce: self.enforce(inputs),
        }
    }

    fn override_set<'i>(
        &mut self,
        text: impl Fn(Key) -> Option<&'i str>,
        origin: Origin,
        zone: Zone,
    ) -> OverrideSet {
        let before = self.0.len();
        let mut moment = |key| {
            parse_date_time(text(key)?, zone)
                .map_err(|error| self.0.push(Problem::new(key.name(), error)))
                .ok()
        };
        let (wake_until, sleep_until) = (moment(Key::WakeUntil), moment(Key::SleepUntil));
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
                self.refuse_switch(Key::Pause, text, "is neither `true` nor a time", help);
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
                let wrong = "is neither `true` nor a time from 1s to 24h";
                let help = "write `true`, or a time such as `30m`, or remove the annotation";
                self.refuse_switch(Key::Enforce, text, wrong, help);
                Enforce::No
            }
        }
    }

    /// Whether a key is `true`; it is not where it is absent.
    fn switch(&mut self, inputs: &Inputs, key: Key) -> bool {
        let Some(text) = inputs.text(key) else {
            return false;
        };
        truth(text).unwrap_or_else(|| {
            let help = "write `true`, or remove the annotation";
            self.refuse_switch(key, text, "is neither `true` nor `false`", help);
            false
        })
    }

    /// Refuses `stop-jobs` where it is neither `true` nor `false`, or where there are no Jobs.
    fn stop_jobs(&mut self, inputs: &Inputs) {
        if self.take_usable(inputs, Key::StopJobs).is_some() {
            self.switch(inputs, Key::StopJobs);
        }
    }

    /// Refuses an override without a schedule: nothing would start the object after its end.
    /// A pause without a schedule changes nothing and is fine.
    fn reject_override_without_schedule(&mut self, inputs: &Inputs) {
        for key in [Key::WakeUntil, Key::SleepUntil] {
            if let Some(text) = inputs.own().text(key) {
                let wrong = "needs a schedule, but there is none";
                let help = "write hours, such as Mon-Fri 09:00-19:00, or start and stop, or remove the annotation";
                self.0.push(Problem::for_text(key, text, wrong, help));
            }
        }
    }

    /// Refuses the text of a key that may be `true`.
    fn refuse_switch(&mut self, key: Key, text: &str, wrong: &'static str, help: &'static str) {
        let meant = match &*text.trim().to_ascii_lowercase() {
            "yes" | "y" | "on" | "1" | "enabled" => Some("true"),
            "no" | "n" | "off" | "0" | "disabled" => Some("false"),
            _ => None,
        };
        let meant = meant.map(|meant| Proposal::replace_all(text, meant));
        let diagnostic = Diagnostic::new(0..text.len(), text, wrong, help).with_proposal(meant);
        self.0.push(Problem::new(key.name(), diagnostic));
    }

    /// Refuses a count on the object itself that is below what its kind can have. One of its
    /// Namespace is meant for others too: it is raised.
    fn refuse_below_least(&mut self, inputs: &Inputs, count: Option<Replicas>, key: Key) {
        let is_below = count.is_some_and(|count| count < inputs.counts().least());
        if let (true, Some(text)) = (is_below, inputs.own().text(key)) {
            let wrong = "is below 1, and an autoscaler keeps at least 1";
            let help = "write 1 or more; 0 takes a metric of type Object or External";
            self.0.push(Problem::for_text(key, text, wrong, help));
        }
    }

    /// The text of a key, if the kind of the object has a use for it.
    fn take_usable<'i>(&mut self, inputs: &'i Inputs, key: Key) -> Option<&'i str> {
        let text = inputs.text(key)?;
        let wrong = match inputs.counts() {
            counts if counts.has(key) => return Some(text),
            _ if key == Key::StopJobs => "has no meaning here: only a CronJob has Jobs of its own",
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
        parse(self.take_usable(inputs, key)?)
            .map_err(|error| self.0.push(Problem::new(key.name(), error)))
            .ok()
    }
}

/// Each key, those beside which it is refused, and what to write instead.
const EXCLUSIVE: [(Key, &[Key], &str); 3] = [
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
];

/// The annotations in force that exclude each other.
///
/// Where both are written in one place, the problem is there. Where one is on the object and the
/// other is inherited, the problem is the object's: its Namespace may be right for everything else
/// in it, and is told nothing.
pub(super) fn exclusive(inputs: &Inputs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |key: Key, wrong: String, help: String| {
        let text = inputs.text(key).unwrap_or_default();
        let problem = Problem::for_text(key, text, wrong, help);
        problems.push(problem.with_kind(DiagnosticKind::Conflict));
    };
    for (key, others, advice) in EXCLUSIVE {
        let Some(origin) = inputs.origin(key) else {
            continue;
        };
        let is_from = |origin: Origin| move |other: &&Key| inputs.origin(**other) == Some(origin);
        if let Some(other) = others.iter().find(is_from(origin)) {
            refuse(
                key,
                format!("cannot be combined with `{other}`"),
                format!("remove `{other}` or `{key}`: {advice}"),
            );
        }
        let own = others.iter().filter(is_from(Origin::Own));
        for own in own.filter(|_| origin != Origin::Own) {
            let place = origin.place();
            let wrong = format!("on the object cannot be combined with `{key}` {place}");
            let help = format!(
                "remove `{own}` from the object, or write a schedule there too, such as hours: Mon-Fri 09:00-19:00"
            );
            refuse(*own, wrong, help);
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inputs, Key};

    fn laid_over(key: Key, text: &str) -> ParsedInputs {
        let inputs = Inputs::default()
            .with(Key::Hours, "09:00-19:00")
            .with(Key::Timezone, "Asia/Tokyo")
            .with(key, text);
        read(&inputs, &Zone::UTC.into())
    }

    #[test]
    fn overrides_are_read_in_the_zone_of_the_object() {
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
            match laid_over(key, text) {
                ParsedInputs::Scheduled(spec) => {
                    assert_eq!(spec.overrides.own, expected, "{key} {text}");
                    assert_eq!(spec.overrides.enforce, Enforce::No);
                }
                other => panic!("{key} {text}: {other:?}"),
            }
        }
    }

    #[test]
    fn enforce_is_on_or_off_or_comes_after_a_grace() {
        for (text, expected) in [
            ("true", Enforce::AtOnce),
            ("false", Enforce::No),
            (" TRUE", Enforce::AtOnce),
            ("30m", Enforce::After(TimeDelta::minutes(30))),
            ("1s", Enforce::After(TimeDelta::seconds(1))),
            ("24h", Enforce::After(TimeDelta::hours(24))),
        ] {
            match laid_over(Key::Enforce, text) {
                ParsedInputs::Scheduled(spec) => {
                    assert_eq!(spec.overrides.enforce, expected, "{text}");
                    assert_eq!(spec.overrides.own, OverrideSet::default());
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_wrong_with_an_override_has_a_place_and_a_right_example() {
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
            (Key::Enforce, "on", 0..2, "write `true`"),
            (Key::Enforce, "0s", 0..2, "from 1s to 24h"),
            (Key::Enforce, "24h1s", 0..5, "from 1s to 24h"),
        ] {
            match laid_over(key, text) {
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

    #[test]
    fn an_override_without_a_schedule_is_an_error_and_a_pause_is_none() {
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
    fn jitter_with_times_more_often_than_once_a_minute_is_refused() {
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
