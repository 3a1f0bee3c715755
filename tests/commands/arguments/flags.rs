//! docs/reference/flags.md contains the flags of `dayshift run` as in its help. `UPDATE_GOLDEN=1
//! cargo test --test commands flags` updates it.

use std::{env, fmt::Write as _, fs};

use crate::program::dayshift;

const PAGE: &str = "docs/reference/flags.md";

/// The generated tables follow this line.
const MARK: &str = "<!-- made from `dayshift run --help` -->\n";

/// A flag of the help and the lines below it.
struct Flag {
    name: String,
    help: String,
}

/// The tables of the page, one for each heading of the help.
fn tables(help: &str) -> String {
    let (_, help) = help.split_once("\nOptions:\n").unwrap();
    let (help, _) = help.split_once("\nEach flag can be set").unwrap();
    let mut text = String::new();
    let mut flags: Vec<Flag> = Vec::new();
    let write = |text: &mut String, flags: &mut Vec<Flag>| {
        for Flag { name, help } in flags.drain(..) {
            let (help, default) = match help.split_once(" [default: ") {
                Some((help, rest)) => (help.to_owned(), rest.split(']').next().unwrap()),
                None => (help, ""),
            };
            let default = match default {
                "" => String::new(),
                text if text.contains(' ') => format!(" (default: {text})"),
                text => format!(" (default: `{text}`)"),
            };
            writeln!(text, "- `{name}`{default}: {help}").unwrap();
        }
    };
    for line in help.lines() {
        let words = line.trim();
        if let Some(heading) = line.strip_suffix(':').filter(|it| !it.starts_with(' ')) {
            write(&mut text, &mut flags);
            writeln!(text, "\n## {heading}\n").unwrap();
        } else if words.starts_with('-')
            && line.starts_with("  ")
            && !line.starts_with("          ")
        {
            flags.push(Flag {
                name: words.to_owned(),
                help: String::new(),
            });
        } else if let Some(flag) = flags.last_mut().filter(|_| !words.is_empty()) {
            let gap = if flag.help.is_empty() { "" } else { " " };
            write!(flag.help, "{gap}{words}").unwrap();
        }
        // The flags that all commands share come before the first heading.
        if text.is_empty() && words.is_empty() {
            flags.clear();
        }
    }
    write(&mut text, &mut flags);
    text
}

#[test]
fn the_flags_page_matches_the_help() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, shown) = page.split_once(MARK).unwrap();
    let made = tables(&dayshift(&["run", "--help"]).out);
    assert!(made.matches("\n- `").count() > 30, "{made}");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(PAGE, format!("{before}{MARK}{made}")).unwrap();
    } else {
        assert_eq!(
            shown, made,
            "UPDATE_GOLDEN=1 cargo test --test commands flags"
        );
    }
}
