//! Programs in Go that evaluate values with another library: they answer each line of their standard input
//! with a line. Without Go their tests are ignored; if `CI` is set, they fail.

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, OnceLock},
};

use libtest_mimic::{Completion, Failed, Trial};
use proptest::{
    strategy::{Strategy, ValueTree as _},
    test_runner::TestRunner,
};

use crate::support::Stage;

/// A program of the directory `tests/NAME`, which is built once.
pub(crate) struct GoProgram {
    name: &'static str,
    built: OnceLock<Result<PathBuf, String>>,
}

/// A test that queries the program.
pub(crate) type Test = fn(&GoProgram) -> Result<(), Failed>;

impl GoProgram {
    pub(crate) const fn of(name: &'static str) -> Self {
        Self {
            name,
            built: OnceLock::new(),
        }
    }

    /// Tests that query this program, named after it.
    pub(crate) fn trials(&'static self, stage: &Arc<Stage>, tests: &[(&str, Test)]) -> Vec<Trial> {
        let trial = |(name, test): &(&str, Test)| {
            let (stage, test) = (Arc::clone(stage), *test);
            Trial::ignorable_test(format!("{}::{name}", self.name), move || {
                let _others = stage.among_others();
                match self.path() {
                    Ok(_) => test(self).map(|()| Completion::Completed),
                    Err(reason) if env::var_os("CI").is_some() => Err(reason.into()),
                    Err(reason) => Ok(Completion::ignored_with(reason)),
                }
            })
        };
        tests.iter().map(trial).collect()
    }

    /// The answers to these lines.
    pub(crate) fn answers(&self, questions: &[String]) -> Vec<String> {
        let mut child = Command::new(self.path().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let lines: String = questions.iter().map(|it| format!("{it}\n")).collect();
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success());
        let answers = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<_> = answers.lines().map(str::to_owned).collect();
        assert_eq!(answers.len(), questions.len());
        answers
    }

    fn path(&self) -> Result<&Path, &str> {
        let built = self.built.get_or_init(|| build(self.name)).as_ref();
        built.map(PathBuf::as_path).map_err(String::as_str)
    }
}

/// Builds the program, or returns why it is not available.
fn build(name: &str) -> Result<PathBuf, String> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name);
    // The flags of the control plane's programs, so that all of them share Go's compiled standard library.
    let go = Command::new("go")
        .args(["build", "-gcflags=all=-dwarf=false", "-trimpath"])
        .args(["-buildvcs=false", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(directory)
        .env("CGO_ENABLED", "0")
        .output();
    match go {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(format!(
            "tests/{name} does not build: {}",
            String::from_utf8_lossy(&output.stderr)
                .lines()
                .next()
                .unwrap_or_default()
        )),
        Err(error) => Err(format!("needs Go: {error}")),
    }
}

/// The same values in every run.
pub(crate) fn random<T>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect()
}
