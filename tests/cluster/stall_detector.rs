//! When a late program is excused: if it had to wait for a processor itself, not if only other programs did.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use libtest_mimic::Trial;

use crate::support::{ChildGuard, Stage, Stall, processor_waits, stall_detector};

/// The duration of each observation.
const TIME: Duration = Duration::from_secs(3);

/// A delay that only a wait of more than half of it excuses.
const LATE: Duration = Duration::from_millis(3600);

pub(crate) fn trials(stage: &Arc<Stage>) -> Vec<Trial> {
    let reported: [(&str, fn()); 2] = [
        ("others_that_wait_excuse_nobody", others_that_wait),
        ("one_that_waits_is_excused", one_that_waits),
    ];
    let trial = |(name, test): (&str, fn())| {
        let stage = Arc::clone(stage);
        Trial::test(format!("stall_detector::{name}"), move || {
            let _alone = stage.alone();
            test();
            Ok(())
        })
    };
    reported.into_iter().map(trial).collect()
}

fn shell(line: &str) -> ChildGuard {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]);
    ChildGuard::spawn(shell.stdout(Stdio::null()), None).unwrap()
}

/// The total processor time that the host withheld so far, over all processors, as Linux counts it (`steal`
/// of <https://docs.kernel.org/filesystems/proc.html>, in hundredths of a second).
fn stolen() -> Duration {
    let counters = fs::read_to_string("/proc/stat").unwrap_or_default();
    let stolen = counters.split_whitespace().nth(8);
    let hundredths = stolen.and_then(|it| it.parse().ok());
    Duration::from_millis(10 * hundredths.unwrap_or(0))
}

/// Whether a program is excused that was observed for this time beside others that use every processor.
/// Repeats if the host itself withheld the processor.
fn is_excused(program: &str) -> bool {
    stall_detector::begin();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let others = (0..6 * processors).map(|_| shell("while :; do :; done"));
    let _others: Vec<_> = others.collect();
    let program = shell(program);
    processor_waits::watch(program.id(), Some(thread::current().id()));
    let (from, before) = (Instant::now(), stolen());
    thread::sleep(TIME);
    // A stall of the host would excuse it too, so half of the delay must exceed that stall.
    let by_host = 2 * stolen().saturating_sub(before);
    Stall::explains(from, Instant::now(), LATE + by_host)
}

fn others_that_wait() {
    assert!(
        !is_excused("exec sleep 60"),
        "an idle program is not excused"
    );
}

fn one_that_waits() {
    if cfg!(target_os = "linux") {
        assert!(
            is_excused("while :; do :; done"),
            "a program that got a seventh of a processor is excused"
        );
    }
}
