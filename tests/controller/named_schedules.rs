//! Named schedules: a controller whose file of schedules changes while it runs.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::{ScheduleFeed, SchedulePublisher, Settings};
use dayshift_manifest::{ScheduleFile, SourceFile};
use dayshift_workload::{DefaultSchedule, Key, NamedSchedules};
use serde_json::Value;

use crate::sandbox::{Sandbox, cron_job, default_with, deployment};

const OFFICE: &str = "office: {hours: \"Mon-Fri 09:00-19:00\"}\n";
const NIGHT: &str = "night: {start: \"22:00\", stop: \"06:00\"}\n";

/// The schedules of a file with this text.
fn file(text: &str) -> NamedSchedules {
    let file = ScheduleFile::parse(SourceFile::new("schedules.yaml", text));
    let schedules = file.schedules();
    schedules.unwrap_or_else(|error| NamedSchedules::unreadable(&error.to_string()))
}

/// Settings with a file that has this text at first.
fn with_file(text: &str, settings: Settings) -> (SchedulePublisher, Settings) {
    let (publisher, schedules) = ScheduleFeed::open(file(text));
    let settings = Settings {
        schedules,
        ..settings
    };
    (publisher, settings)
}

/// A Friday noon with a controller whose file has this text.
fn noon(text: &str) -> (Sandbox, SchedulePublisher) {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    let (publisher, settings) = with_file(text, Settings::default());
    scenario.start_controller(settings);
    (scenario, publisher)
}

fn edit(scenario: &Sandbox, publisher: &SchedulePublisher, text: &str) {
    publisher.publish(file(text));
    scenario.settle();
}

fn apply_named(scenario: &Sandbox, name: &str, schedule: &str) {
    let web = deployment(name).replicas(3);
    scenario.apply(web.annotation("dayshift/schedule", schedule));
}

fn inherited(scenario: &Sandbox, name: &str) -> Value {
    let object = scenario.object(name);
    let text = object["metadata"]["annotations"]["dayshift/inherited"].as_str();
    serde_json::from_str(text.unwrap_or("null")).unwrap()
}

fn next(scenario: &Sandbox, name: &str) -> Option<String> {
    scenario.label(name, "next")
}

#[test]
fn workload_follows_the_schedule_that_it_names_and_records_its_values() {
    let (scenario, _publisher) = noon(&format!("{OFFICE}{NIGHT}"));
    apply_named(&scenario, "web", "office");
    let api = deployment("api").replicas(2);
    let api = api.annotation("dayshift/schedule", "office");
    scenario.apply(api.annotation("dayshift/timezone", "Asia/Tokyo"));
    scenario.settle();
    assert_eq!(
        next(&scenario, "web").as_deref(),
        Some("2026-11-20T19.00.00Z")
    );
    assert_eq!(
        next(&scenario, "api").as_deref(),
        Some("2026-11-23T00.00.00Z")
    );
    let expected = serde_json::json!({
        "from": "schedule",
        "schedules": {"office": {"hours": "Mon-Fri 09:00-19:00"}},
    });
    assert_eq!(inherited(&scenario, "web"), expected);
    scenario.sleep_until("19:00");
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (0, 2));
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(scenario.replicas("web"), 3);
}

/// A changed schedule acts at its next boundary, and only on the workloads that use it. If it
/// specifies running, those that dayshift stopped start.
#[test]
fn edit_of_the_file_is_an_edit_of_all_workloads_that_use_the_entry() {
    let (scenario, publisher) = noon(&format!("{OFFICE}{NIGHT}"));
    for name in ["web", "api"] {
        apply_named(&scenario, name, "office");
    }
    apply_named(&scenario, "job", "night");
    scenario.apply(deployment("own").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.settle();
    let writes = ["job", "own"].map(|name| scenario.patched(name).len());
    let late = OFFICE.replace("19:00", "11:00");
    edit(&scenario, &publisher, &format!("{late}{NIGHT}"));
    for name in ["web", "api"] {
        assert_eq!(scenario.replicas(name), 3, "the past is not applied");
        let next = next(&scenario, name);
        assert_eq!(next.as_deref(), Some("2026-11-23T09.00.00Z"), "{name}");
        let recorded = &inherited(&scenario, name)["schedules"]["office"]["hours"];
        assert_eq!(recorded, "Mon-Fri 09:00-11:00", "{name}");
    }
    let after = ["job", "own"].map(|name| scenario.patched(name).len());
    assert_eq!(after, writes, "they do not use the entry");
    edit(&scenario, &publisher, &format!("{OFFICE}{NIGHT}"));
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("web"), 0);
    edit(&scenario, &publisher, &OFFICE.replace("19:00", "21:00"));
    assert_eq!(scenario.replicas("web"), 3, "it should run now");
    scenario.sleep_until("21:00");
    assert_eq!(scenario.replicas("web"), 0);
}

