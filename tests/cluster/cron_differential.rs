//! Cron expressions compared with robfig/cron v3, whose dialect Kubernetes' CronJob uses.
//!
//! The program in `tests/cron_differential` evaluates thousands of random expressions.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, Offset, TimeDelta, TimeZone, Utc};
use dayshift_schedule::{ExcludedDates, Schedule, ScheduleRule, Times, Zone};
use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;

use crate::rows::rows;
use crate::{
    go_program::{GoProgram, Test, random},
    support::Stage,
};

static ROBFIG: GoProgram = GoProgram::of("cron_differential");

/// All tests, which share one program.
pub(crate) fn trials(stage: &Arc<Stage>) -> Vec<Trial> {
    let tests: [(&str, Test); 3] = [
        ("random_texts_happen_at_the_same_instants", same_instants),
        ("damaged_texts_are_read_and_refused_alike", same_refusals),
        ("clock_changes_differ_as_written_down", known_differences),
    ];
    ROBFIG.trials(stage, &tests)
}

#[derive(Clone, Debug, PartialEq)]
struct Question {
    zone: &'static str,
    text: String,
    at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Next(i64),
    Never,
    Refused,
    /// robfig/cron loops forever.
    Stuck,
}

/// The answers of robfig/cron.
fn ask(robfig: &GoProgram, questions: &[Question]) -> Vec<Answer> {
    let lines: Vec<_> = questions
        .iter()
        .map(|it| format!("{}\t{}\t{}", it.zone, it.text, it.at))
        .collect();
    let answers = robfig.answers(&lines);
    let answer = |line: &String| match &**line {
        "error" => Answer::Refused,
        "never" => Answer::Never,
        "stuck" => Answer::Stuck,
        second => Answer::Next(second.parse().unwrap_or_else(|_| panic!("{line}"))),
    };
    answers.iter().map(answer).collect()
}

/// The schedule of a question, or its error.
fn schedule(question: &Question) -> Result<Schedule, String> {
    let start = Some(Times::parse(&question.text).map_err(|error| error.message())?);
    let rule = ScheduleRule::start_and_stop(start, None);
    let zone = Zone::parse(question.zone).unwrap();
    Ok(Schedule::new(rule, ExcludedDates::default(), zone))
}

fn our_next(schedule: &Schedule, at: i64) -> Answer {
    let at = DateTime::from_timestamp(at, 0).unwrap();
    schedule
        .next_after(at, TimeDelta::zero())
        .map_or(Answer::Never, |next| Answer::Next(next.at.timestamp()))
}

/// Whether clocks change within a day and a half of a time.
fn is_near_change(zone: &str, second: i64) -> bool {
    let zone = Zone::parse(zone).unwrap();
    let offset = |hours: i64| {
        let at = Utc.timestamp_opt(second + hours * 3600, 0).unwrap();
        zone.offset_from_utc_datetime(&at.naive_utc()).fix()
    };
    (-36..=36).any(|hours| offset(hours) != offset(0))
}

const ZONES: [&str; 16] = [
    "UTC",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/London",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "America/Los_Angeles",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Apia",
    "Pacific/Chatham",
];

const MONTHS: [&str; 12] = [
    "Jan", "feb", "MAR", "apr", "May", "jun", "jul", "aug", "sEp", "oct", "nov", "Dec",
];
const DAYS: [&str; 7] = ["Sun", "mon", "TUE", "wed", "thu", "Fri", "sat"];

fn field(least: u32, most: u32, names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let name = move |value: u32, named: bool| match names.get((value - least) as usize) {
        Some(name) if named => (*name).to_owned(),
        _ => value.to_string(),
    };
    let part = (least..=most, least..=most, 1_u32..40, 0..8, any::<bool>()).prop_map(
        move |(a, b, step, kind, named)| {
            let (from, to) = (name(a.min(b), named), name(a.max(b), named));
            match kind {
                0..3 => from,
                3 => format!("{from}-{to}"),
                4 => format!("{from}-{to}/{step}"),
                5 => format!("{from}/{step}"),
                6 => format!("*/{step}"),
                _ => format!("?/{step}"),
            }
        },
    );
    prop_oneof![
        3 => Just("*".to_owned()),
        1 => Just("?".to_owned()),
        6 => prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(",")),
    ]
}

