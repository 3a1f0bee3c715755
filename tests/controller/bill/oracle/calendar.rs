//! A calendar that advances minute by minute, with Deployments that follow it.

use chrono::{DateTime, Datelike as _, TimeDelta, Timelike as _, Utc};
use chrono_tz::Tz;
use serde_json::json;

use crate::sandbox::{Sandbox, deployment};

/// A pseudorandom generator with a fixed seed (splitmix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    /// Picks an element at random.
    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.roll(all.len() as u64)).unwrap()]
    }
}

/// Days as users write them, and the weekdays that they contain, from Monday on.
pub(super) const DAYS: [(&str, [bool; 7]); 5] = [
    ("Mon-Fri", [true, true, true, true, true, false, false]),
    ("daily", [true; 7]),
    (
        "Mon,Wed,Fri",
        [true, false, true, false, true, false, false],
    ),
    ("weekends", [false, false, false, false, false, true, true]),
    ("Fri-Mon", [true, false, false, false, true, true, true]),
];

pub(super) const REQUESTS: [(&str, f64, &str, f64); 4] = [
    ("250m", 0.25, "512Mi", 0.5),
    ("1", 1.0, "1536Mi", 1.5),
    ("0.1", 0.1, "2Gi", 2.0),
    ("1500m", 1.5, "256Mi", 0.25),
];

#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) days: (&'static str, [bool; 7]),
    pub(super) from: u32,
    pub(super) until: u32,
}

impl Window {
    pub(super) fn any(dice: &mut Dice) -> Self {
        let quarter = |dice: &mut Dice, least, most: u64| {
            15 * u32::try_from(least + dice.roll(most - least)).unwrap()
        };
        // No window opens or closes in the hours in which clocks change.
        let from = quarter(dice, 20, 50);
        Self {
            days: dice.of(&DAYS),
            from,
            until: from + quarter(dice, 4, 40).min(22 * 60 - from),
        }
    }

    pub(super) fn text(self) -> String {
        let time = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{} {}-{}", self.days.0, time(self.from), time(self.until))
    }

    pub(super) fn is_open(self, at: DateTime<Utc>, zone: Tz) -> bool {
        let local = at.with_timezone(&zone);
        let day = usize::try_from(local.weekday().num_days_from_monday()).unwrap();
        let minute = local.hour() * 60 + local.minute();
        self.days.1[day] && (self.from..self.until).contains(&minute)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Adopted,
    Running,
    Stopped,
    Woken(DateTime<Utc>),
    Slept(DateTime<Utc>),
    Paused,
    Gone,
}

/// One Deployment, in the namespace with its number.
pub(super) struct Object {
    pub(super) namespace: String,
    pub(super) zone: Tz,
    pub(super) window: Window,
    pub(super) mode: Mode,
    pub(super) count: u32,
    pub(super) saved: Option<u32>,
    pub(super) exact: Option<u32>,
    pub(super) least: u32,
    pub(super) requests: (&'static str, f64, &'static str, f64),
    /// The last action of the schedule that was observed.
    pub(super) was_open: bool,
    /// Whether a boundary passed while no controller ran.
    pub(super) missed: bool,
    pub(super) changes: u32,
    pub(super) hours: [f64; 3],
}

pub(super) const MINUTE: TimeDelta = TimeDelta::minutes(1);

impl Object {
    pub(super) fn any(number: usize, dice: &mut Dice, at: DateTime<Utc>) -> Self {
        let zone = dice.of(&[
            chrono_tz::Europe::Berlin,
            chrono_tz::America::New_York,
            chrono_tz::Asia::Tokyo,
            chrono_tz::Australia::Lord_Howe,
        ]);
        let window = Window::any(dice);
        Self {
            namespace: format!("team-{number}"),
            zone,
            window,
            mode: Mode::Adopted,
            count: 1 + u32::try_from(dice.roll(6)).unwrap(),
            saved: None,
            exact: None,
            least: u32::from(dice.roll(3) == 0),
            requests: dice.of(&REQUESTS),
            was_open: window.is_open(at, zone),
            missed: false,
            changes: 0,
            hours: [0.0; 3],
        }
    }

    pub(super) fn apply(&self, scenario: &Sandbox) {
        let (cpu, _, memory, _) = self.requests;
        let web = deployment("web")
            .namespace(&self.namespace)
            .replicas(self.count)
            .requests(cpu, memory)
            .hours(self.window.text())
            .annotation("dayshift/timezone", self.zone.name())
            .annotation("dayshift/stop-replicas", self.least.to_string());
        scenario.api.apply(web.into()).unwrap();
    }

    pub(super) fn annotate(&self, scenario: &Sandbox, key: &str, text: Option<&str>) {
        let key = format!("dayshift/{key}");
        scenario
            .api
            .annotate(&self.namespace, "web", &key, text)
            .unwrap();
    }

