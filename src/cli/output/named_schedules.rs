//! The table of `dayshift schedules`.

use std::io::{self, Write};

use chrono::{DateTime, Utc};
use dayshift_operations::status::short_time;
use dayshift_schedule::Zone;
use dayshift_workload::Key;

use crate::cli::output::{
    documents::NamedScheduleEntry,
    table::{Cell, Table},
    terminal::{Paint, Style},
};

/// Writes a row for each schedule.
pub(crate) fn write_schedules_table(
    out: &mut impl Write,
    entries: &[NamedScheduleEntry],
    now: DateTime<Utc>,
    style: Style,
) -> io::Result<()> {
    let mut table = Table::new(["NAME", "WEEK", "TIMEZONE", "NEXT", "WORKLOADS"]);
    for entry in entries {
        table.push(row(entry, now));
    }
    table.write(out, style)
}

fn row(entry: &NamedScheduleEntry, now: DateTime<Utc>) -> [Cell; 5] {
    let value = |key: Key| entry.values.get(key.name()).map(String::as_str);
    let week = match (value(Key::Hours), value(Key::Scale)) {
        (Some(text), _) | (None, Some(text)) => text.to_owned(),
        (None, None) => {
            let times = [Key::Start, Key::Stop];
            let times = times.map(|key| Some(format!("{key} {}", value(key)?)));
            times.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
    };
    let next = entry.next.as_deref().and_then(|next| {
        let at = DateTime::parse_from_rfc3339(next).ok()?;
        let zone = Zone::parse(entry.timezone.as_deref()?).ok()?;
        let action = entry.next_action.as_deref().unwrap_or_default();
        Some(format!("{action} {}", short_time(at.to_utc(), zone, now)))
    });
    let next = match &entry.error {
        Some(_) => Cell::from("invalid").painted(Paint::Red),
        None => next.into(),
    };
    [
        entry.name.as_str().into(),
        week.into(),
        entry.timezone.as_deref().into(),
        next,
        entry.workloads.to_string().into(),
    ]
}
