//! Checks each write: whether the rules require it at that time.

use std::sync::Arc;

use chrono_tz::Tz;

use crate::{
    checker::{
        assumptions::{self, Assumptions},
        change_invariants,
        description::describe,
        objects::{object::Object, texts},
        observer::{Observer, Process, Record, UNHEARD, Write},
        rules::{
            outcome::{Outcome, WriteKind},
            rule_inputs::{Reported, RuleInputs},
            timeline::Timeline,
        },
        scalers::known::{Done, Known, MAX_CORRECTIONS},
        switches,
    },
    scenario::{
        fault::BLIND,
        intent::{Enforce, Intent},
    },
};

impl Observer {
    /// The effect of the write, or the rule that it violates.
    pub(crate) fn check_write(
        &self,
        write: &Write<'_>,
        old: &Object,
        new: &Object,
    ) -> Result<Done, String> {
        let process = &self.processes[&write.sent.by];
        let record = &self.records[&old.uid];
        let off = write.sent.at.clock - write.sent.at.truth;
        // Until the next response, a controller cannot detect that its clock is behind because the machine
        // slept or a response was late. This is allowed, because it only makes work late.
        let (woke, slept) = self.woke;
        let hidden = if write.at < woke + UNHEARD { slept } else { 0 };
        // The server's `Date` has whole seconds.
        let ahead = -31_000 - hidden - process.late..=31_000;
        if process.guarded && !ahead.contains(&off) {
            return Err(format!("written by a clock {off} ms off"));
        }
        if process.is_dry {
            return Err("written by a dry run".into());
        }
        if old.deleting {
            return Err("it is being deleted, and was patched".into());
        }
        if let Some((left, slept)) = record.left
            && (self.exact && write.sent.at.truth > left
                || write.at > left + BLIND + self.slept - slept)
        {
            return Err("it is out of scope, and was patched".into());
        }
        if old.rest != new.rest || old.uid != new.uid {
            return Err(format!(
                "a field was written that dayshift does not own: {} -> {}",
                old.rest, new.rest
            ));
        }
        if write.sent.known.is_empty() {
            return Err("it was patched by a controller that has not observed it".into());
        }
        let needs_no_namespace = |it: &Known| !self.exact && it.object.rests_on_itself();
        if !write.sent.knows_namespaces && !write.sent.known.iter().any(needs_no_namespace) {
            return Err("it was patched before its Namespace was known".into());
        }
        let (mut legal, mut found) = (Vec::new(), Vec::new());
        for known in write.sent.known.iter().filter(|it| it.is_still(old)) {
            let outcomes = self.outcomes(&write.sent.by, known, write.sent.at.clock);
            let outcomes = outcomes.into_iter().flatten();
            for outcome in outcomes {
                if self.is(&outcome, known, &known.wrote(old, new), process) {
                    let applied = known.applied(&new.state, new.error.as_ref());
                    let corrective = known.is_corrective(&outcome, &applied);
                    found.push((outcome.clone(), known, corrective, applied));
                }
                legal.push(outcome);
            }
        }
        let Some((outcome, known, _, applied)) = found.first() else {
            return Err(format!(
                "{} is not permitted by the rules{}",
                describe(old, new),
                all(&legal)
            ));
        };
        if found
            .iter()
            .all(|it| it.2.0 && it.1.corrections.0 >= MAX_CORRECTIONS)
        {
            return Err("more than three corrections".into());
        }
        let now = write.sent.at.clock.div_euclid(1000);
        let is_repeated = |known: &Known, outcome: &Outcome| {
            known.corrections.0 > 0 && outcome.corrects_only_next(&known.object, now)
        };
        if found.iter().all(|it| it.2.0 && is_repeated(it.1, &it.0)) {
            return Err("more than one correction that changes only `next`".into());
        }
        let is_exact = known.object.in_force().contains_key("replicas");
        change_invariants::check(old, new, outcome, is_exact, now)?;
        change_invariants::check_labels(write.new)?;
        switches::check(&known.object, new, outcome.kind, record.held.as_ref())?;
        self.keeps_the_count(outcome, known, write, new)?;
        if self.exact {
            // It is enough that one outcome is on time, because only the controller knows when the grace
            // period began.
            let mut punctual = found.iter().map(|(outcome, known, ..)| {
                self.check_on_time(write, outcome, known, process, record)
            });
            let first = punctual.next().unwrap_or(Ok(()));
            first.or_else(|late| punctual.find(Result::is_ok).unwrap_or(Err(late)))?;
            self.check_grace_announced(write, outcome, known, process)?;
        }
        Ok(Done {
            applied: applied.clone(),
            corrective: (found.iter().all(|it| it.2.0), found.iter().any(|it| it.2.1)),
            restarts_correction_count: found.iter().all(|it| it.0.kind.restarts_correction_count()),
            kinds: found.iter().map(|it| (it.0.kind, it.0.adopts)).collect(),
        })
    }

