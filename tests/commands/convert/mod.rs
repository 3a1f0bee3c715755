//! `dayshift convert`, driven as a person and a pipeline drive it.

mod files;
mod live;

use std::{
    io::Write,
    process::{Command, Stdio},
};

/// The status, standard output and standard error of a run with this standard input.
fn convert(args: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dayshift"))
        .env_clear()
        .env("HOME", "/nonexistent")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("convert")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that reads no input is gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}
