//! The output shown in README.md and docs/ is the real output, and each command in them is valid.
//!
//! Commands that need a cluster are run by `tests/cluster/e2e/pages.rs` and `leaving.rs`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::program::{Ended, dayshift_with};

/// Commands for a cluster. Their output on the pages is compared in `status/` and in
/// `overrides.rs`.
const ON_A_CLUSTER: [&str; 5] = ["status", "wake", "sleep", "pause", "resume"];

/// README.md must stay short enough to be read.
const LINES_OF_README: usize = 130;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md, the README of the chart, and the pages in docs/ except the decision records and the generated CLI
/// page.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = vec!["README.md".into(), "charts/dayshift/README.md".into()];
    for directory in [
        "docs",
        "docs/guides",
        "docs/concepts",
        "docs/reference",
        "docs/production",
        "docs/contributing",
    ] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let path = Path::new(directory).join(entry.unwrap().file_name());
            let is_generated = path == Path::new("docs/reference/cli.md");
            if path.extension().is_some_and(|it| it == "md") && !is_generated {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The code blocks of a page with their languages.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in page.lines() {
        let fence = line.trim_start().strip_prefix("```");
        match (fence, open.take()) {
            (Some(language), None) => open = Some((language, String::new())),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some((language, text))) => open = Some((language, format!("{text}{line}\n"))),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without an end");
    blocks
}

/// Each command shown on a page, and the output below it.
fn shown(page: &str) -> Vec<(String, Vec<String>)> {
    let mut shown: Vec<(String, Vec<String>)> = Vec::new();
    for (_, block) in blocks(page).iter().filter(|it| it.0 == "console") {
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    let command = command.replace("cargo run --", "dayshift");
                    shown.push((command, Vec::new()));
                }
                None => shown.last_mut().unwrap().1.push(line.to_owned()),
            }
        }
    }
    let ours = |(command, lines): (String, Vec<String>)| {
        let arguments = command.strip_prefix("dayshift ")?.to_owned();
        let name = arguments.split(' ').next()?;
        (!lines.is_empty() && !ON_A_CLUSTER.contains(&name)).then_some((arguments, lines))
    };
    shown.into_iter().filter_map(ours).collect()
}

/// Checks that the shown lines follow each other in the output. `…` marks omitted lines.
fn assert_output_matches(output: &str, shown: &[String], command: &str) {
    let output_lines: Vec<&str> = output.lines().collect();
    let mut at = 0;
    let mut left_out = false;
    for line in shown {
        if line == "…" {
            left_out = true;
            continue;
        }
        let found = output_lines[at..]
            .iter()
            .position(|output_lines| output_lines == line);
        match found {
            Some(skipped) if left_out || skipped == 0 => at += skipped + 1,
            _ => panic!("`dayshift {command}` does not say {line:?} there:\n{output}"),
        }
        left_out = false;
    }
    assert!(
        left_out || at == output_lines.len(),
        "`dayshift {command}` prints more:\n{output}"
    );
}

fn run(arguments: &[String]) -> Ended {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    dayshift_with(&[("LC_ALL", "C.UTF-8")], &arguments, "")
}

#[test]
fn every_shown_output_is_real() {
    let mut tried = BTreeSet::new();
    for (path, page) in pages() {
        for (command, lines) in shown(&page) {
            let ended = run(&words(&command).unwrap());
            assert_output_matches(&ended.out, &lines, &command);
            tried.insert(path.clone());
        }
    }
    for page in ["README.md", "docs/tutorial.md", "docs/guides/preview.md"] {
        assert!(tried.contains(Path::new(page)), "{page} shows no output");
    }
}

/// Splits a line into words as a shell does. `None` if a quote is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') => words.push(String::new()),
            (None, '#' | '|' | '<' | '>' | '$' | ';' | '…') => break,
            _ => words.last_mut()?.push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    quote.is_none().then_some(words)
}

/// The commands in code blocks and in text.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for (_, block) in blocks(page) {
        for line in block.lines().map(str::trim_start) {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            commands.extend(line.strip_prefix("dayshift ").map(str::to_owned));
        }
    }
    let text = page.replace("```", "").replace('\n', " ");
    let spans = text.split('`').skip(1).step_by(2);
    let spans = spans.filter_map(|span| span.strip_prefix("dayshift "));
    commands.extend(spans.map(str::to_owned));
    commands
}

/// Runs the command with `--help` at the end, which parses all arguments but does nothing.
#[test]
fn every_shown_command_is_valid() {
    let mut tried = BTreeSet::new();
    let mut wrong = Vec::new();
    for (path, page) in pages() {
        for command in commands(&page) {
            let Some(mut arguments) = words(&command) else {
                panic!("{}: {command}", path.display());
            };
            if !tried.insert(arguments.clone()) {
                continue;
            }
            arguments.push("--help".to_owned());
            let ended = run(&arguments);
            if ended.status != 0 {
                let error = ended.err;
                wrong.push(format!("{}: dayshift {command}\n{error}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried.len() > 40, "{}", tried.len());
}

#[test]
fn the_first_page_is_short() {
    let lines = include_str!("../../README.md").lines().count();
    assert!(lines <= LINES_OF_README, "{lines} lines");
}
