//! Random rules near random clock changes, compared with the model, and invariants of all
//! schedules.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, TimeDelta, Utc};
use chrono_tz::Tz;
use dayshift_schedule::{
    Action, Boundary, ExcludedDates, ExtraWindows, Hours, Schedule, ScheduleRule, TimedAction,
    Times, TreatedDates, Zone,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use crate::clock_changes::{CHANGES, compare};
use crate::model::{Clocks, moved};
use crate::texts::{Extra, Item, Nth, On, Window, dates_text, joined, treated_text};

/// A zone, and an instant within a day of one of its clock changes, of the end of a month, or on a
/// day without any.
fn places() -> impl Strategy<Value = (Tz, DateTime<Utc>)> {
    let changes = prop::sample::select(CHANGES.as_slice());
    (changes, -30_i64..30, 0..4).prop_map(|((zone, change), hours, place)| {
        let away = match place {
            0 => TimeDelta::days(40),
            1 => TimeDelta::days(i64::from(change.num_days_in_month()) - i64::from(change.day())),
            _ => TimeDelta::zero(),
        };
        (zone, change + TimeDelta::hours(hours) + away)
    })
}

/// Times of day, mostly in the hours in which clocks change.
fn clock_times() -> impl Strategy<Value = NaiveTime> {
    let hour = prop_oneof![5 => 0_u32..4, 1 => 4_u32..23, 2 => Just(23)];
    (hour, 0_u32..12).prop_map(|(hour, five)| NaiveTime::from_hms_opt(hour, five * 5, 0).unwrap())
}

fn days() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0x7f_u8), 2 => 1_u8..0x7f]
}

fn on() -> impl Strategy<Value = On> {
    let nth = (0_usize..5, 0_usize..9).prop_map(|(nth, unit)| Nth(nth, unit));
    prop_oneof![
        days().prop_map(On::Week),
        vec(nth, 1..4).prop_map(On::Month)
    ]
}

fn items(near: NaiveDate) -> impl Strategy<Value = Item> {
    let moment = (-2_i64..3, clock_times())
        .prop_map(move |(day, time)| Item::Moment((near + TimeDelta::days(day)).and_time(time)));
    let minutes = vec((0_u32..12).prop_map(|five| five * 5), 1..4);
    let hours = vec(prop_oneof![3 => 0_u32..4, 1 => 4_u32..24], 1..4);
    prop_oneof![
        (on(), vec(clock_times(), 1..4)).prop_map(|(on, times)| Item::Days(on, times)),
        (minutes, hours, days())
            .prop_map(|(minutes, hours, days)| Item::Cron(minutes, hours, days)),
        moment,
    ]
}

fn windows() -> impl Strategy<Value = Window> {
    (on(), clock_times(), clock_times()).prop_map(|(days, from, to)| {
        // If start and end are equal, it is not a window unless it is the whole day.
        let to = if from == to { NaiveTime::MIN } else { to };
        Window(days, from, to)
    })
}

fn excepted(near: NaiveDate) -> impl Strategy<Value = BTreeSet<NaiveDate>> {
    btree_set(
        (-3_i64..4).prop_map(move |day| near + TimeDelta::days(day)),
        0..4,
    )
}

/// Excluded dates, dates that count as other weekdays, and additional windows.
type Odd = (BTreeSet<NaiveDate>, BTreeMap<NaiveDate, u32>, Vec<Extra>);

fn odd(near: NaiveDate) -> impl Strategy<Value = Odd> {
    let date = (-4_i64..5).prop_map(move |day| near + TimeDelta::days(day));
    let some = btree_map(date, 0_u32..7, 0..5);
    let treated = prop_oneof![1 => Just(BTreeMap::new()), 2 => some];
    let extra = vec(extra(near), 1..4);
    let extra = prop_oneof![2 => Just(Vec::new()), 1 => extra];
    (excepted(near), treated, extra)
}