    /// The intent of its annotations; the empty intent if they are rejected.
    fn intent(&self, known: &Known, zone: Tz) -> Intent {
        match self.assumptions(known, zone).annotation_error {
            Some(_) => Intent::default(),
            None => Intent::of(known.object.inputs(), &self.plans, zone),
        }
    }

    /// The boundaries of its schedule; empty if it is rejected.
    pub(super) fn timeline(&self, known: &Known, zone: Tz) -> Arc<Timeline> {
        let plan = self.intent(known, zone).plan;
        self.timeline_of(plan, known, zone)
            .unwrap_or_else(|| Arc::new(Timeline::empty()))
    }

    fn timeline_of(&self, plan: Option<usize>, known: &Known, zone: Tz) -> Option<Arc<Timeline>> {
        let place = (zone, self.assumptions(known, zone).delay);
        Some(
            self.timelines
                .of(&self.plans, plan?, place, &known.holidays),
        )
    }

    fn assumptions(&self, known: &Known, zone: Tz) -> Arc<Assumptions> {
        let (object, holidays) = (&known.object, &known.holidays);
        let texts = object.inputs().map(Clone::clone);
        let key = (object.full_name(), texts, zone, holidays.known());
        let mut parsed = self.parse_cache.lock().unwrap();
        parsed
            .entry(key)
            .or_insert_with(|| Arc::new(assumptions::of(object, zone, holidays)))
            .clone()
    }

    /// The outcomes that are allowed for a process with its knowledge of an object, at a time of
    /// its clock.
    pub(crate) fn outcomes(&self, by: &str, known: &Known, at: i64) -> Vec<Option<Outcome>> {
        let (process, old) = (&self.processes[by], &known.object);
        let assumed = self.assumptions(known, process.zone);
        let intent = self.intent(known, process.zone);
        let timeline = self.timeline(known, process.zone);
        let now = at.div_euclid(1000);
        let state = known.newest(now);
        let (intent, ended) = intent.without_ended(old.began.as_deref(), &state, now);
        let raised_ranges: Vec<_> = match known.raised_ranges(self.slept) {
            ranges if ranges.is_empty() => vec![None],
            ranges => ranges.into_iter().map(Some).collect(),
        };
        let seen = known.seen(self.slept).into_iter();
        let since = seen.flat_map(|seen| {
            raised_ranges
                .iter()
                .map(move |raised_ranges| (seen, *raised_ranges))
        });
        // At the correction limit no notice is sent, and with other calendars a notice might be required.
        let at_limit = known.corrections.1 >= MAX_CORRECTIONS;
        let is_unreported = at_limit || known.has_other_calendars();
        let announced = self.announced(by, old);
        let latest = announced.latest.max(is_unreported.then_some(now));
        let announced = Reported {
            latest,
            ..announced
        };
        let outcomes = since.flat_map(|(seen, raised_ranges)| {
            let inputs = RuleInputs {
                object: old,
                state: &state,
                annotation_error: assumed.annotation_error.as_deref(),
                is_inherited: assumed.is_inherited,
                intent: &intent,
                ended: &ended,
                timeline: &timeline,
                now,
                fraction: at.rem_euclid(1000),
                seen,
                raised_ranges,
                last_running: known.last_running,
                ran_since_change: known.ran_since_change,
                announced,
                planned: known.planned(),
                is_refusal_news: known.is_refusal_news(assumed.annotation_error.as_deref()),
                stop_count: old.stop_count(),
                catch_up: process.catch_up,
            };
            inputs.outcomes()
        });
        outcomes.collect()
    }

    fn announced(&self, by: &str, object: &Object) -> Reported {
        let clock = &self.processes[by].clock;
        let off = clock.now().timestamp_millis() - self.truth.now().timestamp_millis();
        let record = self.records.get(&object.uid);
        let arrived = record.and_then(|record| record.warned.get(by));
        let is_heard = self.exact && self.event_troubles == 0;
        let written = self.troubled.until(object).max(Some(self.recovered));
        let latest = written.filter(|_| !is_heard);
        let latest = latest.map(|at| at.saturating_add(off));
        Reported {
            arrived: arrived.map(|at| at.div_euclid(1000)),
            latest: latest.map(|at| at.div_euclid(1000)),
        }
    }

