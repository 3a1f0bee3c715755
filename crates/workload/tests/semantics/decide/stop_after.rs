//! `stop-after`: the timer that stops a workload some time after its last start.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use dayshift_workload::{Kind, Label, Phase};
use proptest::prelude::*;

use super::object::{Object, utc};

const REPLICAS: u32 = 3;

/// A Deployment without other times, created and adopted on Friday at 10:00.
fn preview(text: &str) -> Object {
    let now = "2026-11-20 10:00";
    let mut object = Object::new(now, REPLICAS)
        .created_at(now)
        .annotate("stop-after", text);
    object.apply();
    object
}

fn started(object: &Object) -> Option<&str> {
    object.observed.labels.text(Label::Started)
}

fn next(object: &Object) -> String {
    object.next().unwrap()
}

#[test]
fn stops_that_long_after_the_creation_and_stays_stopped() {
    let mut object = preview("8h");
    assert_eq!(started(&object), Some("2026-11-20T10.00.00Z-1"));
    assert_eq!(next(&object), "2026-11-20T18.00.00Z");
    assert_eq!(object.writes, 1);
    object.until("2026-11-20 17:59");
    assert_eq!((object.replicas(), object.writes), (REPLICAS, 1));
    object.until("2026-11-20 18:00");
    assert_eq!(object.replicas(), 0);
    assert_eq!(object.saved(), Some(REPLICAS));
    assert_eq!(object.phase(), Some(Phase::Stopped));
    assert_eq!(next(&object), "never");
    object.restart().until("2026-12-20 10:00");
    assert_eq!((object.replicas(), object.writes), (0, 2));
}

#[test]
fn a_user_who_raises_the_count_restarts_the_timer() {
    let mut object = preview("8h");
    object
        .until("2026-11-20 20:15")
        .scale(2)
        .until("2026-11-20 20:20");
    assert_eq!(started(&object), Some("2026-11-20T20.15.00Z-1"));
    assert_eq!(next(&object), "2026-11-21T04.15.00Z");
    object.until("2026-11-21 04:14");
    assert_eq!(object.replicas(), 2);
    object.until("2026-11-21 04:15");
    assert_eq!(object.replicas(), 0);
    // The controller was down when it was raised: the timer counts from when it is back.
    object.away_until("2026-11-21 06:00").restart().scale(2);
    object
        .away_until("2026-11-21 07:30")
        .restart()
        .until("2026-11-21 07:31");
    assert_eq!(started(&object), Some("2026-11-21T07.30.00Z-1"));
}

#[test]
fn a_manual_stop_ends_the_timer_and_a_later_start_begins_it_again() {
    let mut object = preview("8h");
    object
        .until("2026-11-20 12:00")
        .scale(0)
        .until("2026-11-20 12:01");
    assert_eq!(
        (started(&object), next(&object)),
        (None, "never".to_owned())
    );
    object
        .until("2026-11-20 14:00")
        .scale(1)
        .until("2026-11-20 18:30");
    assert_eq!(
        object.replicas(),
        1,
        "stopped at the time of the first timer"
    );
    assert_eq!(next(&object), "2026-11-20T22.00.00Z");
}

#[test]
fn a_deploy_restarts_the_timer_unless_it_counts_from_the_creation() {
    for (text, expected) in [
        ("8h", "2026-11-20T20.00.00Z"),
        ("8h since creation", "2026-11-20T18.00.00Z"),
    ] {
        let mut object = preview(text);
        object
            .until("2026-11-20 12:00")
            .deploy("2")
            .until("2026-11-20 12:01");
        assert_eq!(next(&object), expected, "{text}");
    }
    // The controller was down during the deploy and at the time of the stop.
    let mut object = preview("8h");
    object.away_until("2026-11-20 19:00").restart().deploy("2");
    object.until("2026-11-20 19:01");
    assert_eq!(object.replicas(), REPLICAS);
    assert_eq!(next(&object), "2026-11-21T03.00.00Z");
}