fn extra(near: NaiveDate) -> impl Strategy<Value = Extra> {
    (-3_i64..4, 0_i64..4, windows()).prop_map(move |(first, length, window)| {
        let first = near + TimeDelta::days(first);
        let last = first + TimeDelta::days(length);
        let extra = Extra(first, last, window);
        if extra.is_possible() {
            extra
        } else {
            Extra(first, last, Window(On::DAILY, extra.2.1, extra.2.2))
        }
    })
}

fn delays() -> impl Strategy<Value = TimeDelta> {
    prop_oneof![Just(0_i64), 1_i64..=3600].prop_map(TimeDelta::seconds)
}

type TimesCase = (Tz, DateTime<Utc>, Vec<Item>, Vec<Item>, Odd, TimeDelta);
type HoursCase = (Tz, DateTime<Utc>, Vec<Window>, Odd, TimeDelta);

fn times_cases() -> impl Strategy<Value = TimesCase> {
    places().prop_flat_map(|(zone, at)| {
        let date = at.with_timezone(&zone).date_naive();
        let items = || vec(items(date), 0..3);
        (Just(zone), Just(at), items(), items(), odd(date), delays())
    })
}

fn hours_cases() -> impl Strategy<Value = HoursCase> {
    places().prop_flat_map(|(zone, at)| {
        let date = at.with_timezone(&zone).date_naive();
        (
            Just(zone),
            Just(at),
            vec(windows(), 1..4),
            odd(date),
            delays(),
        )
    })
}

fn times(items: &[Item]) -> Option<Times> {
    (!items.is_empty()).then(|| Times::parse(&joined(items.iter().map(Item::text))).unwrap())
}

fn schedule(rule: ScheduleRule, (except, treated, extra): &Odd, zone: Tz) -> Schedule {
    let except = match except.len() {
        0 => ExcludedDates::default(),
        _ => ExcludedDates::parse(&dates_text(except)).unwrap(),
    };
    let schedule = Schedule::new(rule, except, Zone::parse(zone.name()).unwrap());
    let schedule = match extra.len() {
        0 => schedule,
        _ => {
            let text = joined(extra.iter().map(Extra::text));
            schedule.with_extra(ExtraWindows::parse(&text).unwrap())
        }
    };
    match treated.len() {
        0 => schedule,
        _ => schedule.with_treated_dates(TreatedDates::parse(&treated_text(treated)).unwrap()),
    }
}

fn times_schedule((zone, _, start, stop, odd, _): &TimesCase) -> Schedule {
    schedule(
        ScheduleRule::start_and_stop(times(start), times(stop)),
        odd,
        *zone,
    )
}

type ScaleCase = (Tz, DateTime<Utc>, Vec<(Item, u32)>, Odd, TimeDelta);

fn scale_cases() -> impl Strategy<Value = ScaleCase> {
    places().prop_flat_map(|(zone, at)| {
        let date = at.with_timezone(&zone).date_naive();
        let steps = vec((items(date), 0_u32..4), 1..6);
        // Additional windows are not allowed beside exact counts.
        let odd = odd(date).prop_map(|(except, treated, _)| (except, treated, Vec::new()));
        (Just(zone), Just(at), steps, odd, delays())
    })
}

fn scale_schedule((zone, _, steps, odd, _): &ScaleCase) -> Schedule {
    // The text is rejected if two of these steps coincide.
    let entry = |(item, count): &(Item, u32)| TimedAction {
        times: Times::parse(&item.text()).unwrap(),
        action: Action::Scale(*count),
    };
    let entries = steps.iter().map(entry).collect();
    schedule(ScheduleRule::Times(entries), odd, *zone)
}

fn hours_schedule((zone, _, windows, odd, _): &HoursCase) -> Schedule {
    let text = joined(windows.iter().map(Window::text));
    schedule(
        ScheduleRule::Hours(Hours::parse(&text).unwrap()),
        odd,
        *zone,
    )
}

fn clocks(zone: Tz, middle: DateTime<Utc>, odd: &Odd) -> Clocks {
    let reach = TimeDelta::days(4);
    let clocks = Clocks::watched(zone, middle - reach, middle + reach);
    clocks.treating(&odd.1).with_extra(&odd.2)
}

