//! Which starts are allowed when, without code of dayshift.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{
    known::{DueStart, KnownWorkload, MOMENT, Milli, Place, SOON, time_of_label},
    notices::Notices,
    scenario::{Morning, MorningWorkload, Second},
};

/// How long a start requested by a user waits for dependencies that are stopped.
const SETTLING: Milli = 5_000;

pub(super) struct Oracle {
    max_starting: Option<usize>,
    seen: BTreeMap<Place, KnownWorkload>,
    /// When the running controller was started.
    pub(super) up: Option<Milli>,
    last_up: Milli,
    notices: Notices,
    pub(super) failure: Option<String>,
    pub(super) trace: Vec<String>,
    pub(super) starts: usize,
    pub(super) waited: usize,
}

impl Oracle {
    pub(super) fn of(morning: &Morning) -> Self {
        let place = |it: &MorningWorkload| (it.namespace.to_owned(), it.name.clone());
        let seen = morning
            .objects
            .iter()
            .map(|it| (place(it), KnownWorkload::of(it)));
        Self {
            max_starting: morning.max_starting,
            seen: seen.collect(),
            up: None,
            last_up: 0,
            notices: Notices::default(),
            failure: None,
            trace: Vec::new(),
            starts: 0,
            waited: 0,
        }
    }

    pub(super) fn note(&mut self, now: Milli, text: &str) {
        let second = now / 1000;
        let (hour, minute) = (second / 3600, second / 60 % 60);
        let text = format!(
            "{hour:02}:{minute:02}:{:02}.{:03} {text}",
            second % 60,
            now % 1000
        );
        self.trace.push(text);
    }

    fn fail(&mut self, now: Milli, why: String) {
        self.note(now, &format!("violates the rules: {why}"));
        self.failure.get_or_insert(why);
    }

    pub(super) fn record_scaler(&mut self, now: Milli, is_up: bool) {
        self.note(
            now,
            if is_up {
                "a controller starts"
            } else {
                "it is killed"
            },
        );
        self.up = is_up.then_some(now);
        if is_up {
            self.last_up = now;
        }
        self.notices.forget_events();
    }

    /// The number of Events about starts that wait for a slot.
    pub(super) const fn notices(&self) -> usize {
        self.notices.count
    }

    /// Checks an Event of the controller, given the beginning of the day.
    pub(super) fn check_event(&mut self, event: &Value, day: DateTime<Utc>, now: Milli) {
        if let Err(why) = self.notices.record(event, day) {
            self.fail(now, why);
        }
    }

    fn get(&mut self, place: &Place) -> &mut KnownWorkload {
        self.seen.get_mut(place).unwrap()
    }

    pub(super) fn record_wake(&mut self, place: &Place, now: Milli, until: Second) {
        let seen = self.get(place);
        (seen.wake_until, seen.edited) = (until * 1000, now);
    }

    pub(super) fn record_sleep(&mut self, place: &Place, now: Milli, until: Second) {
        let seen = self.get(place);
        (seen.sleep_until, seen.edited) = (until * 1000, now);
    }

    pub(super) fn record_resume(&mut self, place: &Place, now: Milli) {
        let seen = self.get(place);
        (seen.sleep_until, seen.wake_until, seen.edited) = (0, 0, now);
    }

    pub(super) fn record_hours(&mut self, place: &Place, now: Milli, start: Second) {
        let seen = self.get(place);
        (seen.start, seen.edited) = (start * 1000, now);
    }

    pub(super) fn record_deletion(&mut self, place: &Place, now: Milli) {
        let seen = self.get(place);
        (seen.is_gone, seen.edited) = (true, now);
    }

    pub(super) fn record_refusal(&mut self, place: &Place) {
        self.get(place).is_refused = true;
    }