#[test]
fn a_stop_that_was_missed_is_carried_out() {
    let mut object = preview("8h");
    object.away_until("2026-11-20 19:00").restart().apply();
    assert_eq!(object.replicas(), 0);
}

#[test]
fn deploys_each_minute_write_at_most_once_in_five_minutes() {
    let mut object = preview("8h");
    for minute in 0..60 {
        let at = utc("2026-11-20 10:01") + TimeDelta::minutes(minute);
        object.until(&at.format("%Y-%m-%d %H:%M").to_string());
        object.deploy(&(minute + 2).to_string());
    }
    object.until("2026-11-20 12:00");
    assert!(object.writes <= 1 + 13, "{} writes", object.writes);
    // The last deploy counts, at most five minutes late.
    let stop = object.state().next_at().unwrap();
    let last = utc("2026-11-20 19:00");
    assert!(
        last <= stop && stop <= last + TimeDelta::minutes(5),
        "{stop}"
    );
    assert_eq!(object.reasons(), Vec::<String>::new());
}

#[test]
fn since_creation_counts_from_the_start_once_the_time_has_passed() {
    let mut object = preview("48h since creation");
    assert_eq!(next(&object), "2026-11-22T10.00.00Z");
    object
        .until("2026-11-21 10:00")
        .scale(0)
        .until("2026-11-21 11:00");
    object.scale(1).until("2026-11-21 12:00");
    assert_eq!(next(&object), "2026-11-22T10.00.00Z");
    object.until("2026-11-22 10:00");
    assert_eq!(object.replicas(), 0);
    object
        .until("2026-11-22 12:00")
        .scale(1)
        .until("2026-11-22 12:01");
    assert_eq!(next(&object), "2026-11-24T12.00.00Z");
    // A wake does not move the stop, and its end stops a preview whose time has passed.
    object.until("2026-11-24 12:00");
    object.edit("wake-until", Some("2026-11-24T15:00:00Z"));
    object.until("2026-11-24 14:59");
    assert_eq!(object.replicas(), 1);
    object.until("2026-11-24 15:00");
    assert_eq!((object.replicas(), next(&object)), (0, "never".to_owned()));
}

#[test]
fn an_old_workload_is_not_stopped_when_it_is_adopted() {
    for text in ["8h", "8h since creation"] {
        let mut object = Object::new("2026-11-20 10:00", REPLICAS)
            .created_at("2026-11-01 10:00")
            .annotate("stop-after", text);
        object.apply();
        assert_eq!(object.replicas(), REPLICAS, "{text}");
        assert_eq!(next(&object), "2026-11-20T18.00.00Z", "{text}");
    }
    // The controller was down at the creation.
    let mut object = Object::new("2026-11-20 10:00", REPLICAS)
        .created_at("2026-11-20 07:00")
        .annotate("stop-after", "8h");
    object.apply();
    assert_eq!(next(&object), "2026-11-20T15.00.00Z");
}

#[test]
fn an_edit_counts_from_the_same_start_and_never_acts_on_the_past() {
    let mut object = preview("8h");
    object
        .until("2026-11-20 15:00")
        .edit("stop-after", Some("12h"));
    object.apply();
    assert_eq!(next(&object), "2026-11-20T22.00.00Z");
    object.edit("stop-after", Some("4h")).apply();
    assert_eq!(object.replicas(), REPLICAS);
    assert_eq!(next(&object), "2026-11-20T19.00.00Z");
    object.edit("stop-after", None).apply();
    assert_eq!((started(&object), object.replicas()), (None, REPLICAS));
}

#[test]
fn an_edit_to_since_creation_counts_from_the_creation() {
    let mut object = preview("8h");
    object
        .until("2026-11-20 12:00")
        .deploy("2")
        .until("2026-11-20 12:01");
    assert_eq!(next(&object), "2026-11-20T20.00.00Z");
    object
        .edit("stop-after", Some("12h since creation"))
        .apply();
    assert_eq!(next(&object), "2026-11-20T22.00.00Z");
}

