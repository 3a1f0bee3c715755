//! docs/reference/cli.md contains the help of every command;
//! `UPDATE_GOLDEN=1 cargo test --test commands cli` writes it again.

use std::{env, fmt::Write as _, fs};

use crate::program::dayshift;

const PAGE: &str = "docs/reference/cli.md";

/// The end of the manually written part.
const MARK: &str = "<!-- made from the help of each command -->\n";

/// The commands in `dayshift --help`, without `help` itself.
fn commands(help: &str) -> Vec<&str> {
    let (_, list) = help.split_once("\nCommands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    list.lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .collect()
}

fn sections() -> String {
    let top = dayshift(&["--help"]).out;
    let mut text = format!("\n## dayshift\n\n```text\n{top}```\n");
    for name in commands(&top) {
        let help = dayshift(&[name, "--help"]).out;
        write!(text, "\n## dayshift {name}\n\n```text\n{help}```\n").unwrap();
    }
    text
}

#[test]
fn the_cli_page_contains_the_help_of_every_command() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, shown) = page.split_once(MARK).unwrap();
    let made = sections();
    assert!(made.matches("\n## dayshift ").count() > 12, "{made}");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(PAGE, format!("{before}{MARK}{made}")).unwrap();
    } else {
        assert_eq!(
            shown, made,
            "UPDATE_GOLDEN=1 cargo test --test commands cli"
        );
    }
}