    fn is(&self, outcome: &Outcome, known: &Known, new: &Object, process: &Process) -> bool {
        let old = &known.object;
        let mut texts = old.texts.clone();
        texts.retain(|key, _| !outcome.expired.contains(&&**key));
        let last = (outcome.state.last, outcome.last_until);
        let in_time = match last {
            (Some(from), Some(to)) => new.state.last.is_some_and(|at| (from..=to).contains(&at)),
            (last, _) => new.state.last == last,
        };
        let plan = self.intent(known, process.zone).plan;
        let timeline = self.timeline_of(plan, known, process.zone);
        let next = match (&timeline, new.state.last) {
            (Some(timeline), Some(last)) if outcome.follows => Some(timeline.after(last)),
            _ => outcome.state.next,
        };
        let same_next = timeline.map_or(next == new.state.next, |it| it.same(next, new.state.next));
        in_time
            && same_next
            && texts == new.texts
            && outcome.replicas == new.replicas
            && outcome.error == new.error
            && match outcome.kind {
                WriteKind::Refuse => old.began == new.began,
                _ => new.state.began() == new.began,
            }
            && outcome.state.phase == new.state.phase
            && outcome.state.saved == new.state.saved
            && outcome.state.owner == new.state.owner
            && new.state.garbled.is_empty()
    }

    /// Checks independently of the rules that no count is lost: compares the counts that could be restored
    /// before and after.
    fn keeps_the_count(
        &self,
        outcome: &Outcome,
        known: &Known,
        write: &Write<'_>,
        new: &Object,
    ) -> Result<(), String> {
        let old = &known.object;
        let in_force = old.in_force();
        let is_exact = |key: &str| in_force.contains_key(key);
        let exact = match outcome.kind {
            WriteKind::Scale => true,
            WriteKind::Start => is_exact("replicas"),
            WriteKind::Wake => is_exact("replicas") || is_exact("scale"),
            _ => false,
        };
        let state = known.newest(write.sent.at.clock.div_euclid(1000));
        let is_of = |owner: &String| texts::is_of_object(owner, &old.uid);
        let is_copy = state.owner.as_ref().and_then(is_of) == Some(false);
        let is_up = old.replicas > old.stop_count();
        let floor = if is_up && (is_copy || state.is_only_saved()) {
            old.replicas
        } else {
            old.replicas.max(state.saved.unwrap_or(0))
        };
        let floor = if old.is_switch() { floor.min(1) } else { floor };
        if exact || new.recoverable() >= floor {
            return Ok(());
        }
        Err(format!(
            "a count was lost: {} of {floor}",
            new.recoverable()
        ))
    }

    /// If a workload is stopped after a grace period, the complete period has passed since the announcement.
    fn check_grace_announced(
        &self,
        write: &Write<'_>,
        outcome: &Outcome,
        known: &Known,
        process: &Process,
    ) -> Result<(), String> {
        let Some(Enforce::After(grace)) = self.intent(known, process.zone).enforce else {
            return Ok(());
        };
        if outcome.kind != WriteKind::Enforce || self.event_troubles != 0 {
            return Ok(());
        }
        let Some(announced) = self.announced(&write.sent.by, &known.object).arrived else {
            return Err("it is stopped after a grace, and no notice was sent".into());
        };
        let left = announced + i64::from(grace) - write.sent.at.clock.div_euclid(1000);
        if left > 0 {
            return Err(format!("it is stopped {left} s before the grace is over"));
        }
        Ok(())
    }

    fn check_on_time(
        &self,
        write: &Write<'_>,
        outcome: &Outcome,
        known: &Known,
        process: &Process,
        record: &Record,
    ) -> Result<(), String> {
        let (at, off) = (write.at, write.sent.at.clock - write.sent.at.truth);
        let (intent, old) = (self.intent(known, process.zone), &known.object);
        let earliest_last_correction = known.last_correction(outcome).map(|due| due - off);
        let known = process.started.max(record.touched).max(process.clock_set);
        let known = known.max(process.calendars_read);
        let due = outcome.due.into_iter().chain(intent.ends());
        // The first millisecond of the server's clock at which the controller's clock has passed that time.
        let awaited = due
            .map(|due| due * 1000 - off)
            .chain(earliest_last_correction);
        let awaited = awaited.filter(|due| *due <= at);
        let right = awaited.max().map_or(known, |due| due.max(known));
        let may_wait = self.troubled.may_delay(old, at);
        if self.troubled.is(old, at) || (right..=right + may_wait).contains(&at) {
            return Ok(());
        }
        Err(format!("written {} ms after its time", write.at - right))
    }
}

/// The allowed outcomes in words, without duplicates.
pub fn all(outcomes: &[Outcome]) -> String {
    let mut texts: Vec<_> = outcomes
        .iter()
        .map(|it| format!("\n    allowed: {it}"))
        .collect();
    texts.sort();
    texts.dedup();
    texts.concat()
}
