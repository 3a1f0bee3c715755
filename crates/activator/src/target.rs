//! A workload with `wake-on-request`: whether a request wakes it, and how long the wake lasts.
//!
//! The end of a wake that use prolongs ([`WakeOnRequest::while_used`]) follows from annotations and labels
//! only. So replicas agree on it, and a restart of the activator loses nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use dayshift_cluster::decode::StartFailure;
use dayshift_schedule::{Tzdata, Zone, parse_date_time};
use dayshift_workload::{
    After, AnsweredPaths, Dependency, IgnoredPaths, Inputs, Key, KindTable, Next, Observed, Phase,
    Replicas, WakeOnRequest, next_sleep_end, requests_ignored_until,
};

/// How long wakes last, regardless of annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeLimits {
    /// The longest wake, from its beginning to its end, including the times by which use prolongs it.
    pub longest: TimeDelta,
    /// The minimum time between two writes that prolong a wake.
    pub prolong_interval: TimeDelta,
}

impl Default for WakeLimits {
    fn default() -> Self {
        Self {
            longest: TimeDelta::hours(24),
            prolong_interval: TimeDelta::minutes(5),
        }
    }
}

/// A workload with `wake-on-request`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WakeTarget {
    pub(crate) observed: Observed,
    pub(crate) rules: Arc<RequestRules>,
    pub(crate) state: TargetState,
    /// When it was stopped.
    pub(crate) since: Option<DateTime<Utc>>,
    /// The end of a wake.
    pub(crate) until: Option<DateTime<Utc>>,
    /// When its wake began, if it is running because of one.
    pub(crate) began: Option<DateTime<Utc>>,
    /// When its schedule starts it.
    pub(crate) next_start: Option<DateTime<Utc>>,
    /// Why its start fails.
    pub(crate) failure: Option<StartFailure>,
    /// The end of a wake that the controller has not acted on yet.
    pub(crate) starts_until: Option<DateTime<Utc>>,
}

/// The response of a workload to requests, as far as it follows from annotations.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestRules {
    pub(crate) wake: WakeOnRequest,
    pub(crate) ignored: IgnoredPaths,
    pub(crate) answered: AnsweredPaths,
    pub(crate) zone: Zone,
    /// The valid dependencies in `after`.
    pub(crate) after: Option<After>,
    pub(crate) effect: KnownEffect,
}

/// The rules of the workloads in a namespace. Equal ones are parsed and stored once, because thousands of workloads
/// can inherit long annotations of their Namespace.
pub(crate) struct KnownRules<'t> {
    default_zone: Zone,
    tzdata: &'t Tzdata,
    kinds: &'t KindTable,
    now: DateTime<Utc>,
    by_texts: HashMap<RuleTexts<'t>, Option<Arc<RequestRules>>>,
}

/// The values from which rules follow.
type RuleTexts<'t> = [Option<&'t str>; 8];