#[test]
fn unknown_name_rejects_only_the_workload_and_proposes_the_most_similar_one() {
    let (scenario, publisher) = noon(OFFICE);
    apply_named(&scenario, "typo", "ofice");
    apply_named(&scenario, "new", "lab");
    apply_named(&scenario, "web", "office");
    scenario.settle();
    assert_eq!(
        scenario.error("typo").unwrap(),
        "dayshift/schedule: `ofice` is not a schedule of the file of --schedules; write `office`"
    );
    assert_eq!(scenario.events("typo"), ["InvalidSchedule"]);
    assert_eq!(scenario.error("web"), None);
    scenario.sleep_until("19:00");
    let counts = ["typo", "new", "web"].map(|name| scenario.replicas(name));
    assert_eq!(counts, [3, 3, 0]);
    // The error lists the names, so it changes with the file.
    edit(&scenario, &publisher, &format!("{OFFICE}{NIGHT}"));
    let error = scenario.error("new").unwrap();
    assert!(error.ends_with("write one of night, office"), "{error}");
    edit(
        &scenario,
        &publisher,
        &format!("{OFFICE}lab: {{hours: \"09:00-20:00\"}}\n"),
    );
    assert_eq!(scenario.error("new"), None);
    scenario.sleep_until("20:00");
    assert_eq!(scenario.replicas("new"), 0);
}

#[test]
fn broken_entry_rejects_only_the_workloads_that_use_it() {
    let (scenario, publisher) = noon(&format!("{OFFICE}{NIGHT}"));
    apply_named(&scenario, "web", "office");
    apply_named(&scenario, "job", "night");
    scenario.settle();
    edit(
        &scenario,
        &publisher,
        &format!("office: {{hours: \"Mon-Fry 09:00-19:00\"}}\n{NIGHT}"),
    );
    assert_eq!(
        scenario.error("web").unwrap(),
        "schedule `office`, key `hours`: `Fry` is not a day; write `Mon-Fri 09:00-19:00`"
    );
    assert_eq!(scenario.error("job"), None);
    scenario.sleep_until("19:30");
    assert_eq!(scenario.replicas("web"), 3, "it stays as it is");
    // The same schedule as before: the missed stop is applied.
    edit(&scenario, &publisher, &format!("{OFFICE}{NIGHT}"));
    assert_eq!((scenario.error("web"), scenario.replicas("web")), (None, 0));
}

