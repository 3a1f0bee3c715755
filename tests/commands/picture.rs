//! The picture in README.md: the week of the examples, drawn from the output of `dayshift plan`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands picture` updates it.

use std::{env, fmt::Write as _, fs, path::Path};

use chrono::{Days, NaiveDate, NaiveDateTime};
use serde_json::Value;

use crate::program::dayshift;

const MONDAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 11, 23).unwrap();

/// The position of the first day, the width of a day, and the height of a row in pixels.
const LEFT: f64 = 180.0;
const DAY: f64 = 94.0;
const TOP: f64 = 30.0;
const ROW: f64 = 34.0;
const BAR: f64 = 20.0;

struct Palette {
    file: &'static str,
    background: &'static str,
    text: &'static str,
    muted: &'static str,
    line: &'static str,
    bar: &'static str,
}

/// Text has a contrast of at least 4.5 to its background; bars and text have at least 3.
const PALETTES: [Palette; 2] = [
    Palette {
        file: "docs/pictures/week-light.svg",
        background: "#ffffff",
        text: "#1f2328",
        muted: "#59636e",
        line: "#d1d9e0",
        bar: "#1a7f37",
    },
    Palette {
        file: "docs/pictures/week-dark.svg",
        background: "#0d1117",
        text: "#f0f6fc",
        muted: "#9198a1",
        line: "#3d444d",
        bar: "#3fb950",
    },
];

/// A workload: its name, its zone, and its running share over time, in days of the week.
struct Row {
    name: String,
    zone: String,
    runs: Vec<(f64, f64, f64)>,
}

/// Days since Monday in the zone of the workload.
fn days(at: &str) -> f64 {
    let local = NaiveDateTime::parse_from_str(&at[..19], "%Y-%m-%dT%H:%M:%S").unwrap();
    let since = local - MONDAY.and_hms_opt(0, 0, 0).unwrap();
    since.as_seconds_f64() / 86_400.0
}

fn row(workload: &Value) -> Row {
    let text = |key: &str| workload[key].as_str().unwrap().to_owned();
    let boundaries = workload["boundaries"].as_array().unwrap();
    assert_eq!(workload["problems"], Value::Array(Vec::new()));
    let counts = boundaries.iter().filter_map(|it| it["replicas"].as_f64());
    let most = counts.fold(1.0, f64::max);
    let mut runs: Vec<(f64, f64, f64)> = Vec::new();
    // The plan begins a week earlier, so that the state on Monday is known.
    let (mut since, mut level) = (f64::NEG_INFINITY, 0.0);
    let end = [(7.0, 0.0)];
    let changes = boundaries.iter().map(|it| {
        let level = it["replicas"].as_f64().map_or(1.0, |count| count / most);
        (days(it["at"].as_str().unwrap()), level)
    });
    for (at, next) in changes.chain(end) {
        if next != level {
            if level > 0.0 && at > 0.0 {
                runs.push((since.max(0.0), at.min(7.0), level));
            }
            (since, level) = (at, next);
        }
    }
    Row {
        name: text("name"),
        zone: text("timezone"),
        runs,
    }
}

fn rows() -> Vec<Row> {
    let from = (MONDAY - Days::new(7)).to_string();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let plan = ["plan", "-f", examples.to_str().unwrap(), "-o", "json"];
    let span = ["--from", &from, "--days", "14"];
    let planned = dayshift(&[&plan[..], &span].concat());
    assert_eq!((planned.status, planned.err.as_str()), (0, ""));
    let planned = planned.json();
    let workloads = planned["workloads"].as_array().unwrap();
    workloads.iter().map(row).collect()
}

fn drawn(rows: &[Row], palette: &Palette) -> String {
    let Palette {
        background,
        text,
        muted,
        line,
        bar,
        ..
    } = palette;
    let (width, bottom) = (LEFT + 7.0 * DAY + 12.0, TOP + rows.len() as f64 * ROW);
    let height = bottom + 26.0;
    let mut svg = String::new();
    writeln!(svg, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="system-ui, sans-serif" font-size="13">"#).unwrap();
    let sunday = MONDAY + Days::new(6);
    writeln!(
        svg,
        "<title>When the examples run, {MONDAY} to {sunday}</title>"
    )
    .unwrap();
    let hours = rows.iter().map(|row| {
        let hours: f64 = row
            .runs
            .iter()
            .map(|(from, to, _)| (to - from) * 24.0)
            .sum();
        format!("{} {hours:.1} h", row.name)
    });
    let hours = hours.collect::<Vec<_>>().join(", ");
    writeln!(svg, "<desc>Of 168 hours run: {hours}.</desc>").unwrap();
    writeln!(
        svg,
        r#"<rect width="{width}" height="{height}" fill="{background}"/>"#
    )
    .unwrap();
    for day in 0..=7_u32 {
        let x = LEFT + f64::from(day) * DAY;
        writeln!(svg, r#"<path d="M{x} {TOP}V{bottom}" stroke="{line}"/>"#).unwrap();
        if day < 7 {
            let date = (MONDAY + Days::new(day.into())).format("%a %-d");
            let (x, y) = (x + DAY / 2.0, TOP - 10.0);
            writeln!(
                svg,
                r#"<text x="{x}" y="{y}" fill="{muted}" text-anchor="middle">{date}</text>"#
            )
            .unwrap();
        }
    }
    for (row, y) in rows.iter().zip(0_u32..) {
        let y = TOP + f64::from(y) * ROW;
        let (name, zone) = (&row.name, &row.zone);
        writeln!(
            svg,
            r#"<text x="12" y="{}" fill="{text}">{name}</text>"#,
            y + 15.0
        )
        .unwrap();
        writeln!(
            svg,
            r#"<text x="12" y="{}" fill="{muted}" font-size="10">{zone}</text>"#,
            y + 28.0
        )
        .unwrap();
        for (from, to, level) in &row.runs {
            let (x, wide, high) = (LEFT + from * DAY, (to - from) * DAY, level * BAR);
            let y = y + 7.0 + BAR - high;
            writeln!(
                svg,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{wide:.1}" height="{high:.1}" fill="{bar}"/>"#
            )
            .unwrap();
        }
    }
    writeln!(
        svg,
        r#"<text x="{LEFT}" y="{}" fill="{muted}" font-size="11">Local times. The height of a bar is its share of the largest count.</text>"#,
        bottom + 17.0
    )
    .unwrap();
    svg + "</svg>\n"
}

#[test]
fn the_picture_matches_the_plan_of_the_examples() {
    let rows = rows();
    let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    assert!(names.contains(&"office-hours"), "{names:?}");
    for palette in &PALETTES {
        let svg = drawn(&rows, palette);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(palette.file);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &svg).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap();
        assert!(
            svg == committed,
            "{} is outdated: run with UPDATE_GOLDEN=1",
            palette.file
        );
        let file = palette.file;
        assert_contains!(include_str!("../../README.md"), file);
    }
}

/// The expected bars follow from `examples/office-hours.yaml`.
#[test]
fn office_hours_are_five_bars_of_ten_hours() {
    let rows = rows();
    let office = rows.iter().find(|row| row.name == "office-hours").unwrap();
    let shown: Vec<_> = office
        .runs
        .iter()
        .map(|(from, to, level)| format!("{from:.3} {to:.3} {level}"))
        .collect();
    let expected: Vec<_> = (0..5)
        .map(|day| format!("{day}.375 {:.3} 1", f64::from(day) + 19.0 / 24.0))
        .collect();
    assert_eq!(shown, expected);
}