    /// The readiness in the status changes.
    pub(super) fn record_readiness(&mut self, place: &Place, now: Milli, is_ready: bool) {
        self.note(
            now,
            &format!("{} is {}ready", place.1, if is_ready { "" } else { "not " }),
        );
        let seen = self.get(place);
        if is_ready {
            seen.ready_since.get_or_insert(now);
            seen.was_ready = true;
        } else if seen.ready_since.take().is_some() {
            seen.ready_until = now;
        }
    }

    /// The server accepted a write of a controller.
    pub(super) fn wrote(&mut self, place: &Place, now: Milli, new: &Value) {
        let count = new["spec"]["replicas"].as_i64().unwrap();
        let last = new["metadata"]["labels"]["dayshift/last"].as_str();
        let last = last.map_or(0, time_of_label);
        let state = new["metadata"]["labels"]["dayshift/state"].as_str();
        let seen = self.get(place);
        seen.label = last;
        seen.is_started = matches!(state, Some("running" | "woken"));
        let before = self.get(place).replicas;
        if count == before {
            return;
        }
        self.note(
            now,
            &format!("{}/{}: {before} -> {count}", place.0, place.1),
        );
        if before == 0 {
            self.check_start(place, now);
        }
        if before == 0 {
            self.check_share(place, now);
        }
        let seen = self.get(place);
        seen.replicas = count;
        if seen.ready_since.take().is_some() {
            seen.ready_until = now;
        }
        seen.started = (count > before).then_some((now, last));
        seen.was_ready = false;
        self.starts += usize::from(before == 0);
        self.check_number_starting(now);
    }

    /// Checks that no start precedes the readiness of its dependencies within `after`'s time limit.
    fn check_start(&mut self, place: &Place, now: Milli) {
        let seen = &self.seen[place];
        let Some(due) = seen.due(now) else {
            return self.fail(now, format!("{} starts although no start is due", place.1));
        };
        if now - due.since > SOON {
            self.waited += 1;
        }
        let seen = &self.seen[place];
        if now + MOMENT >= due.since + seen.within {
            return;
        }
        for needed in &seen.named {
            if let Some(why) = self.keeps_waiting(place, needed, due, now) {
                let why = format!("{} starts before {}, which {why}", place.1, needed.1);
                return self.fail(now, why);
            }
        }
    }