/// Everything else runs, and its users catch up once it can be read.
#[test]
fn unreadable_file_at_the_start_rejects_only_the_workloads_that_name_a_schedule() {
    let (mut scenario, _publisher) = noon(OFFICE);
    apply_named(&scenario, "web", "office");
    scenario.apply(deployment("own").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.settle();
    scenario.kill_controllers();
    let (publisher, settings) = with_file("- no map", Settings::default());
    scenario.start_controller(settings);
    let error = scenario.error("web").unwrap();
    let expected = "dayshift/schedule: `office` is not known, because the file of schedules cannot be \
                    read: schedules.yaml:1:1: the file is a list, not a map of names";
    assert!(error.starts_with(expected), "{error}");
    scenario.sleep_until("19:30");
    assert_eq!((scenario.replicas("web"), scenario.replicas("own")), (3, 0));
    edit(&scenario, &publisher, OFFICE);
    assert_eq!((scenario.error("web"), scenario.replicas("web")), (None, 0));
}

fn annotate_namespace(scenario: &Sandbox, namespace: &str, schedule: &str) {
    let key = "dayshift/schedule";
    let api = &scenario.api;
    let annotated = api.annotate_of("Namespace", "", namespace, key, Some(schedule));
    annotated.unwrap();
    scenario.settle();
}

/// Its mistakes are reported on it, once, and no workload is written to.
#[test]
fn namespace_names_a_schedule_for_all_its_workloads() {
    let (scenario, publisher) = noon("");
    for name in ["web", "api"] {
        scenario.apply(deployment(name).replicas(3));
    }
    let own = deployment("own").replicas(3).hours("Mon-Fri 09:00-18:00");
    scenario.apply(own);
    annotate_namespace(&scenario, "dev", "office");
    let is_invalid = |count: u8| {
        let line = format!("dayshift_invalid_namespaces {count}\n");
        scenario.metrics().contains(&line)
    };
    scenario.pass(Duration::from_secs(2));
    assert!(is_invalid(1));
    assert_eq!(scenario.events("dev"), ["InvalidSchedule"]);
    assert_eq!(
        (scenario.error("web"), scenario.patched("web").len()),
        (None, 0)
    );
    edit(&scenario, &publisher, OFFICE);
    scenario.pass(Duration::from_secs(2));
    assert!(is_invalid(0));
    assert_eq!(inherited(&scenario, "web")["schedule"], "office");
    scenario.sleep_until("18:00");
    assert_eq!(scenario.replicas("own"), 0, "its own hours win");
    scenario.sleep_until("19:00");
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (0, 0));
    // The entry disappears: its users stay as they are.
    let before = scenario.patched("web").len();
    let reported = scenario.events("dev").len();
    edit(&scenario, &publisher, NIGHT);
    scenario.pass(Duration::from_secs(2));
    assert_eq!(scenario.events("dev").len(), reported + 1);
    scenario.sleep_until("2026-11-23 09:30");
    assert!(is_invalid(1));
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, before)
    );
    edit(&scenario, &publisher, OFFICE);
    assert_eq!(scenario.replicas("web"), 3, "the missed start");
}

#[test]
fn default_schedule_can_be_a_named_one() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(cron_job("report"));
    let name = [(Key::NamedSchedule, "office".to_owned())];
    let (publisher, settings) = with_file(
        "office: {hours: \"Mon-Fri 09:00-19:00\", timezone: Europe/Berlin}\n",
        default_with(|settings| {
            settings.default_schedule = DefaultSchedule::from_texts(name);
            settings.scope.namespaces = vec!["dev".to_owned()];
        }),
    );
    scenario.start_controller(settings);
    assert_eq!(
        next(&scenario, "web").as_deref(),
        Some("2026-11-20T18.00.00Z")
    );
    assert_eq!(inherited(&scenario, "web")["from"], "scaler");
    edit(
        &scenario,
        &publisher,
        "office: {hours: \"Mon-Fri 09:00-19:00\"}\n",
    );
    assert_eq!(
        next(&scenario, "web").as_deref(),
        Some("2026-11-20T19.00.00Z")
    );
    scenario.sleep_until("19:00");
    let job = scenario.api.get("CronJob", "dev", "report").unwrap();
    assert_eq!(
        (scenario.replicas("web"), &job["spec"]["suspend"]),
        (0, &Value::Bool(true))
    );
}

/// The file has an entry that every workload of a large cluster uses. Its edit a second before a
/// boundary of another schedule delays that boundary by less than 50 ms.
#[test]
fn edit_for_many_workloads_delays_no_other() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:59 UTC");
    scenario.api.namespace("other");
    let (publisher, settings) = with_file(OFFICE, Settings::default());
    for number in 0..800 {
        let web = deployment(&format!("web-{number}")).replicas(2);
        let web: Value = web.annotation("dayshift/schedule", "office").into();
        scenario.api.apply(web).unwrap();
    }
    let far = deployment("far").namespace("other").replicas(3);
    scenario.apply(far.stop("19:00"));
    scenario.start_controller(settings);
    scenario.sleep_until("18:59:59");
    edit(&scenario, &publisher, &OFFICE.replace("19:00", "19:30"));
    scenario.sleep_until("19:00");
    assert_eq!(scenario.api.replicas("other", "far"), Some(0));
    let due = scenario.utc("2026-11-20 19:00");
    let requests = scenario.requests("patch");
    let mut stops = requests.iter().filter(|line| line.namespace == "other");
    let late = stops.find(|line| line.at >= due).unwrap().at - due;
    assert!(late.num_milliseconds() < 50, "{late}");
    scenario.sleep_until("19:31");
    for number in [0, 400, 799] {
        let name = format!("web-{number}");
        assert_eq!(
            scenario.patched(&name).len(),
            3,
            "adopted twice, stopped once"
        );
        assert_eq!(scenario.replicas(&name), 0);
    }
}