impl<'t> KnownRules<'t> {
    pub(crate) fn new(
        default_zone: Zone,
        tzdata: &'t Tzdata,
        kinds: &'t KindTable,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            default_zone,
            tzdata,
            kinds,
            now,
            by_texts: HashMap::new(),
        }
    }

    /// The rules of a workload; `None` if it has no valid `wake-on-request`. `before` is the same workload as
    /// it was observed before.
    fn of(&mut self, inputs: &'t Inputs, before: Option<&WakeTarget>) -> Option<Arc<RequestRules>> {
        let inherited = inputs.defaults();
        let texts = [
            inputs.text(Key::WakeOnRequest),
            inputs.text(Key::WakeOnRequestIgnore),
            inputs.text(Key::WakeOnRequestAnswer),
            inputs.text(Key::Timezone),
            inputs.text(Key::After),
            // A dependency that is inherited does not apply to itself.
            inputs.own().text(Key::After),
            inputs.own().text(Key::SleepUntil),
            inherited.and_then(|defaults| defaults.text(Key::SleepUntil)),
        ];
        if let Some(known) = self.by_texts.get(&texts) {
            return known.clone();
        }
        let before = before.filter(|before| before.observed.inputs == *inputs);
        let rules = match before {
            Some(before) => Some(Arc::clone(&before.rules)),
            None => self.parse(inputs).map(Arc::new),
        };
        self.by_texts.insert(texts, rules.clone());
        rules
    }

    fn parse(&self, inputs: &Inputs) -> Option<RequestRules> {
        let wake = WakeOnRequest::parse(inputs.text(Key::WakeOnRequest)?).ok()?;
        let ignored = inputs.text(Key::WakeOnRequestIgnore);
        let ignored = ignored.and_then(|paths| IgnoredPaths::parse(paths).ok());
        let answered = inputs.text(Key::WakeOnRequestAnswer);
        let answered = answered.and_then(|paths| AnsweredPaths::parse(paths).ok());
        let zone = inputs.text(Key::Timezone);
        let zone = zone.and_then(|name| self.tzdata.parse_zone(name).ok());
        let zone = zone.unwrap_or(self.default_zone);
        let after = inputs.text(Key::After);
        let after = after.and_then(|after| After::parse(after, self.kinds).ok());
        Some(RequestRules {
            effect: KnownEffect::default(),
            wake,
            ignored: ignored.unwrap_or_default(),
            answered: answered.unwrap_or_default(),
            zone,
            after: after.map(|after| after.written_in(inputs)),
        })
    }
}

/// Whether requests have an effect on workloads with these rules, as computed for the last request. Each request asks
/// it of up to a hundred workloads, and a search in long hours can take a millisecond, so it is computed once for a
/// period. Hundreds of workloads whose hours begin at the same time cost nothing until a request asks for them.
#[derive(Debug, Default)]
pub(crate) struct KnownEffect(Mutex<Option<RequestEffect>>);

/// It follows from the rules.
impl PartialEq for KnownEffect {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KnownEffect {}

impl KnownEffect {
    fn at(&self, now: DateTime<Utc>, compute: impl FnOnce() -> RequestEffect) -> RequestEffect {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some(effect) if effect.includes(now) => effect,
            _ => *known.insert(compute()),
        }
    }
}

/// Whether requests have an effect on a workload in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RequestEffect {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    /// Why a request has no effect; `None` if it has.
    closed: Option<&'static str>,
    /// When a request has an effect next, after a sleep or at the next beginning of the hours.
    opens: Option<DateTime<Utc>>,
}

impl RequestEffect {
    fn new(wake: &WakeOnRequest, inputs: &Inputs, zone: Zone, now: DateTime<Utc>) -> Self {
        let sleep = requests_ignored_until(inputs, zone, now);
        let opens_after = wake.opens_after(now, zone);
        let counts = wake.counts_at(now, zone);
        let changes_at = match counts {
            true => wake.closes_after(now, zone),
            false => opens_after,
        };
        let until = next_sleep_end(inputs, zone, now)
            .into_iter()
            .chain(changes_at);
        Self {
            from: now,
            until: until.min().unwrap_or(DateTime::<Utc>::MAX_UTC),
            closed: match sleep {
                Some(_) => Some(ASLEEP),
                None => (!counts).then_some(OUT_OF_HOURS),
            },
            opens: match sleep {
                Some(end) if wake.counts_at(end, zone) => Some(end),
                Some(end) => wake.opens_after(end, zone),
                None => opens_after,
            },
        }
    }

    fn includes(&self, now: DateTime<Utc>) -> bool {
        (self.from..self.until).contains(&now)
    }
}

/// The reason if `wake-on-request` has hours and it is outside of them.
pub(crate) const OUT_OF_HOURS: &str = "a request does not wake it at this time of day";

