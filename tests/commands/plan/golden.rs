//! What a person sees: charts and tables, compared to the letter with the files in `golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands golden` writes those files anew; look at the changes
//! before you commit them.

use std::{env, fs, path::Path};

use super::program::plan_with;

const UTF8: (&str, &str) = ("LC_ALL", "C.UTF-8");

/// A run, whose output stands in the golden file of that name.
struct Case {
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    args: &'static str,
    /// What stands on standard input, read with `-f -`.
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
        name: "chart-colour.txt",
        variables: &[UTF8, ("CLICOLOR_FORCE", "1")],
        args: "-o chart -f - --from 2026-11-23",
        input: include_str!("golden/kinds.yaml"),
        status: 1,
    },
    Case {
        name: "chart-without-colour.txt",
        variables: &[UTF8, ("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        args: "-o chart -f - --from 2026-11-23",
        input: include_str!("golden/kinds.yaml"),
        status: 1,
    },
    Case {
        name: "chart-ascii.txt",
        variables: &[("LC_ALL", "C")],
        args: "-o chart -f - --from 2026-11-23",
        input: include_str!("golden/kinds.yaml"),
        status: 1,
    },
    Case {
        name: "chart-79-columns.txt",
        variables: &[UTF8, ("COLUMNS", "79")],
        args: "-o chart -f examples/several-windows.yaml --from 2026-11-23",
        input: "",
        status: 0,
    },
    Case {
        name: "chart-40-columns.txt",
        variables: &[UTF8, ("COLUMNS", "40")],
        args: "-o chart -f - --from 2026-11-23",
        input: include_str!("golden/kinds.yaml"),
        status: 1,
    },
    Case {
        name: "chart-140-columns.txt",
        variables: &[UTF8, ("COLUMNS", "140")],
        args: "-o chart -f examples/several-windows.yaml --from 2026-11-23",
        input: "",
        status: 0,
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
        name: "table-colour.txt",
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
fn golden() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/plan/golden");
    for case in CASES {
        let args: Vec<_> = case.args.split(' ').collect();
        let ended = plan_with(case.variables, &args, case.input);
        assert_eq!(ended.status, case.status, "{}: {ended:?}", case.name);
        let path = folder.join(case.name);
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

#[test]
fn no_line_is_wider_than_the_screen() {
    for columns in ["24", "40", "60", "79", "80", "100", "140", "300"] {
        let args = ["-o", "chart", "-f", "examples", "--from", "2026-11-23"];
        let out = plan_with(&[UTF8, ("COLUMNS", columns)], &args, "").out;
        let widest = out.lines().map(|line| line.chars().count()).max();
        assert!(
            widest <= columns.parse().ok(),
            "{columns}: {widest:?}\n{out}"
        );
    }
}
