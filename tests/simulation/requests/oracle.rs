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
    /// The expected text of the Event, without the part after `; it needs`.
    note: String,
    without: Vec<String>,
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
        let Some((lasts, counts)) = workload.wake.map(|it| read_wake(it, now)) else {
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
        match state {
            NeededState::Up | NeededState::Starts => return Answer::Starting,
            NeededState::Asleep if counts => {}
            NeededState::Asleep | NeededState::Off => return Answer::Stopped,
        }
        let until = (now + lasts).trunc_subsecs(0);
        let (woken, without) = woken_with(objects, place, now);
        let others = woken.into_iter().map(|it| (it, Vec::new()));
        for (woken, without) in others.chain([(place.clone(), without)]) {
            let at = until.format("%Y-%m-%dT%H:%M:%SZ");
            let name = &place.1;
            let mut note = format!("to Service {name}, port http, wakes it until {at}");
            if woken != *place {
                note += &format!(" with deploy/{name}, which needs it");
            }
            let wake = Wake {
                until,
                is_written: false,
                note,
                without,
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
        let expected = format!("A request from {client} {}", wake.note);
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
/// ordered by name.
fn woken_with(objects: &Objects, root: &Place, now: DateTime<Utc>) -> (Vec<Place>, Vec<String>) {
    let (mut woken, mut without, mut seen) = (Vec::new(), Vec::new(), vec![root.clone()]);
    let mut next = 0;
    while let Some(place) = seen.get(next).cloned() {
        next += 1;
        let (workload, object) = &objects[&place];
        if place != *root {
            let counts = workload.wake.map(|it| read_wake(it, now).1);
            match needed_state(object, now) {
                NeededState::Asleep if counts == Some(true) => woken.push(place.clone()),
                NeededState::Starts => {}
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

/// `90m; 17:00-20:00`: the length of a wake, and whether a request wakes at this time.
fn read_wake(text: &str, now: DateTime<Utc>) -> (TimeDelta, bool) {
    let (lasts, hours) = text.split_once("; ").unwrap_or((text, ""));
    let (number, unit) = lasts.split_at(lasts.len() - 1);
    let number: i64 = number.parse().unwrap();
    let lasts = TimeDelta::minutes(if unit == "h" { 60 * number } else { number });
    let time = |text: &str| NaiveTime::parse_from_str(text, "%H:%M").unwrap();
    let counts = hours.split_once('-').is_none_or(|(from, to)| {
        let now = now.time();
        time(from) <= now && now < time(to)
    });
    (lasts, counts)
}

/// A time in UTC, in one of the two possible forms.
fn moment(text: &str) -> DateTime<Utc> {
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M");
    local.map_or_else(|_| text.parse().unwrap(), |it| it.and_utc())
}