fn cron_texts() -> impl Strategy<Value = String> {
    let fields = (
        prop::option::weighted(0.3, field(0, 59, &[])),
        field(0, 59, &[]),
        field(0, 23, &[]),
        field(1, 31, &[]),
        field(1, 12, &MONTHS),
        field(0, 6, &DAYS),
    );
    let fields = fields.prop_map(|(second, minute, hour, day, month, weekday)| {
        let second = second.map_or_else(String::new, |it| format!("{it} "));
        format!("{second}{minute} {hour} {day} {month} {weekday}")
    });
    let nicknames = prop::sample::select(vec![
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
    ]);
    prop_oneof![30 => fields, 1 => nicknames.prop_map(str::to_owned)]
}

fn questions(texts: impl Strategy<Value = String>) -> impl Strategy<Value = Question> {
    // From 2000 to 2037, for which both time zone databases agree.
    (
        prop::sample::select(ZONES.to_vec()),
        texts,
        946_684_800_i64..2_114_380_800,
    )
        .prop_map(|(zone, text, at)| Question { zone, text, at })
}

fn same_instants(robfig: &GoProgram) -> Result<(), Failed> {
    let questions = random(questions(cron_texts()), 6000);
    let mut compared = 0;
    for (question, theirs) in questions.iter().zip(ask(robfig, &questions)) {
        let schedule = match schedule(question) {
            Ok(schedule) => schedule,
            // A date that never occurs: robfig/cron accepts it, and then finds no time.
            Err(wrong) if has_impossible_date(&wrong) && theirs == Answer::Never => continue,
            Err(_) if is_of_aws(&question.text) => continue,
            Err(wrong) => return Err(format!("{question:?}: {wrong}, but {theirs:?}").into()),
        };
        let ours = our_next(&schedule, question.at);
        let changes = [Answer::Next(question.at), ours, theirs]
            .iter()
            .any(|it| matches!(it, Answer::Next(second) if is_near_change(question.zone, *second)));
        // robfig/cron searches five years, but 29 February can be eight years away.
        let beyond = matches!(ours, Answer::Next(second) if second - question.at > 4 * 31_536_000);
        if changes || beyond && theirs == Answer::Never {
            continue;
        }
        compared += 1;
        if ours != theirs {
            return Err(format!("{question:?}: {ours:?}, but robfig/cron {theirs:?}").into());
        }
    }
    if compared < 5000 {
        return Err(format!("only {compared} of {} could be compared", questions.len()).into());
    }
    Ok(())
}

/// Valid expressions of which some characters were changed.
fn damaged_texts() -> impl Strategy<Value = String> {
    let damage = prop_oneof![
        4 => "[-,/*?0-9 ]{0,2}",
        1 => "[LW#+@a-z]{1,2}",
        1 => prop::sample::select(vec!["60", "7", "8", "31", "Mon", "0", " * ", "--", ",,"])
            .prop_map(str::to_owned),
    ];
    (cron_texts(), any::<prop::sample::Index>(), damage).prop_map(|(text, at, damage)| {
        let at = at.index(text.len());
        format!("{}{damage}{}", &text[..at], &text[at + 1..])
    })
}

fn has_impossible_date(wrong: &str) -> bool {
    wrong.ends_with("is a date that never occurs")
}

/// Whether an expression of six fields might be one of AWS, with a year at the end and no seconds.
fn is_of_aws(text: &str) -> bool {
    let words: Vec<_> = text.split_whitespace().collect();
    matches!(
        *words,
        [_, _, "?", _, _, "*" | "?"] | [_, _, _, _, "?", "*" | "?"]
    )
}

