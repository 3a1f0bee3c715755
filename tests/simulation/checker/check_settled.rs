//! Checks each object after everything has settled: no work must be left.

use serde_json::Value;

use crate::{
    checker::{
        check_write::all,
        description::describe,
        objects::{object::Object, phase::Phase},
        observer::Observer,
        rules::outcome::Outcome,
        scalers::known::{Instants, Known, MAX_CORRECTIONS},
    },
    scenario::calendar::show,
};

/// The result of checking one object for one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckResult {
    /// The object is in the state that the rules require.
    Settled,
    /// The checker did not observe its creation.
    Unknown,
    /// A dry run does not change it.
    Dry,
    /// It has not settled because writes to it fail.
    Failing,
    /// It has not settled: writes to it failed and might not have been retried.
    Recovering,
    /// Another controller might use another zone or other calendars.
    OfAnother,
    /// The last correction is pending, or a response was lost.
    Waits,
    /// Its labels were corrected three times, which is the limit.
    GivenUp,
}

impl Observer {
    /// Checks that no work is left for any of these processes.
    pub fn check_settled(&mut self, object: &Value, processes: &[String], at: i64) {
        let in_scope = self.in_scope(object);
        let object = Object::shown(object);
        let annotations = self.defaults.get(&object.namespace).cloned();
        let annotations = annotations.unwrap_or_default();
        if !in_scope {
            return;
        }
        if !self.records.contains_key(&object.uid) {
            *self.looks.entry(CheckResult::Unknown).or_default() += 1;
            return;
        }
        for by in processes {
            let now = Instants {
                truth: at,
                clock: self.processes[by].clock.now().timestamp_millis(),
                slept: self.slept,
                unsure: false,
            };
            let defaults = self.processes[by].shown.inherited(&annotations);
            let object = object.clone().beside(&defaults);
            let troubled = &self.troubled;
            let may_wait = troubled.is(&object, at) || troubled.may_delay(&object, at) > 0;
            match self.is_settled_for(by, &object, now) {
                Err(_) if may_wait => {
                    let is_failing = troubled.until(&object) == Some(i64::MAX);
                    if is_failing && self.hides_failure(by, &object.uid, at) {
                        let name = object.full_name();
                        return self.fail(
                            at,
                            &format!("{by} does not report that writes to {name} are denied"),
                        );
                    }
                    let look = if is_failing {
                        CheckResult::Failing
                    } else {
                        CheckResult::Recovering
                    };
                    *self.looks.entry(look).or_default() += 1;
                }
                Ok(_) if self.is_silent(by, &object.uid, at) => {
                    let name = object.full_name();
                    return self.fail(at, &format!("{by} has not reported that it scaled {name}"));
                }
                Ok(_) if self.hides_revert(by, &object.uid, at) => {
                    let name = object.full_name();
                    let why = format!("{by} has not reported the program that reverted {name}");
                    return self.fail(at, &why);
                }
                Ok(look) => *self.looks.entry(look).or_default() += 1,
                Err(why) => return self.fail(at, &why),
            }
        }
    }

    fn is_silent(&self, by: &str, uid: &str, at: i64) -> bool {
        self.receives_all_events(by, uid) && self.reports.is_silent(by, uid, at)
    }

    fn hides_failure(&self, by: &str, uid: &str, at: i64) -> bool {
        self.receives_all_events(by, uid) && self.reports.hides_failure(by, uid, at)
    }

    fn hides_revert(&self, by: &str, uid: &str, at: i64) -> bool {
        self.receives_all_events(by, uid) && self.reports.hides_revert(by, uid, at)
    }

    /// Whether all Events of a process about an object reach the server.
    fn receives_all_events(&self, by: &str, uid: &str) -> bool {
        self.exact && self.event_troubles == 0 && self.lost_answers(by, Some(uid)) == 0
    }

    /// Checks that no work is left for this process: it has observed the current object, and the rules
    /// require no write.
    fn is_settled_for(
        &self,
        by: &str,
        object: &Object,
        now: Instants,
    ) -> Result<CheckResult, String> {
        if self.processes[by].is_dry {
            return Ok(CheckResult::Dry);
        }
        if !self.processes[by].shown.knows_namespaces() {
            return Err(format!("{by} does not know the Namespaces"));
        }
        let (namespace, name) = (&object.namespace, &object.name);
        let known = self.processes[by].shown.known(namespace, name, now.truth);
        let Some(known) = known.first() else {
            if object.has_no_schedule_or_state() {
                return Ok(CheckResult::Settled);
            }
            return Err(format!("{by} does not know {}", object.full_name()));
        };
        if known.object != *object {
            return Err(format!("{by} knows an older {}", object.full_name()));
        }
        let outcomes = self.outcomes(by, known, now.clock);
        if outcomes.iter().any(Option::is_none) {
            self.newest_has_applied(by, known, now.clock.div_euclid(1000))?;
            return Ok(CheckResult::Settled);
        }
        let outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
        let is_corrective = |it: &Outcome| {
            let applied = known.applied(&it.state, it.error.as_ref());
            known.is_corrective(it, &applied).1
        };
        // A patch whose response is lost might be visible on the object; its sender then counts it as
        // successful.
        let lost = self.lost_answers(by, Some(&object.uid));
        let counted = usize::from(known.corrections.1) + lost;
        let second = now.clock.div_euclid(1000);
        let is_of_another = |it: &Outcome| it.corrects_only_next(object, second);
        if counted > 0 && outcomes.iter().all(is_of_another) {
            return Ok(CheckResult::OfAnother);
        }
        let waits = |it: &Outcome| {
            let due = known.last_correction(it);
            due.is_some_and(|due| now.clock <= due) || lost > 0 && it.replicas == object.replicas
        };
        if outcomes.iter().any(|it| is_corrective(it) && waits(it)) {
            return Ok(CheckResult::Waits);
        }
        let is_at_limit = counted >= usize::from(MAX_CORRECTIONS);
        if is_at_limit && outcomes.iter().any(is_corrective) {
            let is_sure = known.corrections.0 >= MAX_CORRECTIONS;
            if self.exact && is_sure && known.limit_events == 0 && self.event_troubles == 0 {
                return Err(format!(
                    "{by} has not reported that the correction limit is reached"
                ));
            }
            return Ok(CheckResult::GivenUp);
        }
        Err(format!(
            "{} has not settled for {by}{}",
            describe(object, object),
            all(&outcomes)
        ))
    }

    /// Independently of the other rules: unless an override or a pause is active, no boundary is between the
    /// last action and now.
    fn newest_has_applied(&self, by: &str, known: &Known, now: i64) -> Result<(), String> {
        let (object, zone) = (&known.object, self.processes[by].zone);
        let state = &object.state;
        let is_held = object.deleting || state.phase.is_some_and(Phase::is_held);
        let timeline = self.timeline(known, zone);
        let (Some(last), false, false) = (state.last, is_held, state.is_of_later_version()) else {
            return Ok(());
        };
        match timeline.newest(now) {
            Some((at, action)) if at > last => {
                let name = object.full_name();
                Err(format!("{name}: {action:?} of {} was not done", show(at)))
            }
            _ => Ok(()),
        }
    }
}