/// Two controllers read the file at different times: each takes the text of the other for an edit,
/// until both have read it, or three times.
#[test]
fn two_controllers_that_read_the_file_at_different_times_converge() {
    let (mut scenario, first) = noon(OFFICE);
    let (second, settings) = with_file(OFFICE, Settings::default());
    scenario.start_controller(settings);
    apply_named(&scenario, "web", "office");
    scenario.settle();
    let before = scenario.patched("web").len();
    let early = OFFICE.replace("19:00", "18:00");
    edit(&scenario, &first, &early);
    scenario.pass(Duration::from_secs(90));
    edit(&scenario, &second, &early);
    scenario.pass(Duration::from_secs(60));
    let fought = scenario.patched("web").len() - before;
    assert!(fought <= 10, "{fought} writes");
    scenario.sleep_until("17:59");
    let settled = scenario.patched("web").len();
    scenario.sleep_until("18:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, settled + 1)
    );
}

/// A long entry is shared text: it does not use up the budget of a namespace, although each workload
/// has other annotations of its own.
#[test]
fn long_schedule_does_not_count_for_each_workload() {
    let dates = (0..300).map(|day| format!("2027-{:02}-{:02}", day / 28 + 1, day % 28 + 1));
    let dates = dates.collect::<Vec<_>>().join("; ");
    let long = format!("office: {{hours: \"Mon-Fri 09:00-19:00\", except: \"{dates}\"}}\n");
    let (scenario, publisher) = noon(&long);
    for number in 0..400 {
        let web = deployment(&format!("web-{number}")).replicas(2);
        let web = web.annotation("dayshift/schedule", "office");
        let web = web.annotation("dayshift/reason", format!("number {number}"));
        let web: Value = web.into();
        scenario.api.apply(web).unwrap();
    }
    scenario.pass(Duration::from_secs(60));
    edit(&scenario, &publisher, &long.replace("19:00", "18:00"));
    scenario.pass(Duration::from_secs(60));
    for number in 0..400 {
        let name = format!("web-{number}");
        assert_eq!(scenario.error(&name), None, "{name}");
        let next = next(&scenario, &name);
        assert_eq!(next.as_deref(), Some("2026-11-20T18.00.00Z"), "{name}");
    }
}

/// Users can write unknown names, however many and long; objects of other users do not wait for these errors.
#[test]
fn thousand_unknown_names_delay_no_other() {
    let names: String = (0..1_000)
        .map(|number| format!("office-{number}-of-the-company-in-tokyo: {{hours: 09:00-19:00}}\n"))
        .collect();
    let (scenario, _publisher) = noon(&names);
    let far = deployment("far").replicas(3);
    scenario.apply(far.stop("12:01"));
    scenario.sleep_until("12:00:59");
    for number in 0..200 {
        let web = deployment(&format!("web-{number}")).replicas(2);
        let name = format!(
            "ofice-{number}-of-the-company-in-toky{}",
            "x".repeat(number % 9)
        );
        let web: Value = web.annotation("dayshift/schedule", &name).into();
        scenario.api.apply(web).unwrap();
    }
    scenario.sleep_until("12:01:01");
    assert_eq!(scenario.replicas("far"), 0);
    scenario.pass(Duration::from_secs(120));
    assert!(scenario.error("web-199").is_some());
}

/// The hours of a daily start and stop.
type Window = (i64, i64);

/// A workload of the model, which runs 3 replicas or none.
#[derive(Debug)]
struct Follower {
    name: &'static str,
    replicas: i32,
    /// The schedule that was in force last.
    adopted: Option<Window>,
    /// The hour since which its schedule is missing or invalid.
    rejected_since: Option<i64>,
}