/// Invariants of all schedules.
fn check_invariants(schedule: &Schedule, from: DateTime<Utc>, delay: TimeDelta) {
    let until = from + TimeDelta::days(9);
    let all: Vec<Boundary> = schedule.boundaries(from, until, delay).collect();
    let mut at = from - TimeDelta::nanoseconds(1);
    for &boundary in &all {
        assert!(boundary.at > at && boundary.at.timestamp_subsec_nanos() == 0);
        // The result should be the same from any instant since the last boundary.
        let middle = at + (boundary.at - at) / 2;
        for before in [at, middle, boundary.at - TimeDelta::nanoseconds(1)] {
            assert_eq!(
                schedule.next_after(before, delay),
                Some(boundary),
                "after {before}"
            );
        }
        let latest = schedule.latest_at(at, delay);
        assert_eq!(
            schedule.latest_at(boundary.at - TimeDelta::nanoseconds(1), delay),
            latest
        );
        for at in [boundary.at, boundary.at + TimeDelta::milliseconds(999)] {
            assert_eq!(schedule.latest_at(at, delay), Some(boundary), "at {at}");
            assert_eq!(
                schedule.action_at(at, delay),
                Some(boundary.action),
                "at {at}"
            );
        }
        at = boundary.at;
    }
    assert!(
        schedule
            .next_after(at, delay)
            .is_none_or(|next| next.at >= until)
    );
    assert_eq!(schedule.boundaries(from, from, delay).count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn times_agree_with_the_model(case in times_cases()) {
        let (zone, at, start, stop, odd, delay) = &case;
        let [unmoved] =
            clocks(*zone, *at, odd).of_times(start, stop, std::array::from_ref(&odd.0));
        let expected = moved(&unmoved, *delay);
        compare(&times_schedule(&case), &expected, *delay, *at, &format!("{case:?}"));
    }

    #[test]
    fn exact_counts_agree_with_the_model(case in scale_cases()) {
        let (zone, at, steps, odd, delay) = &case;
        let entries: Vec<_> = steps
            .iter()
            .map(|(item, count)| (std::slice::from_ref(item), Action::Scale(*count)))
            .collect();
        let [unmoved] = clocks(*zone, *at, odd).of_entries(&entries, std::array::from_ref(&odd.0));
        let expected = moved(&unmoved, *delay);
        compare(&scale_schedule(&case), &expected, *delay, *at, &format!("{case:?}"));
    }

    #[test]
    fn hours_agree_with_the_model(case in hours_cases()) {
        let (zone, at, windows, odd, delay) = &case;
        let unmoved = clocks(*zone, *at, odd).of_hours(windows, &odd.0);
        let expected = moved(&unmoved, *delay);
        compare(&hours_schedule(&case), &expected, *delay, *at, &format!("{case:?}"));
    }

    #[test]
    fn queries_agree_with_each_other(
        times in times_cases(),
        hours in hours_cases(),
        scale in scale_cases(),
    ) {
        check_invariants(&scale_schedule(&scale), scale.1, scale.4);
        check_invariants(&times_schedule(&times), times.1, times.5);
        check_invariants(&hours_schedule(&hours), hours.1, hours.4);
    }

    #[test]
    fn delay_moves_only_starts_and_none_by_more_than_the_delay(case in times_cases(), delay in 1_i64..=3600) {
        let (schedule, at, delay) = (times_schedule(&case), case.1, TimeDelta::seconds(delay));
        let until = at + TimeDelta::days(9);
        let stops = |delay| {
            let all = schedule.boundaries(at, until, delay);
            all.filter(|it| it.action == Action::Stop).collect::<Vec<_>>()
        };
        prop_assert_eq!(stops(TimeDelta::zero()), stops(delay));
        let unmoved: Vec<_> = schedule.boundaries(at - delay, until, TimeDelta::zero()).collect();
        for moved in schedule.boundaries(at, until, delay) {
            let from = moved.at - if moved.action == Action::Start { delay } else { TimeDelta::zero() };
            let origin = |it: &&Boundary| {
                it.action == moved.action && from <= it.at && it.at <= moved.at
            };
            prop_assert!(unmoved.iter().any(|it| origin(&it)), "{moved}");
        }
    }
}