/// Intended differences; `docs/decisions/schedules/cron-text.md` has the reasons.
fn is_known(
    question: &Question,
    ours: &Result<Schedule, String>,
    theirs: Answer,
) -> Option<&'static str> {
    let weekday = question
        .text
        .split_whitespace()
        .next_back()
        .unwrap_or_default();
    match (ours, theirs) {
        (Ok(_), Answer::Refused) if weekday.contains('7') => Some("7 is Sunday"),
        (Err(wrong), Answer::Never) if has_impossible_date(wrong) => {
            Some("a date that never comes is refused")
        }
        // robfig/cron loops forever for `, * * * *`.
        (Err(wrong), _) if wrong.contains("` has no ") => Some("a field of commas is refused"),
        (Err(wrong), _) if wrong.contains("`*` is every value") => Some("`*-5` is refused"),
        (Err(_), _) if is_of_aws(&question.text) => Some("AWS's six fields are refused"),
        (Err(wrong), _) if wrong.contains("has a `+`") => Some("`+5` is refused"),
        _ => None,
    }
}

fn same_refusals(robfig: &GoProgram) -> Result<(), Failed> {
    let questions = random(questions(damaged_texts()), 12_000);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (question, theirs) in questions.iter().zip(ask(robfig, &questions)) {
        let ours = schedule(question);
        let scenario = match (&ours, theirs) {
            (Err(_), Answer::Refused) => "both refuse",
            (Ok(_), Answer::Next(_) | Answer::Never) => "both read",
            _ => is_known(question, &ours, theirs).ok_or_else(|| {
                format!(
                    "{question:?}: {:?}, but robfig/cron {theirs:?}",
                    ours.as_ref().err()
                )
            })?,
        };
        *counts.entry(scenario).or_default() += 1;
    }
    for (scenario, least) in [
        ("both read", 2000),
        ("both refuse", 2000),
        ("7 is Sunday", 5),
    ] {
        let count = counts.get(scenario).copied().unwrap_or_default();
        if count < least {
            return Err(format!("too few to mean anything: {counts:?}").into());
        }
    }
    Ok(())
}

/// Intended differences on these days. robfig/cron steps through local hours: it skips a time in
/// the DST gap for a whole day, and repeats one in the overlap.
fn known_differences(robfig: &GoProgram) -> Result<(), Failed> {
    let second = |text: &str| text.parse::<DateTime<Utc>>().unwrap().timestamp();
    for [zone, text, at, ours, theirs] in rows(
        "
            # DST gap from 02:00 to 03:00: dayshift uses the end of the gap, robfig/cron the next day.
            Europe/Berlin => 30 2 * * * => 2026-03-28T12:00:00Z => 2026-03-29T01:00:00Z => 2026-03-30T00:30:00Z
            # DST overlap from 03:00 back to 02:00: dayshift uses only the first of the two times.
            Europe/Berlin => 30 2 * * * => 2026-10-25T00:30:00Z => 2026-10-26T01:30:00Z => 2026-10-25T01:30:00Z
            Europe/Berlin => */30 * * * * => 2026-10-25T00:30:00Z => 2026-10-25T02:00:00Z => 2026-10-25T01:00:00Z
            # This day has no midnight.
            America/Sao_Paulo => 15 0 * * * => 2018-11-03T12:00:00Z => 2018-11-04T03:00:00Z => 2018-11-05T02:15:00Z
            # 29 February 2100 does not exist: the next one is eight years after the previous one.
            UTC => 0 0 29 2 * => 2098-01-01T00:00:00Z => 2104-02-29T00:00:00Z => never
        "
    ) {
        let question = Question {
            zone,
            text: text.to_owned(),
            at: second(at),
        };
        let found = our_next(&schedule(&question)?, question.at);
        if found != Answer::Next(second(ours)) {
            return Err(format!("{question:?}: {found:?}, not {ours}").into());
        }
        let expected = match theirs {
            "never" => Answer::Never,
            instant => Answer::Next(second(instant)),
        };
        let found = ask(robfig, std::slice::from_ref(&question));
        if found != [expected] {
            return Err(format!("{question:?}: robfig/cron says {found:?}, not {theirs}").into());
        }
    }
    Ok(())
}