/// The timer would have run out before the controller was back.
#[test]
fn a_start_that_was_missed_for_long_is_not_stopped_at_once() {
    let mut object = Object::new("2026-11-19 20:00", REPLICAS)
        .annotate("hours", "daily 09:00-19:00")
        .annotate("stop-after", "2h");
    object.apply();
    object.until("2026-11-20 08:00");
    assert_eq!(object.replicas(), 0);
    object.away_until("2026-11-20 15:00").restart().apply();
    object.until("2026-11-20 15:01");
    assert_eq!(
        (object.replicas(), next(&object)),
        (REPLICAS, "2026-11-20T17.00.00Z".to_owned())
    );
}

/// The controller is down from the deploy until after the end of the wake.
#[test]
fn a_deploy_at_the_end_of_a_wake_restarts_the_timer() {
    let mut object = Object::new("2026-11-19 20:00", REPLICAS)
        .annotate("hours", "daily 09:00-19:00")
        .annotate("stop-after", "6h");
    object.apply();
    object.until("2026-11-20 10:00");
    object.edit("wake-until", Some("2026-11-20T12:00:00Z"));
    object.until("2026-11-20 11:00");
    object.away_until("2026-11-20 12:30").restart().deploy("2");
    object.until("2026-11-20 12:31");
    assert_eq!(next(&object), "2026-11-20T18.30.00Z");
}

/// The controller is down from the end of the wake until after a user has scaled the workload up.
#[test]
fn a_start_by_a_user_after_a_wake_counts_from_when_it_is_seen() {
    let mut object = preview("4h");
    object.edit("wake-until", Some("2026-11-20T12:00:00Z"));
    object.until("2026-11-20 10:30").scale(0);
    object.until("2026-11-20 11:00");
    assert_eq!(started(&object), None);
    object.away_until("2026-11-20 20:00").restart().scale(2);
    object.until("2026-11-20 20:01");
    assert_eq!(object.replicas(), 2);
    assert_eq!(next(&object), "2026-11-21T00.00.00Z");
}

#[test]
fn a_copy_counts_from_its_own_creation() {
    let mut object = preview("8h");
    object.until("2026-11-20 12:00").copy();
    object.observed.created = utc("2026-11-20 12:00");
    object.apply();
    assert_eq!(next(&object), "2026-11-20T20.00.00Z");
}

