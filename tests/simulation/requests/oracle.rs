//! Which workloads a request wakes, and which Events report that, without code of dayshift.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, NaiveTime, SubsecRound as _, TimeDelta, Utc};
use serde_json::Value;

use super::night::{Client, NightWorkload};

/// The namespace and name of an object.
pub(super) type Place = (String, String);

/// The current objects by namespace and name.
pub(super) type Objects = BTreeMap<Place, (NightWorkload, Value)>;

#[derive(Default)]
pub(super) struct Oracle {
    /// Workloads that a request woke and whose Event was not created yet.
    awaited: BTreeMap<Place, Wake>,
    pub(super) failure: Option<String>,
    pub(super) trace: Vec<String>,
    pub(super) wakes: usize,
}

struct Wake {
    until: DateTime<Utc>,
    is_written: bool,
    /// The expected text of the Event, without the part after `; it needs`; `None` if a wake is prolonged,
    /// which no Event reports.
    note: Option<String>,
    without: Vec<String>,
    /// Whether the activator might not have observed the use yet.
    is_optional: bool,
}

/// The value of `dayshift/wake-on-request` at some time.
struct OnRequest {
    lasts: TimeDelta,
    /// Whether a request wakes at this time.
    counts: bool,
    while_used: bool,
}

/// The state of a dependency.
enum NeededState {
    Up,
    /// It was woken, and its start is pending.
    Starts,
    Asleep,
    Off,
}

/// The response that a client receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Refused,
    Starting,
    Stopped,
    Ignored,
    /// A 200 without a body.
    Alive,
}

impl Answer {
    pub(super) fn of(text: Option<&str>) -> Option<Self> {
        let Some(text) = text else {
            return Some(Self::Refused);
        };
        if text.starts_with("HTTP/1.1 200 ") && text.ends_with("\r\n\r\n") {
            return Some(Self::Alive);
        }
        let known = [
            ("is starting</h1>", Self::Starting),
            ("is stopped</h1>", Self::Stopped),
            ("is closed</h1>", Self::Stopped),
            ("does not wake it", Self::Ignored),
        ];
        let found = known.into_iter().find(|(part, _)| text.contains(part));
        found.map(|it| it.1).filter(|_| text.contains(" 503 "))
    }
}

impl Oracle {
    pub(super) fn note(&mut self, now: DateTime<Utc>, text: &str) {
        self.trace
            .push(format!("{} {text}", now.format("%H:%M:%S%.3f")));
    }

    pub(super) fn fail(&mut self, now: DateTime<Utc>, why: String) {
        self.note(now, &format!("violates the rules: {why}"));
        self.failure.get_or_insert(why);
    }

    /// A client connects to the Service of an object. Returns the expected response, and records the wakes
    /// that are expected from then on.
    pub(super) fn expect_response(
        &mut self,
        objects: &Objects,
        place: &Place,
        client: Client,
        now: DateTime<Utc>,
    ) -> Answer {
        let (workload, object) = &objects[place];
        let Some(wake) = workload.wake.map(|it| read_wake(it, now)) else {
            return Answer::Refused;
        };
        let state = needed_state(object, now);
        let is_asleep = matches!(state, NeededState::Asleep);
        if client == Client::Heartbeat && workload.answers_ping && is_asleep {
            return Answer::Alive;
        }
        if client == Client::Probe || client == Client::Health && workload.ignores_health {
            return Answer::Ignored;
        }
        let is_heartbeat = client == Client::Heartbeat && workload.answers_ping;
        let mut used_since = None;
        match state {
            // Use in the last `lasts` of a wake prolongs it.
            NeededState::Up if wake.while_used && wake.counts && !is_heartbeat => {
                used_since = awake_until(object, now).map(|until| now - (until - wake.lasts));
                if used_since.is_none_or(|since| since < TimeDelta::zero()) {
                    return Answer::Starting;
                }
            }
            NeededState::Up | NeededState::Starts => return Answer::Starting,
            NeededState::Asleep if wake.counts => {}
            NeededState::Asleep | NeededState::Off => return Answer::Stopped,
        }
        let unobserved = TimeDelta::minutes(if wake.while_used { 5 } else { 0 });
        let until = (now + wake.lasts + unobserved).trunc_subsecs(0);
        let (woken, without) = woken_with(objects, place, wake.while_used.then_some(until), now);
        let others = woken.into_iter().map(|it| (it, Vec::new()));
        for (woken, without) in others.chain([(place.clone(), without)]) {
            let at = until.format("%Y-%m-%dT%H:%M:%SZ");
            let name = &place.1;
            let mut note = format!("to Service {name}, port http, wakes it until {at}");
            if woken != *place {
                note += &format!(" with deploy/{name}, which needs it");
            }
            let is_prolonged = awake_until(&objects[&woken].1, now).is_some();
            let wake = Wake {
                until,
                is_written: false,
                note: (!is_prolonged).then_some(note),
                without,
                is_optional: used_since.is_some_and(|since| since < TimeDelta::seconds(1)),
            };
            self.awaited.insert(woken, wake);
        }
        Answer::Starting
    }

    /// The activator writes another `dayshift/wake-until`.
    pub(super) fn wrote(&mut self, place: &Place, until: &str, now: DateTime<Utc>) {
        self.note(
            now,
            &format!("{}/{} is woken until {until}", place.0, place.1),
        );
        self.wakes += 1;
        let wake = self.awaited.get_mut(place).filter(|it| !it.is_written);
        match wake {
            Some(wake) if moment(until) == wake.until && wake.note.is_none() => {
                self.awaited.remove(place);
            }
            Some(wake) if moment(until) == wake.until => wake.is_written = true,
            Some(wake) => {
                let why = format!("{} is woken until {until}, not {}", place.1, wake.until);
                self.fail(now, why);
            }
            None => self.fail(now, format!("{} is woken without a request", place.1)),
        }
    }

