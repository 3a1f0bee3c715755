//! The recorded costs: a table with a row for each operation.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf, process::Command};

use libtest_mimic::Failed;

use super::measure::Memory;

/// The tolerances. Instructions vary with the processor, because the C library selects its copy functions by
/// it.
const MEMORY_TOLERANCE: f64 = 0.01;
const INSTRUCTION_TOLERANCE: f64 = 0.05;

/// How to record an intended change.
pub(crate) const HOW: &str =
    "if this change is intended, record it: UPDATE_COSTS=1 cargo test --test cost_budgets";

const ABOUT: &str = "\
# The cost of one unit of each operation in the build of `cargo test`: allocations, allocated bytes,
# bytes held at the end, and instructions. Written by: UPDATE_COSTS=1 cargo test --test cost_budgets
";

#[derive(Clone, Copy)]
pub(crate) struct Row {
    memory: Memory,
    instructions: Option<f64>,
}

impl Row {
    pub(crate) fn new(memory: Memory, instructions: Option<f64>) -> Self {
        Self {
            memory,
            instructions,
        }
    }
}

pub(crate) struct Table {
    rows: BTreeMap<String, Row>,
    build: String,
    order: Vec<String>,
}

impl Table {
    pub(crate) fn new(rows: impl IntoIterator<Item = (String, Row)>) -> Self {
        let rows: Vec<_> = rows.into_iter().collect();
        Self {
            order: rows.iter().map(|(name, _)| name.clone()).collect(),
            rows: rows.into_iter().collect(),
            build: this_build(),
        }
    }

    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(path()).unwrap_or_default();
        let build = text.lines().find_map(|line| line.strip_prefix("# build: "));
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let rows: Vec<_> = rows.map(parse).collect();
        Self {
            build: build.unwrap_or_default().to_owned(),
            ..Self::new(rows)
        }
    }

    pub(crate) fn write(&self) {
        let mut text = format!("{ABOUT}# build: {}\n", self.build);
        let widest = self.order.iter().map(String::len).max().unwrap_or_default();
        writeln!(
            text,
            "{:widest$}  {:>12}  {:>12}  {:>12}  {:>14}",
            "", "allocations", "bytes", "held", "instructions"
        )
        .unwrap();
        for name in &self.order {
            let Row {
                memory,
                instructions,
            } = self.rows[name];
            let instructions = instructions.map_or("-".to_owned(), |count| format!("{count:.0}"));
            writeln!(
                text,
                "{name:widest$}  {:12.1}  {:12.1}  {:12.1}  {instructions:>14}",
                memory.allocations, memory.bytes, memory.held
            )
            .unwrap();
        }
        fs::write(path(), text).unwrap();
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.rows.keys().cloned().collect()
    }

    pub(crate) fn compare_memory(&self, name: &str, now: Memory) -> Result<(), Failed> {
        let then = self.row(name)?.memory;
        let figures = [
            ("allocations", then.allocations, now.allocations),
            ("bytes allocated", then.bytes, now.bytes),
        ];
        oracle(&figures, MEMORY_TOLERANCE, LAST_DIGIT)?;
        let held = [("bytes held", then.held, now.held)];
        oracle(&held, MEMORY_TOLERANCE, HASH_TABLES)
    }

    pub(crate) fn compare_instructions(&self, name: &str, now: f64) -> Result<(), Failed> {
        let then = self.row(name)?.instructions.unwrap_or_default();
        let figures = [("instructions", then, now)];
        oracle(&figures, INSTRUCTION_TOLERANCE, LAST_DIGIT)
    }

    /// Why instructions cannot be compared: another compiler or target generates different code.
    pub(crate) fn is_of_another_build(&self) -> Option<String> {
        let this = this_build();
        (self.build != this).then(|| format!("recorded with {}; this is {this}", self.build))
    }

    /// Whether the machine has the same architecture.
    pub(crate) fn is_of_this_target(&self) -> bool {
        let target = |build: &str| build.rsplit(' ').next().map(str::to_owned);
        target(&self.build) == target(&this_build())
    }

    fn row(&self, name: &str) -> Result<&Row, Failed> {
        let missing = || Failed::from(format!("`{name}` is not recorded; {HOW}"));
        self.rows.get(name).ok_or_else(missing)
    }
}

/// Half of the last printed digit.
const LAST_DIGIT: f64 = 0.05;

/// The tolerance for growing hash tables, in bytes for each object. An object that is really held costs at
/// least 8 bytes.
const HASH_TABLES: f64 = 4.0;

fn oracle(figures: &[(&str, f64, f64)], tolerance: f64, slack: f64) -> Result<(), Failed> {
    let off = figures
        .iter()
        .filter(|(_, then, now)| (now - then).abs() > then.abs() * tolerance + slack);
    let lines: Vec<_> = off
        .map(|(quantity, then, now)| {
            let change = 100.0 * (now - then) / then;
            let verdict = if now > then { "more" } else { "less" };
            format!(
                "{quantity}: recorded {then:.1}, measured {now:.1}: {:.1} % {verdict}",
                change.abs()
            )
        })
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{HOW}", lines.join("\n")).into())
}

fn parse(line: &str) -> (String, Row) {
    let cells: Vec<_> = line
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    let [name, allocations, bytes, held, instructions] = cells[..] else {
        panic!("no row of five cells: {line}");
    };
    let number = |text: &str| text.parse().unwrap();
    let memory = Memory {
        allocations: number(allocations),
        bytes: number(bytes),
        held: number(held),
    };
    (name.to_owned(), Row::new(memory, instructions.parse().ok()))
}

/// The compiler and its target.
fn this_build() -> String {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(rustc.stdout).unwrap();
    let of = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap_or_default()
    };
    let how = if cfg!(debug_assertions) {
        ""
    } else {
        ", optimized"
    };
    format!("rustc {} for {}{how}", of("release: "), of("host: "))
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cost_budgets/recorded.txt")
}