    pub(super) fn start(&mut self, mode: Mode) {
        self.count = match (self.exact, self.saved) {
            (Some(exact), _) => exact,
            (None, Some(saved)) => self.count.max(saved),
            (None, None) => self.count,
        };
        self.saved = None;
        self.mode = mode;
    }

    pub(super) fn stop(&mut self, mode: Mode) {
        self.saved = self.saved.max(Some(self.count));
        self.count = self.count.min(self.least);
        self.mode = mode;
    }

    pub(super) fn obey(&mut self, is_open: bool) {
        self.changes += 1;
        if is_open {
            self.start(Mode::Running);
        } else {
            self.stop(Mode::Stopped);
        }
    }

    /// Whether the workload should run at this minute by its schedule.
    pub(super) fn should_run(&mut self, at: DateTime<Utc>) -> bool {
        let is_open = self.window.is_open(at, self.zone);
        self.missed |= is_open != std::mem::replace(&mut self.was_open, is_open);
        is_open
    }

    /// The controller's actions at this minute.
    pub(super) fn minute(&mut self, at: DateTime<Utc>) {
        let is_open = self.should_run(at);
        let is_boundary = std::mem::take(&mut self.missed);
        match self.mode {
            Mode::Woken(until) | Mode::Slept(until) if at >= until => self.obey(is_open),
            Mode::Adopted | Mode::Running | Mode::Stopped if is_boundary => self.obey(is_open),
            _ => {}
        }
    }

    /// A minute in which the count does not change.
    pub(super) fn pass(&mut self) {
        let held = match self.mode {
            Mode::Stopped | Mode::Slept(_) => {
                let without = self.exact.or(self.saved).unwrap_or_default();
                f64::from(without.saturating_sub(self.count))
            }
            _ => 0.0,
        };
        let (_, cpu, _, memory) = self.requests;
        for (hours, each) in self.hours.iter_mut().zip([1.0, cpu, memory]) {
            *hours += held * each / 60.0;
        }
    }

    /// A manual change.
    pub(super) fn act(&mut self, scenario: &Sandbox, dice: &mut Dice, at: DateTime<Utc>) {
        self.changes += 1;
        let later = at + TimeDelta::minutes(15 * i64::try_from(1 + dice.roll(60)).unwrap());
        let is_calm = matches!(self.mode, Mode::Adopted | Mode::Running | Mode::Stopped);
        let name = "web";
        match (dice.roll(9), self.mode) {
            (_, Mode::Gone) => {
                self.count = 2;
                self.apply(scenario);
                (self.mode, self.saved, self.exact) = (Mode::Adopted, None, None);
            }
            (_, Mode::Paused) => {
                self.annotate(scenario, "pause", None);
                self.mode = Mode::Adopted;
            }
            (0, _) => {
                self.count = 1 + u32::try_from(dice.roll(7)).unwrap();
                let count = i32::try_from(self.count).unwrap();
                scenario.api.scale(&self.namespace, name, count).unwrap();
            }
            (1, _) if is_calm => {
                self.annotate(scenario, "wake-until", Some(&later.to_rfc3339()));
                self.start(Mode::Woken(later));
            }
            (2, _) if is_calm => {
                self.annotate(scenario, "sleep-until", Some(&later.to_rfc3339()));
                self.stop(Mode::Slept(later));
            }
            (3, _) if is_calm => {
                self.annotate(scenario, "pause", Some("true"));
                self.mode = Mode::Paused;
            }
            (4, _) if is_calm => {
                let before = self.window.text();
                self.window = Window::any(dice);
                self.annotate(scenario, "hours", Some(&self.window.text()));
                if self.window.text() != before {
                    self.mode = Mode::Adopted;
                }
                self.was_open = self.window.is_open(at, self.zone);
            }
            (5, _) => {
                self.requests = dice.of(&REQUESTS);
                let (cpu, _, memory, _) = self.requests;
                let requests = json!({"cpu": cpu, "memory": memory});
                let container =
                    json!({"name": "web", "image": "nginx", "resources": {"requests": requests}});
                let patch = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
                let kind = "Deployment";
                scenario
                    .api
                    .merge(kind, &self.namespace, name, &patch)
                    .unwrap();
            }
            (6, _) => {
                self.exact = [None, Some(3), Some(5)][usize::try_from(dice.roll(3)).unwrap()];
                let text = self.exact.map(|it| it.to_string());
                self.annotate(scenario, "replicas", text.as_deref());
            }
            (7, _) => {
                scenario.api.delete(&self.namespace, name).unwrap();
                self.mode = Mode::Gone;
            }
            _ => {}
        }
        scenario.settle();
    }
}