#[test]
fn a_wake_restarts_the_timer_and_outranks_it_while_it_lasts() {
    let mut object = preview("2h");
    object.until("2026-11-20 11:00");
    object.edit("wake-until", Some("2026-11-20T11:30:00Z"));
    object.until("2026-11-20 11:31");
    assert_eq!(
        (object.phase(), next(&object)),
        (Some(Phase::Adopted), "2026-11-20T13.00.00Z".to_owned())
    );
    object.edit("wake-until", Some("2026-11-20T18:00:00Z"));
    object.until("2026-11-20 17:59");
    assert_eq!(object.replicas(), REPLICAS);
    object.until("2026-11-20 18:00");
    assert_eq!(object.replicas(), 0, "the time has passed during the wake");
    object.until("2026-11-20 20:00");
    object.edit("wake-until", Some("2026-11-20T20:10:00Z"));
    object.until("2026-11-20 21:59");
    assert_eq!(object.replicas(), REPLICAS);
    object.until("2026-11-20 22:00");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn after_a_sleep_only_a_workload_that_was_running_starts() {
    let sleep = |object: &mut Object, until: &str| {
        object.edit("sleep-until", Some(until));
        object.apply();
        assert_eq!(object.replicas(), 0);
    };
    let mut object = preview("8h");
    object.until("2026-11-20 11:00");
    sleep(&mut object, "2026-11-20T12:00:00Z");
    object.until("2026-11-20 12:01");
    assert_eq!(
        (object.replicas(), next(&object)),
        (REPLICAS, "2026-11-20T20.00.00Z".to_owned())
    );
    // The timer ends during the sleep.
    sleep(&mut object, "2026-11-20T21:00:00Z");
    object.until("2026-11-20 21:01");
    assert_eq!(object.replicas(), 0);
    sleep(&mut object, "2026-11-20T22:00:00Z");
    object.until("2026-11-20 22:01");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn a_pause_stops_the_timer_and_its_end_restarts_one_that_has_passed() {
    let mut object = preview("2h");
    object.edit("pause", Some("2026-11-20T15:00:00Z"));
    object.until("2026-11-20 15:01");
    assert_eq!(object.replicas(), REPLICAS);
    assert_eq!(next(&object), "2026-11-20T17.00.00Z");
    object.edit("pause", Some("2026-11-20T16:00:00Z"));
    object.until("2026-11-20 16:01");
    assert_eq!(next(&object), "2026-11-20T17.00.00Z");
    object.until("2026-11-20 17:00");
    assert_eq!(object.replicas(), 0);
}

/// Hours from 9 to 19 and 4 hours: the timer stops first, and the next morning starts again.
#[test]
fn beside_hours_the_earlier_stop_counts() {
    let mut object = Object::new("2026-11-19 12:00", REPLICAS)
        .annotate("hours", "Mon-Fri 09:00-19:00")
        .annotate("stop-after", "4h");
    object.apply();
    assert_eq!(
        next(&object),
        "2026-11-19T16.00.00Z",
        "counts from the adoption"
    );
    object.until("2026-11-20 08:00");
    assert_eq!(object.replicas(), 0);
    object.until("2026-11-20 09:00");
    assert_eq!(
        (object.replicas(), next(&object)),
        (REPLICAS, "2026-11-20T13.00.00Z".to_owned())
    );
    object.until("2026-11-20 13:00");
    assert_eq!(
        (object.replicas(), next(&object)),
        (0, "2026-11-20T19.00.00Z".to_owned())
    );
    // Neither the end of a pause nor of a sleep starts it, because the timer stopped it last.
    object.edit("pause", Some("2026-11-20T14:00:00Z"));
    object.until("2026-11-20 14:01");
    object.edit("sleep-until", Some("2026-11-20T15:00:00Z"));
    object.until("2026-11-20 15:01");
    assert_eq!(object.replicas(), 0);
    // A user starts it in the afternoon: the hours stop it first.
    object
        .until("2026-11-20 16:30")
        .scale(1)
        .until("2026-11-20 16:31");
    assert_eq!(next(&object), "2026-11-20T19.00.00Z");
    object.until("2026-11-20 19:00");
    assert_eq!((object.replicas(), started(&object)), (0, None));
}

#[test]
fn no_value_of_the_label_keeps_it_running_or_is_fought_over() {
    for text in [
        "2099-01-01T00.00.00Z-1",
        "tomorrow",
        "2026-11-20T10.00.00Z-x",
        "-",
        "",
    ] {
        let text = Some(text).filter(|text| !text.is_empty());
        let mut object = preview("8h");
        object.until("2026-11-20 11:00").label(Label::Started, text);
        object.until("2026-11-20 11:01");
        assert_eq!(started(&object), Some("2026-11-20T10.00.00Z-1"), "{text:?}");
        // Another controller writes it all the time.
        for minute in 0..300 {
            let at = utc("2026-11-20 12:00") + TimeDelta::minutes(minute);
            object.until(&at.format("%Y-%m-%d %H:%M").to_string());
            object.label(Label::Started, text);
        }
        assert!(object.writes <= 1 + 3, "{text:?}: {} writes", object.writes);
        object.until("2026-11-20 18:00");
        assert_eq!(object.replicas(), 0, "{text:?}");
        // A restarted controller counts from its own clock.
        let mut object = preview("8h");
        object.until("2026-11-20 11:00").label(Label::Started, text);
        object.restart().until("2026-11-20 19:00");
        assert_eq!(object.replicas(), 0, "{text:?}");
    }
}

#[test]
fn a_clock_that_was_ahead_does_not_lengthen_the_timer() {
    let mut object = preview("8h");
    // The clock was set back by three hours.
    object.now = utc("2026-11-20 07:00");
    object.apply();
    object.until("2026-11-20 15:00");
    assert_eq!(object.replicas(), 0);
}

#[test]
fn enforce_reverts_a_start_while_the_timer_has_stopped_it() {
    let mut object = preview("8h");
    object.edit("enforce", Some("true"));
    object.until("2026-11-20 19:00");
    let writes = object.writes;
    object.scale(2).until("2026-11-20 19:01");
    assert_eq!((object.replicas(), object.writes), (0, writes + 1));
    assert_eq!(next(&object), "never");
}

#[test]
fn a_kind_that_is_only_suspended_rejects_it_and_does_not_inherit_it() {
    let mut object = Object::new("2026-11-20 10:00", 1).of_kind(&Kind::CRON_JOB);
    object.edit("stop-after", Some("8h")).apply();
    let error = object.observed.error.clone().unwrap();
    assert_eq!(
        &*error,
        "dayshift/stop-after: `8h` has no meaning on a CronJob, nor on any other kind that is only \
            suspended and resumed: only its schedule starts it; remove the annotation"
    );
    let mut object = Object::new("2026-11-20 10:00", 1).of_kind(&Kind::CRON_JOB);
    object.in_namespace(&[("stop-after", "8h")]).apply();
    assert_eq!((object.observed.error.as_deref(), object.writes), (None, 0));
}

#[test]
fn exact_counts_reject_it() {
    let mut object = Object::new("2026-11-20 10:00", 1).annotate("scale", "09:00 = 3; 19:00 = 0");
    object.edit("stop-after", Some("8h")).apply();
    let error = object.observed.error.clone().unwrap();
    assert!(
        error.contains("cannot be combined with `stop-after`"),
        "{error}"
    );
    assert!(error.contains("such as 19:00 = 0"), "{error}");
}

/// One minute of a simple model of the rules. It knows neither labels nor decisions.
#[derive(Debug)]
struct Model {
    has_hours: bool,
    minutes: i64,
    count: u32,
    /// The start from which the timer counts.
    timer: Option<i64>,
    /// The last boundary of the hours: its minute, and whether it was a start.
    hours: Option<(i64, bool)>,
    /// When the timer last ran out, unless a start followed.
    ran_out: Option<i64>,
    /// The end of the active override, and whether it wakes.
    held: Option<(i64, bool)>,
    /// Whether it was running when the sleep began.
    was_running: bool,
}

impl Model {
    fn boundary(&mut self, at: i64) {
        let of_hours = match at.rem_euclid(1440) {
            540 if self.has_hours => Some(true),
            1140 if self.has_hours => Some(false),
            _ => None,
        };
        let ends = |timer: Option<i64>| timer.map(|start| start + self.minutes);
        let runs_out = ends(self.timer) == Some(at) && of_hours.is_none();
        if let Some(start) = of_hours {
            self.hours = Some((at, start));
        } else if runs_out {
            self.ran_out = Some(at);
        }
        match self.held {
            Some((end, _)) if at < end => {}
            Some((_, is_woken)) => {
                self.held = None;
                let hours = self.hours.filter(|hours| Some(hours.0) > self.ran_out);
                let is_start = hours.map(|hours| hours.1);
                let kept = self
                    .timer
                    .filter(|start| is_woken && start + self.minutes > at);
                match is_start.or(self.ran_out.map(|_| false)) {
                    Some(true) => self.start(kept.unwrap_or(at)),
                    Some(false) => self.stop(),
                    None if !is_woken && self.was_running => self.start(at),
                    None => {}
                }
            }
            None => match of_hours {
                Some(true) => self.start(at),
                Some(false) => self.stop(),
                None if runs_out => self.stop(),
                None => {}
            },
        }
    }

    fn start(&mut self, timer: i64) {
        self.count = REPLICAS;
        self.timer = Some(timer);
        self.ran_out = None;
    }

    fn stop(&mut self) {
        self.count = 0;
        self.timer = None;
    }

    /// A user's action; returns whether it is possible.
    fn act(&mut self, action: u8, at: i64) -> bool {
        match action {
            0 if self.held.is_none() && self.count == 0 => self.start(at),
            1 if self.held.is_none() && self.count > 0 => self.stop(),
            2 if self.count > 0 => self.start(at),
            3 if self.held.is_none() => {
                self.held = Some((at + 105, true));
                self.start(at);
            }
            4 if self.held.is_none() => {
                self.held = Some((at + 165, false));
                self.was_running = self.count > 0;
                self.count = 0;
            }
            5 => {}
            _ => return false,
        }
        true
    }
}

fn text(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Users act at half past each hour, and each minute is compared with the model.
    #[test]
    fn every_minute_is_as_in_a_simple_model(
        has_hours in any::<bool>(),
        minutes in 20_i64..700,
        actions in proptest::collection::vec(0_u8..12, 48),
    ) {
        let midnight = utc("2026-11-16 00:00");
        let begin = midnight + TimeDelta::minutes(600);
        let mut object = Object::new("2026-11-16 10:00", REPLICAS).created_at("2026-11-16 10:00");
        object.edit("stop-after", Some(&format!("{minutes}m")));
        object.edit("replicas", Some(&REPLICAS.to_string()));
        if has_hours {
            object.edit("hours", Some("daily 09:00-19:00"));
        }
        object.now = begin;
        object.apply();
        let mut model = Model {
            has_hours, minutes, count: REPLICAS, timer: Some(600), ran_out: None, held: None,
            was_running: false, hours: has_hours.then_some((540, true)),
        };
        let mut revision = 1;
        for minute in 601..600 + 60 * 48 {
            let at = midnight + TimeDelta::minutes(minute);
            model.boundary(minute);
            object.until(&text(at));
            prop_assert_eq!(object.replicas(), model.count, "at {}: {:?} {:?}", at, model, object.state());
            let hour = usize::try_from((minute - 600) / 60).unwrap();
            if minute % 60 == 30 && model.act(actions[hour], minute) {
                let until = |minutes| {
                    let end = at + TimeDelta::minutes(minutes);
                    end.to_rfc3339_opts(SecondsFormat::Secs, true)
                };
                match actions[hour] {
                    0 | 1 => { object.scale(model.count); }
                    2 => {
                        revision += 1;
                        object.deploy(&revision.to_string());
                    }
                    3 => { object.edit("wake-until", Some(&until(105))); }
                    4 => { object.edit("sleep-until", Some(&until(165))); }
                    _ => { object.restart(); }
                }
                object.apply();
                prop_assert_eq!(object.replicas(), model.count, "after {}: {:?}", at, model);
            }
            if model.held.is_none() {
                let hours = [540, 1140].map(|of_day| {
                    let days = (minute - of_day).div_euclid(1440) + 1;
                    days * 1440 + of_day
                });
                let hours = hours.into_iter().filter(|_| has_hours);
                let timed = model.timer.filter(|_| model.count > 0).map(|start| start + minutes);
                let expected = hours.chain(timed).min();
                let next = object.state().next_at();
                let expected = expected.map(|minute| midnight + TimeDelta::minutes(minute));
                prop_assert_eq!(next, expected, "at {}: {:?} {:?}", at, model, object.state());
            }
        }
    }
}
