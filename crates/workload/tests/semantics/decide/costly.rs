//! The cost of one decision for any annotations of up to 4 kB. If one object cost more, it could
//! delay all others.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use chrono::TimeDelta;
use dayshift_workload::Decision;
use proptest::{
    prelude::*,
    test_runner::{TestRng, TestRunner},
};
use rustix::time::{ClockId, clock_gettime};

use crate::decide::object::Object;

/// The maximum CPU time of one decision in a test build: five times that of the most expensive
/// annotations. When a search visited every boundary, one hour of boundaries took 20 s.
const BUDGET: Duration = Duration::from_millis(40);

/// The number of decisions in a row, each at the time for which the previous one waits.
const DECISIONS: usize = 6;

fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// Joins items until 4 kB are reached. `nth` returns an item by its index.
fn filled(nth: impl Fn(usize) -> String) -> String {
    let mut text = nth(0);
    for item in (1..2_000).map(nth) {
        if text.len() + 2 + item.len() > 4_096 {
            break;
        }
        text += "; ";
        text += &item;
    }
    text
}

/// Hundreds of cron expressions or days of the month that coincide, or that occur once in several
/// years. Either one kind of item or a mixture.
fn times() -> impl Strategy<Value = Vec<String>> {
    let time = prop::sample::select(vec!["M H", "M H", "M *", "* H", "*/2 *", "0 M H"]);
    let date = prop::sample::select(vec!["*", "13", "29", "31", "1-31", "*/2", "D"]);
    let month = prop::sample::select(vec!["*", "2", "2", "1-12", "*/6", "3,10"]);
    let weekday = prop::sample::select(vec!["*", "*", "0", "1-5", "0-6", "1,3"]);
    let cron = (time, date, month, weekday);
    let cron =
        cron.prop_map(|(time, date, month, weekday)| format!("{time} {date} {month} {weekday}"));
    let at = prop::sample::select(vec![
        "H:M",
        "Sat,Sun H:M",
        "first Mon H:M",
        "last day H:M",
        "first weekday,second Tue H:M",
    ]);
    let item = prop_oneof![6 => cron, 1 => at.prop_map(str::to_owned)];
    prop::collection::vec(item, 1..4)
}

/// The item with this index, at a different time.
fn at(items: &[String], nth: usize) -> String {
    let item = &items[nth % items.len()];
    let (minute, hour) = (nth % 60, nth / 60 % 24);
    let item = item.replace('D', &(1 + nth % 28).to_string());
    if item.ends_with("H:M") {
        return item.replace("H:M", &format!("{hour:02}:{minute:02}"));
    }
    // With seconds, the time of day has three fields.
    let mut fields: Vec<_> = item.split(' ').map(str::to_owned).collect();
    for field in fields.iter_mut().take(3) {
        *field = match &**field {
            "M" => minute.to_string(),
            "H" => hour.to_string(),
            other => other.to_owned(),
        };
    }
    fields.join(" ")
}

fn windows() -> impl Strategy<Value = Vec<String>> {
    let days = prop::sample::select(vec![
        "",
        "Mon-Fri ",
        "Sat ",
        "first Sat ",
        "last day ",
        "second Tue,last weekday ",
    ]);
    let window = (days, 0..24_u32, 0..24_u32, 0..60_u32);
    let window = window.prop_map(|(days, from, to, minute)| {
        format!("{days}{from:02}:00-{to:02}:{:02}", minute.max(1))
    });
    prop::collection::vec(window, 1..60)
}

fn schedule() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let all = |items: &[String]| filled(|nth| at(items, nth));
    prop_oneof![
        // With the same times for both, no stop has an effect.
        times().prop_map(move |it| vec![("start", all(&it)), ("stop", all(&it))]),
        (times(), times())
            .prop_map(move |(start, stop)| vec![("start", all(&start)), ("stop", all(&stop)),]),
        windows().prop_map(|it| vec![("hours", filled(|nth| it[nth % it.len()].clone()))]),
        times().prop_map(|it| vec![("scale", filled(|nth| format!("{} = 3", at(&it, nth))))]),
    ]
}

/// Dates of each kind that a search skips.
fn dates() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let except = prop::sample::select(vec![
        "",
        "2026-12-28..2027-01-03",
        "1970-01-01..2199-12-31",
        "2027-01-01..2199-11-30",
    ]);
    let treat = prop::sample::select(vec!["", "2026-12-01..2190-01-01 = Sun", "2026-11-28 = Mon"]);
    let jitter = prop::sample::select(vec!["", "1h", "7m", "1s"]);
    let zone = prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe"]);
    (except, treat, jitter, zone).prop_map(|(except, treat, jitter, zone)| {
        let all = [
            ("except", except),
            ("treat-as", treat),
            ("jitter", jitter),
            ("timezone", zone),
        ];
        all.into_iter()
            .filter(|(_, text)| !text.is_empty())
            .collect()
    })
}

#[test]
fn a_decision_on_any_annotations_stays_within_the_cpu_budget() {
    let mut config = ProptestConfig::with_cases(250);
    config.failure_persistence = None;
    let most = RefCell::new((Duration::ZERO, String::new()));
    let refused = Cell::new(0);
    // A fixed seed gives the same cases in each run.
    let mut runner = TestRunner::new_with_rng(
        config.clone(),
        TestRng::deterministic_rng(config.rng_algorithm),
    );
    let cases = (schedule(), dates(), 0..400_i64);
    runner
        .run(&cases, |(schedule, dates, hours)| {
            let mut web = Object::new("2026-11-20 18:00", 3);
            web.now += TimeDelta::hours(hours);
            for (key, text) in &schedule {
                web.edit(key, Some(text));
            }
            for (key, text) in &dates {
                web.edit(key, Some(text));
            }
            for _ in 0..DECISIONS {
                let before = cpu_time();
                let decision = web.decide();
                let took = cpu_time() - before;
                let texts = || format!("{schedule:?}, {dates:?} at {}", web.now);
                prop_assert!(took < BUDGET, "{took:?}: {}", texts());
                if took > most.borrow().0 {
                    most.replace((took, texts()));
                }
                match decision {
                    Decision::Write(change) => {
                        refused.set(refused.get() + usize::from(change.error.is_some()));
                        web.write(change);
                    }
                    Decision::Wait { due: Some(due) } => web.now = due,
                    _ => break,
                }
            }
            Ok(())
        })
        .unwrap();
    let (most, refused) = (most.into_inner(), refused.get());
    println!("at most {:?}: {:.300}", most.0, most.1); // printed if the test fails
    assert!(refused < 200, "{refused} schedules are rejected");
}