    /// Checks an Event that reports a wake by this client.
    pub(super) fn check_event(&mut self, event: &Value, client: &str, now: DateTime<Utc>) {
        if event["reason"] != "WokenByRequest" {
            return;
        }
        let regarding = ["namespace", "name"].map(|it| event["regarding"][it].as_str().unwrap());
        let place = regarding.map(str::to_owned).into();
        let note = event["note"].as_str().unwrap();
        self.note(now, note);
        let Some(wake) = self.awaited.remove(&place).filter(|it| it.is_written) else {
            return self.fail(
                now,
                format!(
                    "an Event reports a wake of {}, which was not woken",
                    place.1
                ),
            );
        };
        let mut parts = note.split("; it needs ");
        let expected = wake.note.as_deref().unwrap_or("prolongs nothing");
        let expected = format!("A request from {client} {expected}");
        let text = parts.next().unwrap();
        let mut without: Vec<_> = parts
            .map(|it| it.split_once(", which ").unwrap().0.to_owned())
            .collect();
        without.sort();
        if event["type"] != "Normal" || text != expected || without != wake.without {
            let without = wake.without;
            self.fail(now, format!("not {expected}, without {without:?}"));
        }
    }

    /// Checks that every expected wake was written and reported.
    pub(super) fn check_wakes(&mut self, now: DateTime<Utc>) {
        self.awaited.retain(|_, wake| !wake.is_optional);
        if let Some((place, wake)) = self.awaited.pop_first() {
            let reason = if wake.is_written {
                "but no Event reports the wake"
            } else {
                "but it is not woken"
            };
            self.fail(now, format!("a request is for {}, {reason}", place.1));
        }
    }
}

/// The workloads that are woken together with an object, and those of its dependencies that stay stopped,
/// ordered by name. If use prolongs its wake, wakes of dependencies are prolonged until `prolonged` too.
fn woken_with(
    objects: &Objects,
    root: &Place,
    prolonged: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> (Vec<Place>, Vec<String>) {
    let (mut woken, mut without, mut seen) = (Vec::new(), Vec::new(), vec![root.clone()]);
    let mut next = 0;
    while let Some(place) = seen.get(next).cloned() {
        next += 1;
        let (workload, object) = &objects[&place];
        if place != *root {
            let counts = workload.wake.map(|it| read_wake(it, now).counts);
            let is_woken = counts.is_some() && is_woken(object);
            match needed_state(object, now) {
                NeededState::Asleep if counts == Some(true) => woken.push(place.clone()),
                NeededState::Starts => {}
                NeededState::Up if prolonged.is_some() && is_woken => {
                    let until = awake_until(object, now);
                    if counts == Some(true) && until.is_some() && until < prolonged {
                        woken.push(place.clone());
                    }
                }
                NeededState::Up => continue,
                NeededState::Asleep | NeededState::Off => {
                    without.push(format!("deploy/{}", workload.name));
                    continue;
                }
            }
        }
        for name in &workload.after {
            let needed = (place.0.clone(), name.clone());
            if !seen.contains(&needed) {
                seen.push(needed);
            }
        }
    }
    without.sort();
    (woken, without)
}

/// Whether it runs because of a wake.
fn is_woken(object: &Value) -> bool {
    let state = &object["metadata"]["labels"]["dayshift/state"];
    state == "woken" && object["spec"]["replicas"].as_u64() > Some(0)
}

/// The end of the wake because of which it runs.
fn awake_until(object: &Value, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let until = object["metadata"]["annotations"]["dayshift/wake-until"].as_str();
    let until = until.map(moment).filter(|until| *until > now);
    until.filter(|_| is_woken(object))
}

fn needed_state(object: &Value, now: DateTime<Utc>) -> NeededState {
    if object["spec"]["replicas"].as_u64() > Some(0) {
        return NeededState::Up;
    }
    let state = object["metadata"]["labels"]["dayshift/state"].as_str();
    if !matches!(state, Some("stopped" | "slept")) {
        return NeededState::Off;
    }
    let until = object["metadata"]["annotations"]["dayshift/wake-until"].as_str();
    match until.is_some_and(|it| moment(it) > now) {
        true => NeededState::Starts,
        false => NeededState::Asleep,
    }
}

/// `90m; while-used; 17:00-20:00`, where each part after the first can be missing.
fn read_wake(text: &str, now: DateTime<Utc>) -> OnRequest {
    let mut parts = text.split("; ");
    let lasts = parts.next().unwrap();
    let (number, unit) = lasts.split_at(lasts.len() - 1);
    let number: i64 = number.parse().unwrap();
    let (mut counts, mut while_used) = (true, false);
    for part in parts {
        let time = |text: &str| NaiveTime::parse_from_str(text, "%H:%M").unwrap();
        match part.split_once('-').unwrap() {
            ("while", "used") => while_used = true,
            (from, to) => counts = (time(from)..time(to)).contains(&now.time()),
        }
    }
    OnRequest {
        lasts: TimeDelta::minutes(if unit == "h" { 60 * number } else { number }),
        counts,
        while_used,
    }
}

/// A time in UTC, in one of the two possible forms.
fn moment(text: &str) -> DateTime<Utc> {
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M");
    local.map_or_else(|_| text.parse().unwrap(), |it| it.and_utc())
}