impl Follower {
    /// The file changes in this hour, after its beginning. `entry` is the new schedule, if it is valid.
    fn follow(&mut self, entry: Option<Window>, hour: i64) {
        let Some(new) = entry else {
            self.rejected_since.get_or_insert(hour);
            return;
        };
        let rejected_since = self.rejected_since.take();
        let (start, stop) = new;
        if self.adopted == Some(new) {
            // The latest missed boundary is applied.
            let missed = rejected_since.unwrap_or(hour)..hour;
            let missed = missed.rev().map(|before| before + 1);
            let mut missed = missed.filter(|at| [start, stop].contains(&(at % 24)));
            if let Some(latest) = missed.next() {
                self.pass(latest);
            }
            return;
        }
        self.adopted = Some(new);
        let hour = hour % 24;
        let should_run = match start < stop {
            true => (start..stop).contains(&hour),
            false => hour >= start || hour < stop,
        };
        if should_run {
            self.replicas = 3;
        }
    }

    /// An hour begins.
    fn pass(&mut self, hour: i64) {
        match self.adopted.filter(|_| self.rejected_since.is_none()) {
            Some((start, _)) if hour % 24 == start => self.replicas = 3,
            Some((_, stop)) if hour % 24 == stop => self.replicas = 0,
            _ => {}
        }
    }
}

/// Random edits of the file, against a model: an edit takes effect at the next boundary, but a stopped
/// workload starts if it should run now; a workload without a valid schedule stays as it is, and catches up if
/// the same schedule returns.
#[test]
fn random_edits_of_the_file_agree_with_a_simple_model() {
    const WINDOWS: [Window; 4] = [(9, 19), (22, 6), (13, 17), (19, 9)];
    const NAMES: [&str; 3] = ["one", "two", "three"];
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut entries = NAMES.map(|_| Some(random.choice(WINDOWS)));
        // `None` is a missing entry, and `Some(None)` an invalid one.
        let text = |entries: &[Option<Option<Window>>; 3]| -> String {
            let lines = NAMES.iter().zip(entries).map(|(name, entry)| match entry {
                None => String::new(),
                Some(None) => format!("{name}: {{start: \"9 o'clock\"}}\n"),
                Some(Some((start, stop))) => {
                    format!("{name}: {{start: \"{start:02}:00\", stop: \"{stop:02}:00\"}}\n")
                }
            });
            "unused: {hours: 09:00-19:00}\n".to_owned() + &lines.collect::<String>()
        };
        let (scenario, publisher) = noon(&text(&entries));
        let mut followers = NAMES.map(|name| {
            apply_named(&scenario, name, name);
            Follower {
                name,
                replicas: 3,
                adopted: None,
                rejected_since: None,
            }
        });
        scenario.settle();
        let begin = scenario.utc("2026-11-20 12:00");
        for (follower, entry) in followers.iter_mut().zip(entries) {
            follower.adopted = entry.flatten();
        }
        let mut trace = text(&entries);
        for hour in 12..96 {
            let half_past = begin + TimeDelta::minutes((hour - 12) * 60 + 30);
            scenario.sleep_until(&half_past.format("%Y-%m-%d %H:%M").to_string());
            if random.u8(..3) == 0 {
                for entry in &mut entries {
                    match random.u8(..8) {
                        0 => *entry = None,
                        1 => *entry = Some(None),
                        2..=4 => *entry = Some(random.choice(WINDOWS)),
                        _ => {}
                    }
                }
                edit(&scenario, &publisher, &text(&entries));
                trace += &format!("{half_past}: {}", text(&entries));
                for (follower, entry) in followers.iter_mut().zip(entries) {
                    follower.follow(entry.flatten(), hour);
                }
            }
            let compare = |followers: &[Follower; 3], at: &str| {
                for follower in followers {
                    let seen = scenario.replicas(follower.name);
                    let expected = follower.replicas;
                    assert_eq!(seen, expected, "seed {seed}, {at}: {follower:?}\n{trace}");
                }
            };
            compare(&followers, &half_past.to_string());
            let next_hour = half_past + TimeDelta::minutes(30);
            scenario.sleep_until(&next_hour.format("%Y-%m-%d %H:%M").to_string());
            for follower in &mut followers {
                follower.pass(hour + 1);
            }
            compare(&followers, &next_hour.to_string());
        }
    }
}