    /// The reason why a start must wait, if it must.
    fn keeps_waiting(
        &self,
        place: &Place,
        needed: &Place,
        due: DueStart,
        now: Milli,
    ) -> Option<&'static str> {
        let it = self.seen.get(needed).filter(|it| !it.is_gone)?;
        let until = due.since + self.seen[place].within;
        // A dependency is sufficient if it was ready at any time since the start became due: the start might
        // have waited for a slot since then.
        let was_ready = it.ready_since.is_some() || it.ready_until + MOMENT >= due.since;
        if was_ready || self.leads_to(needed, place) {
            return None;
        }
        if it.replicas > 0 {
            return Some("runs and is not ready");
        }
        if it.due(now).is_some() {
            return Some("is due itself");
        }
        let settled = due.since.max(self.last_up) + SETTLING;
        let is_late = it.next_start(now) > until;
        if is_late && !(due.is_request && now + MOMENT < settled) {
            return None;
        }
        Some(if is_late {
            "a user might be about to wake"
        } else {
            "starts in time"
        })
    }

    fn leads_to(&self, from: &Place, to: &Place) -> bool {
        let mut seen = vec![from.clone()];
        let mut next = 0;
        while let Some(one) = seen.get(next).cloned() {
            next += 1;
            if one == *to {
                return true;
            }
            for other in self.seen.get(&one).map_or(&[][..], |it| &it.named) {
                if !seen.contains(other) {
                    seen.push(other.clone());
                }
            }
        }
        false
    }

    /// Checks that no start takes a slot while a start waits in a namespace that holds fewer slots.
    fn check_share(&mut self, place: &Place, now: Milli) {
        // A controller that has just started counts the slots again from the labels.
        let up = self.last_up;
        if self.max_starting.is_none() || now - up < SETTLING {
            return;
        }
        let of = |namespace: &str| {
            let all = self.seen.iter();
            let namespace = namespace.to_owned();
            all.filter(move |((of, _), _)| *of == namespace)
                .map(|(_, seen)| seen)
        };
        let holds = |seen: &&KnownWorkload| {
            seen.slot_until(up)
                .is_some_and(|until| until > now + MOMENT)
        };
        // The waiting start might have got a slot at the same time.
        let held = |seen: &&KnownWorkload| {
            let was_ready = seen.ready_since.is_some_and(|since| now - since <= SOON);
            let until = seen.slot_until(up);
            was_ready || until.is_some_and(|until| until > now - SOON)
        };
        let own = of(&place.0).filter(holds).count();
        let waits = |seen: &KnownWorkload| {
            let free = seen.free_since.is_some_and(|since| now - since > SOON);
            free && seen.replicas == 0 && !seen.is_gone && !seen.is_refused
        };
        let fewer = self.seen.iter().find(|((namespace, _), seen)| {
            *namespace != place.0 && waits(seen) && of(namespace).filter(held).count() < own
        });
        if let Some(((namespace, name), _)) = fewer {
            let why = format!(
                "{}/{} starts, and {namespace}/{name} waits, whose namespace holds fewer slots",
                place.0, place.1
            );
            self.fail(now, why);
        }
    }

    /// Checks that at most `--max-starting` workloads are starting.
    fn check_number_starting(&mut self, now: Milli) {
        let Some(max) = self.max_starting else {
            return;
        };
        let up = self.last_up;
        let starting = self.seen.values().filter_map(|it| it.slot_until(up));
        let count = starting.filter(|until| *until > now + MOMENT).count();
        if count > max {
            self.fail(now, format!("{count} are starting, and {max} may be"));
        }
    }

    /// Checks that no start waits for longer than allowed.
    pub(super) fn check_waits(&mut self, now: Milli) {
        let Some(up) = self.up.filter(|up| now - up > SOON) else {
            return;
        };
        let outcome = self.notices.check(&self.seen, self.max_starting, (up, now));
        if let Err(why) = outcome {
            self.fail(now, why);
        }
        let mut late = None;
        let places: Vec<_> = self.seen.keys().cloned().collect();
        for place in places {
            let seen = &self.seen[&place];
            let due = seen
                .due(now)
                .filter(|_| seen.replicas == 0 && !seen.is_refused);
            let is_free = due.is_some_and(|due| {
                let due_at = if due.is_request {
                    due.since.max(up)
                } else {
                    due.since
                };
                let is_over = now > due_at + seen.within;
                let all = &mut seen.named.iter();
                is_over || all.all(|it| self.seen.get(it).is_none_or(|it| it.ready_since.is_some()))
            });
            let seen = self.get(&place);
            seen.free_since = seen
                .free_since
                .filter(|_| is_free)
                .or(is_free.then_some(now));
            if seen
                .free_since
                .is_some_and(|since| now - since.max(up) > SOON)
            {
                late.get_or_insert(place);
            }
        }
        let Some((_, name)) = late else {
            return;
        };
        let has_place = self.max_starting.is_none_or(|max| {
            let holds = |it: &&KnownWorkload| {
                let (started, _) = it.started.unwrap_or((i64::MIN / 2, 0));
                // A recovering dependency might be observed late, and a ready one might have been ready until
                // just now. A restarted controller relies on the label, which a wake sets again.
                let from = if up > started {
                    started.max(it.label)
                } else {
                    started
                };
                let is_young = now <= from + it.ready_within + SOON;
                let is_new = it.ready_since.is_some_and(|since| now - since <= SOON);
                !it.is_gone && it.replicas > 0 && is_young && (it.ready_since.is_none() || is_new)
            };
            self.seen.values().filter(holds).count() < max
        });
        if has_place {
            self.fail(now, format!("{name} waits although it could start"));
        }
    }
}
