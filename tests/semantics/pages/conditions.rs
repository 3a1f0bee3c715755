//! `docs/reference/status.md` lists each condition of a workload with its levels.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta};
use dayshift_schedule::Action;
use dayshift_workload::{
    Duty, Kind, Overdue, Readiness, Replicas,
    events::{Condition, EnforcedStop, RevertEnd},
};

const PAGE: &str = include_str!("../../../docs/reference/status.md");
const SOURCE: &str = include_str!("../../../crates/workload/src/events/condition.rs");

/// The names of the variants, as they are written.
fn variants() -> BTreeSet<&'static str> {
    let (_, rest) = SOURCE.split_once("pub enum Condition {\n").unwrap();
    let (variants, _) = rest.split_once("\n}\n").unwrap();
    let names = variants.lines().filter_map(|line| {
        let name = line.strip_prefix("    ")?;
        let end = name.find(|letter: char| !letter.is_alphanumeric())?;
        name.starts_with(|first: char| first.is_uppercase())
            .then(|| &name[..end])
    });
    names.collect()
}

/// Each condition, in each of its levels.
fn conditions() -> Vec<Condition> {
    let at = DateTime::UNIX_EPOCH;
    let replicas = Replicas::ONE;
    let ready = |ready| Condition::NotReady {
        replicas: Replicas::new(3),
        readiness: Readiness::Replicas {
            ready: Replicas::new(ready),
            is_current: true,
        },
        since: at,
        within: TimeDelta::minutes(10),
        why: None,
    };
    let reverted = |soon| Condition::Reverted {
        manager: None,
        words: String::new(),
        soon,
        end: RevertEnd::Undecided,
    };
    vec![
        Condition::Overdue {
            overdue: Overdue {
                duty: Duty::Adopt,
                since: None,
                is_start: false,
            },
            is_explained: false,
        },
        Condition::StoppedAgainstSchedule {
            replicas,
            until: None,
        },
        Condition::Waits {
            needed: Vec::new(),
            until: at,
        },
        Condition::IgnoresDependencies(Vec::new()),
        Condition::WaitsForSlot,
        Condition::LeftStopped {
            replicas,
            saved: replicas,
        },
        Condition::Unseen {
            is_inherited: false,
        },
        Condition::SetManually {
            replicas,
            required: None,
            until: None,
        },
        Condition::Deleting,
        reverted(true),
        reverted(false),
        Condition::Contradicted {
            required: Action::Stop,
            replicas,
            until: None,
        },
        Condition::StopsSoon(EnforcedStop::At(at)),
        Condition::CorrectionLimitReached { until: None },
        Condition::LaterVersion,
        Condition::StaysAtZero { is_adopted: false },
        Condition::NoSchedule {
            saved: None,
            overdue: None,
        },
        Condition::NoSchedule {
            saved: None,
            overdue: Some(at),
        },
        Condition::NamespaceAhead,
        Condition::UnknownCalendars,
        ready(0),
        ready(1),
        Condition::StopNotice { at },
        Condition::NoStart,
        Condition::NotCovered(Vec::new()),
        Condition::RequestsIgnored { until: at },
        Condition::Operated {
            by: Kind::DEPLOYMENT,
        },
        Condition::OwnerScheduled {
            owner: String::new(),
            is_copy: false,
        },
        Condition::TargetNotLowered { replicas: 1 },
        Condition::NothingSaved {
            count: replicas,
            may_stay_at_zero: false,
        },
    ]
}

#[test]
fn each_condition_is_on_the_page_with_its_levels() {
    let mut levels: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for condition in conditions() {
        let level = match condition.is_warning() {
            true => "warning",
            false => "note",
        };
        let heading = condition.heading().to_owned();
        levels.entry(heading).or_default().insert(level);
        let name = format!("{condition:?}");
        let end = name.find(|letter: char| !letter.is_alphanumeric());
        names.insert(name[..end.unwrap_or(name.len())].to_owned());
    }
    let names: BTreeSet<_> = names.iter().map(String::as_str).collect();
    assert_eq!(names, variants(), "the conditions of this test");

    let (_, table) = PAGE
        .split_once("| condition | level | meaning |\n")
        .unwrap();
    let rows = table.lines().skip(1);
    let rows = rows.map_while(|row| row.strip_prefix("| ")?.strip_suffix(" |"));
    let mut documented: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let cells: Vec<_> = row.split(" | ").collect();
        let [heading, level, _] = &*cells else {
            panic!("{row}");
        };
        let is_new = documented.insert((*heading).to_owned(), level.split(" or ").collect());
        assert_eq!(is_new, None, "{heading} is listed once");
    }
    assert_eq!(documented, levels);
}