/// The reason during a sleep that no request ends.
pub(crate) const ASLEEP: &str = "a user has put it to sleep, and requests do not wake it";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// Running, or about to start.
    Running,
    /// Stopped by dayshift, so a request can wake it.
    Asleep,
    /// Has no replicas, and a request does not change that, for this reason.
    Off(&'static str),
}

impl WakeTarget {
    /// A workload with a valid `wake-on-request` and state labels. `before` is the same workload as it was observed
    /// before.
    pub(crate) fn new<'t>(
        observed: &'t Observed,
        known_rules: &mut KnownRules<'t>,
        before: Option<&Self>,
    ) -> Option<Self> {
        let (inputs, now) = (&observed.inputs, known_rules.now);
        let phase = observed.phase()?;
        let rules = known_rules.of(inputs, before)?;
        // The workload was woken already, and the controller is about to start it.
        let wakes = inputs.text(Key::WakeUntil);
        let wakes = wakes.and_then(|end| parse_date_time(end, rules.zone).ok());
        let until = wakes.filter(|end| *end > now);
        let known = observed.state();
        let next_start = known.next.and_then(Next::at);
        let runs = observed.replicas > Replicas::ZERO && !observed.deleting;
        let starts_until = wakes.filter(|end| {
            let is_stopped = matches!(phase, Phase::Stopped | Phase::Slept);
            is_stopped && observed.replicas == Replicas::ZERO && *end > now
        });
        let state = match phase {
            _ if observed.deleting => TargetState::Off("it is being deleted"),
            _ if runs => TargetState::Running,
            _ if starts_until.is_some() => TargetState::Running,
            Phase::Stopped | Phase::Slept => TargetState::Asleep,
            Phase::Paused => TargetState::Off("it is paused"),
            Phase::Adopted | Phase::Running | Phase::Woken => {
                TargetState::Off("another client has scaled it to 0")
            }
        };
        Some(Self {
            rules,
            state,
            since: known.last,
            until,
            began: known.last.filter(|_| runs && phase == Phase::Woken),
            next_start: next_start.filter(|_| phase == Phase::Stopped),
            failure: None,
            starts_until,
            observed: observed.clone(),
        })
    }

    /// Its dependencies.
    pub(crate) fn needs(&self) -> &[Dependency] {
        let after = self.rules.after.as_ref();
        after.map_or(&[], |after| after.needed_by(&self.observed.object))
    }

    /// Whether a request at this time wakes it.
    pub(crate) fn is_wakeable(&self, now: DateTime<Utc>) -> bool {
        self.state == TargetState::Asleep && self.closed_at(now).is_none()
    }

    /// Why a request at this time has no effect on it; `None` if it has.
    pub(crate) fn closed_at(&self, now: DateTime<Utc>) -> Option<&'static str> {
        self.effect_at(now).closed
    }

    /// When a request has an effect next, after a sleep or at the next beginning of its hours.
    pub(crate) fn opens_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.effect_at(now).opens
    }

    /// When it changes next after this time whether requests have an effect.
    fn effect_changes_after(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        self.effect_at(now).until
    }

    fn effect_at(&self, now: DateTime<Utc>) -> RequestEffect {
        let (rules, inputs) = (&self.rules, &self.observed.inputs);
        let compute = || RequestEffect::new(&rules.wake, inputs, rules.zone, now);
        rules.effect.at(now, compute)
    }

    /// The end of a wake by a request at this time. If use prolongs the wake, connections in the first
    /// [`WakeLimits::prolong_interval`] are not observed, so the wake lasts that much longer.
    pub(crate) fn wake_end(&self, now: DateTime<Utc>, limits: WakeLimits) -> DateTime<Utc> {
        let wake = &self.rules.wake;
        let unobserved = match wake.while_used {
            true => limits.prolong_interval,
            false => TimeDelta::zero(),
        };
        let lasts = (wake.lasts + unobserved).min(limits.longest);
        (now + lasts).trunc_subsecs(0)
    }

    /// From when on use prolongs its wake; `None` if it does not.
    pub(crate) fn observed_from(&self, limits: WakeLimits) -> Option<DateTime<Utc>> {
        let until = self.until?;
        let can_last_longer = until < self.latest_end(limits)?;
        let wake = &self.rules.wake;
        (wake.while_used && can_last_longer).then(|| until - wake.lasts)
    }

    /// When it changes next after this time whether use prolongs its wake, unless another event changes the workload.
    pub(crate) fn observation_changes_after(
        &self,
        now: DateTime<Utc>,
        limits: WakeLimits,
    ) -> Option<DateTime<Utc>> {
        let from = self.observed_from(limits)?;
        if from > now {
            return Some(from);
        }
        Some(self.effect_changes_after(now).min(self.until?))
    }

    /// The latest time until which use prolongs its wake.
    fn latest_end(&self, limits: WakeLimits) -> Option<DateTime<Utc>> {
        self.began?.checked_add_signed(limits.longest)
    }

    /// The new end of its wake if it is used at this time; `None` if that prolongs nothing.
    pub(crate) fn prolonged_end(
        &self,
        now: DateTime<Utc>,
        limits: WakeLimits,
    ) -> Option<DateTime<Utc>> {
        let is_observed = self.observed_from(limits)? <= now && self.closed_at(now).is_none();
        let end = self.wake_end(now, limits).min(self.latest_end(limits)?);
        (is_observed && Some(end) > self.until).then_some(end)
    }

    /// The latest end of its wake that a visitor can request. It follows from the beginning of the wake, so
    /// repeated requests have one effect.
    fn latest_kept(&self, limits: WakeLimits) -> Option<DateTime<Utc>> {
        let end = self.began?.checked_add_signed(self.rules.wake.keep?)?;
        Some(end.min(self.latest_end(limits)?))
    }

    /// The end of its wake after a visitor has kept it awake; `None` if that prolongs nothing.
    pub(crate) fn kept_end(&self, now: DateTime<Utc>, limits: WakeLimits) -> Option<DateTime<Utc>> {
        let is_later = |end: &DateTime<Utc>| self.until.is_some_and(|until| *end > until);
        let end = self.latest_kept(limits).filter(is_later)?;
        self.closed_at(now).is_none().then_some(end)
    }

    /// Whether its wake lasts as long as a visitor can request.
    pub(crate) fn is_kept(&self, limits: WakeLimits) -> bool {
        self.latest_kept(limits)
            .is_some_and(|end| self.until >= Some(end))
    }

    /// Whether a wake is active that ends before this time.
    pub(crate) fn wake_ends_before(&self, end: DateTime<Utc>) -> bool {
        self.began.is_some() && self.until.is_some_and(|until| until < end)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::test_cluster::at;

    /// A request asks a hundred workloads, and thousands of requests can arrive in the second in which hours begin.
    #[test]
    fn effect_of_requests_is_computed_once_for_a_period() {
        let wake = WakeOnRequest::parse("2h; 09:00-19:00").unwrap();
        let (known, computed) = (KnownEffect::default(), Cell::new(0));
        let is_closed = |time: &str| {
            let now = at(&format!("2026-11-25T{time}Z"));
            let effect = known.at(now, || {
                computed.set(computed.get() + 1);
                RequestEffect::new(&wake, &Inputs::default(), Zone::UTC, now)
            });
            effect.closed.is_some()
        };
        for (time, expected, computations) in [
            ("08:00:00", true, 1),
            ("08:59:59", true, 1),
            ("09:00:00", false, 2),
            ("18:59:59", false, 2),
            ("19:00:00", true, 3),
            ("23:00:00", true, 3),
        ] {
            assert_eq!(is_closed(time), expected, "{time}");
            assert_eq!(computed.get(), computations, "{time}");
        }
    }
}
