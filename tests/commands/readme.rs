//! What README.md and docs/holidays.md show of the program is what the program says.

use std::process::Command;

/// Commands that talk to a cluster are tried in `tests/commands/status` and `tests/commands/overrides`.
const ON_A_CLUSTER: [&str; 5] = ["status", "wake", "sleep", "pause", "resume"];

/// Every other shown command of the program with the lines shown below it.
fn shown(page: &str) -> Vec<(String, Vec<String>)> {
    let blocks = page.split("```console\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    let mut shown = Vec::new();
    for block in blocks {
        let (command, output) = block.split_once('\n').unwrap();
        let command = command.replace("$ cargo run --", "$ dayshift");
        if let Some(arguments) = command.strip_prefix("$ dayshift ")
            && !output.is_empty()
            && !ON_A_CLUSTER.contains(&arguments.split(' ').next().unwrap())
        {
            let lines = output.lines().map(str::to_owned).collect();
            shown.push((arguments.to_owned(), lines));
        }
    }
    shown
}

/// `…` stands for lines that are left out; all others follow each other as they are shown.
fn assert_says(output: &str, shown: &[String], command: &str) {
    let said: Vec<&str> = output.lines().collect();
    let mut at = 0;
    let mut left_out = false;
    for line in shown {
        if line == "…" {
            left_out = true;
            continue;
        }
        let found = said[at..].iter().position(|said| said == line);
        match found {
            Some(skipped) if left_out || skipped == 0 => at += skipped + 1,
            _ => panic!("`dayshift {command}` does not say {line:?} there:\n{output}"),
        }
        left_out = false;
    }
}

#[test]
fn every_shown_output_is_real() {
    let readme = shown(include_str!("../../README.md"));
    assert!(readme.len() >= 2, "the README shows the sandbox and a plan");
    let holidays = shown(include_str!("../../docs/holidays.md"));
    assert_eq!(holidays.len(), 1);
    let shown = readme.into_iter().chain(holidays);
    for (command, lines) in shown {
        let output = Command::new(env!("CARGO_BIN_EXE_dayshift"))
            .args(command.split_whitespace())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert_says(&String::from_utf8(output.stdout).unwrap(), &lines, &command);
    }
}
