//! Charts and tables, compared with the files in `golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands golden` updates these files; review the changes
//! before you commit them.

use std::{env, fs, path::Path};

use super::program::plan_with;
use crate::program::without_colors;

const UTF8: (&str, &str) = ("LC_ALL", "C.UTF-8");

/// A run, and the golden file with its output.
struct Case {
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    args: &'static str,
    /// Standard input for `-f -`.
    input: &'static str,
    status: i32,
}

const CASES: &[Case] = &[
    Case {
        name: "chart.txt",
        variables: &[UTF8],
        args: "-o chart -f examples --from 2026-11-23",
        input: "",
        status: 0,
    },
    Case {
        name: "chart-color.txt",
        variables: &[UTF8, ("CLICOLOR_FORCE", "1")],
        args: "-o chart -f - --from 2026-11-23",
        input: include_str!("golden/kinds.yaml"),
        status: 1,
    },
    Case {
        name: "chart-40-columns.txt",
        variables: &[UTF8, ("DAYSHIFT_COLUMNS", "40")],
        args: "-o chart -f - --from 2026-11-23",
        input: include_str!("golden/kinds.yaml"),
        status: 1,
    },
    Case {
        name: "chart-autumn.txt",
        variables: &[UTF8],
        args: "-o chart -f examples/overnight.yaml --from 2026-10-28",
        input: "",
        status: 0,
    },
    Case {
        name: "chart-spring.txt",
        variables: &[UTF8],
        args: "-o chart -f examples/office-hours.yaml --from 2027-03-22 --days 30",
        input: "",
        status: 0,
    },
    Case {
        name: "chart-overrides.txt",
        variables: &[UTF8],
        args: "-o chart -f - --from 2026-11-23 --days 4",
        input: include_str!("golden/overrides.yaml"),
        status: 0,
    },
    Case {
        name: "table.txt",
        variables: &[UTF8],
        args: "-o table -f - --from 2026-11-23 --days 2",
        input: include_str!("golden/overrides.yaml"),
        status: 0,
    },
    Case {
        name: "table-color.txt",
        variables: &[UTF8, ("CLICOLOR_FORCE", "1")],
        args: "-o table -f examples/office-hours.yaml --from 2026-11-23 --days 1",
        input: "",
        status: 0,
    },
    Case {
        name: "overrides.json",
        variables: &[],
        args: "-f - --from 2026-11-23 --days 1",
        input: include_str!("golden/overrides.yaml"),
        status: 0,
    },
];

#[test]
fn output_matches_the_golden_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/plan/golden");
    for case in CASES {
        let args: Vec<_> = case.args.split(' ').collect();
        let ended = plan_with(case.variables, &args, case.input);
        assert_eq!(ended.status, case.status, "{}: {ended:?}", case.name);
        let path = directory.join(case.name);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &ended.out).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            ended.out == expected,
            "{} is no longer\n{expected}\nbut\n{}",
            case.name,
            ended.out
        );
    }
}

/// One chart of each kind, with the arguments that change it.
const KINDS: [&str; 6] = ["-o", "chart", "-f", "-", "--from", "2026-11-23"];

#[test]
fn a_colored_chart_differs_only_in_color() {
    let kinds = include_str!("golden/kinds.yaml");
    let forced = ("CLICOLOR_FORCE", "1");
    let [plain, coloured, unwanted] = [
        &[UTF8][..],
        &[UTF8, forced],
        &[UTF8, forced, ("NO_COLOR", "1")],
    ]
    .map(|variables| plan_with(variables, &KINDS, kinds).out);
    assert_ne!(coloured, plain);
    assert_eq!(without_colors(&coloured), plain);
    assert_eq!(unwanted, plain, "color although it is disabled");
}

#[test]
fn an_ascii_chart_has_the_same_layout() {
    for yaml in [
        include_str!("golden/kinds.yaml"),
        include_str!("golden/overrides.yaml"),
    ] {
        let [drawn, ascii] =
            ["C.UTF-8", "C"].map(|locale| plan_with(&[("LC_ALL", locale)], &KINDS, yaml).out);
        let expected = drawn.chars().map(|character| match character {
            '█' => '#',
            '·' => '.',
            '▐' | '▌' | '▕' | '▏' | '▒' => '+',
            '─' | '–' => '-',
            '▓' => 'W',
            '░' => 'z',
            '═' => '=',
            '×' => 'x',
            '▲' => '^',
            '▼' => 'v',
            other => other,
        });
        assert_eq!(ascii, expected.collect::<String>());
        assert!(ascii.is_ascii(), "{ascii}");
    }
}

#[test]
fn a_chart_fits_the_screen() {
    for (columns, pieces) in [
        (24, 12),
        (40, 12),
        (60, 24),
        (79, 48),
        (80, 48),
        (100, 48),
        (140, 96),
        (300, 96),
    ] {
        let args = ["-o", "chart", "-f", "examples", "--from", "2026-11-23"];
        let width = columns.to_string();
        let out = plan_with(&[UTF8, ("DAYSHIFT_COLUMNS", &width)], &args, "").out;
        let widest = out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {widest:?}\n{out}");
        let is_day = |line: &&str| line.starts_with("Sun 29 ");
        let days = out.lines().filter(is_day);
        let day = days.map(|day| day["Sun 29 ".len()..].split("  ").next().unwrap());
        for day in day {
            assert_eq!(day.chars().count(), pieces, "{columns}: {day}\n{out}");
        }
    }
}
