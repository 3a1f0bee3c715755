//! Charts and tables, compared with the files in `golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands golden` updates these files; review the changes
//! before you commit them.

use std::{env, fs, path::Path};

use super::program::plan_with;
use crate::program::without_colors;
use crate::rows::{rows, words};

const UTF8: (&str, &str) = ("LC_ALL", "C.UTF-8");

/// Golden files with the variables, the arguments, the file on standard input and the status of their command.
const CASES: &str = "
    chart.txt => LC_ALL=C.UTF-8 => -o chart -f examples --from 2026-11-23 => none => 0
    chart-color.txt => LC_ALL=C.UTF-8 CLICOLOR_FORCE=1 => -o chart -f - --from 2026-11-23 => kinds.yaml => 1
    chart-40-columns.txt => LC_ALL=C.UTF-8 DAYSHIFT_COLUMNS=40 => -o chart -f - --from 2026-11-23 => kinds.yaml => 1
    chart-autumn.txt => LC_ALL=C.UTF-8 => -o chart -f examples/overnight.yaml --from 2026-10-28 => none => 0
    chart-spring.txt => LC_ALL=C.UTF-8 => -o chart -f examples/office-hours.yaml --from 2027-03-22 --days 30 => none => 0
    chart-overrides.txt => LC_ALL=C.UTF-8 => -o chart -f - --from 2026-11-23 --days 4 => overrides.yaml => 0
    table.txt => LC_ALL=C.UTF-8 => -o table -f - --from 2026-11-23 --days 2 => overrides.yaml => 0
    table-color.txt => LC_ALL=C.UTF-8 CLICOLOR_FORCE=1 => -o table -f examples/office-hours.yaml --from 2026-11-23 --days 1 => none => 0
    overrides.json => LC_ALL=C => -f - --from 2026-11-23 --days 1 => overrides.yaml => 0
";

#[test]
fn output_matches_the_golden_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/plan/golden");
    for [name, variables, args, input, status] in rows(CASES) {
        let variables = words(variables);
        let variables = variables.iter().map(|it| it.split_once('=').unwrap());
        let input = match input {
            "none" => String::new(),
            file => fs::read_to_string(directory.join(file)).unwrap(),
        };
        let ended = plan_with(&variables.collect::<Vec<_>>(), &words(args), &input);
        assert_eq!(ended.status.to_string(), status, "{name}: {ended:?}");
        let path = directory.join(name);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &ended.out).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        let found = &ended.out;
        assert!(
            *found == expected,
            "{name} is no longer\n{expected}\nbut\n{found}"
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
