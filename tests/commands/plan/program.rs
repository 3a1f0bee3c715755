//! Helpers that run `dayshift plan`.

use serde_json::Value;

pub(crate) use crate::program::web;
use crate::program::{Ended, dayshift_with};
use crate::rows::words;

impl Ended {
    /// The boundaries of the only workload: time, action, and count or `-`.
    pub(crate) fn boundaries(&self) -> Vec<String> {
        let plan = self.json();
        let workloads = plan["workloads"].as_array().unwrap();
        assert_eq!((self.status, workloads.len()), (0, 1), "{self:?}");
        let line = |it: &Value| {
            let count = it["replicas"].as_u64();
            let count = count.map_or_else(|| "-".to_owned(), |it| it.to_string());
            format!(
                "{} {} {count}",
                it["at"].as_str().unwrap(),
                it["action"].as_str().unwrap()
            )
        };
        workloads[0]["boundaries"]
            .as_array()
            .unwrap()
            .iter()
            .map(line)
            .collect()
    }
}

/// Runs `plan` with this standard input, as JSON unless the arguments contain another format.
pub(crate) fn plan_of(args: &[&str], input: &str) -> Ended {
    plan_with(&[], args, input)
}

/// With these variables.
pub(crate) fn plan_with(variables: &[(&str, &str)], args: &[&str], input: &str) -> Ended {
    let output: &[_] = if args.contains(&"-o") {
        &[]
    } else {
        &["-o", "json"]
    };
    dayshift_with(variables, &[&["plan"], args, output].concat(), input)
}

pub(crate) fn plan(args: &[&str]) -> Ended {
    plan_of(args, "")
}

/// The calendar of files has an event for each start, stop and excluded date.
#[test]
fn plan_writes_a_calendar_for_calendar_programs() {
    let web = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: \
               {dayshift/hours: 'Mon-Fri 09:00-19:00', dayshift/except: '2026-11-25', \
               dayshift/timezone: Asia/Tokyo}}, spec: {replicas: 3}}";
    let args = words("plan -f- -oics --from=2026-11-23 --days=3 --timezone=Asia/Tokyo");
    let ran = dayshift_with(&[], &args, web);
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<_> = ran.out.split_terminator("\r\n").collect();
    assert_eq!(lines.first(), Some(&"BEGIN:VCALENDAR"));
    assert_eq!(lines.last(), Some(&"END:VCALENDAR"));
    let begins: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("DTSTART"))
        .collect();
    let expected = [
        "DTSTART:20261123T000000Z",
        "DTSTART:20261123T100000Z",
        "DTSTART:20261124T000000Z",
        "DTSTART:20261124T100000Z",
        "DTSTART;VALUE=DATE:20261125",
    ];
    assert_eq!(begins, expected.iter().collect::<Vec<_>>());
    assert!(lines.contains(&"SUMMARY:Start web (default)"), "{lines:?}");
    assert!(lines.contains(&"SUMMARY:No starts (default)"), "{lines:?}");
}
