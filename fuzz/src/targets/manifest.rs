//! Any text as a manifest, for `plan` and `lint`.

use std::io::{self, Write};

use chrono::{DateTime, Utc};
use dayshift_manifest::{
    SourceFile,
    lint::Linter,
    plan::{Period, Plan, Planner},
};
use dayshift_schedule::Zone;
use dayshift_workload::{KindTable, Prefix};

use super::super::texts::check_printable;

/// A Monday.
const FROM: i64 = 1_795_392_000;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let (Ok(text), Some(from)) = (
        std::str::from_utf8(bytes),
        DateTime::from_timestamp(FROM, 0),
    ) else {
        return;
    };
    let source = SourceFile::new("fuzz.yaml", text);
    plan(&source, from);
    let linter = Linter {
        kinds: dayshift_workload::Kind::DEFAULT.to_vec(),
        from,
        context: Zone::UTC.into(),
        prefix: Prefix::default(),
        namespace: "default".to_owned(),
        inheritance: dayshift_workload::Inheritance::default(),
        schedules: None,
    };
    for finding in linter.lint(std::slice::from_ref(&source)).findings {
        let (_, place) = finding
            .place
            .as_ref()
            .expect("the finding has a place in the file");
        let span = &place.span;
        assert!(text.get(span.clone()).is_some(), "{span:?} of {finding:?}");
        check_printable(&finding.message);
    }
}

fn plan(source: &SourceFile, from: DateTime<Utc>) {
    let prefix = Prefix::default();
    let manifests = source
        .manifests(&prefix, "default", &KindTable::default())
        .workloads;
    let planner = Planner {
        period: Period::days(from, 7, Zone::UTC).expect("a week is a period"),
        context: Zone::UTC.into(),
        prefix,
    };
    let found = manifests.iter().map(|(workload, _)| workload);
    let workloads = found.filter_map(|it| planner.plan(&it.object, &it.inputs, &it.problems));
    let plan = Plan {
        workloads: workloads.collect(),
    };
    // If a schedule has boundaries every second, a week has hundreds of thousands of them.
    if let Err(error) = serde_json::to_writer(LimitedWriter(1 << 16), &plan) {
        assert!(error.is_io(), "{error}");
    }
}

/// Accepts only the first bytes.
struct LimitedWriter(usize);

impl Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.checked_sub(bytes.len());
        self.0 = room.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
