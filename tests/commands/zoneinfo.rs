//! Time zones in a directory that is newer than the bundled ones.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{
    bad_server::ABSENT,
    program::{Program, dayshift, dayshift_with},
    zone_file::zone_file,
};

struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        let directory = Self(TempDir::new().unwrap());
        directory.write("tzdata.zi", b"# version 2027c\n# more\n");
        directory.write("Asia/Tokyo", &zone_file(10 * 3600, "<NEW>-10"));
        directory
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn write(&self, name: &str, contents: &[u8]) {
        fs::write(self.file(name), contents).unwrap();
    }

    /// The times of a day of `09:00-19:00` in a zone, and the messages.
    fn plan(&self, zone: &str) -> (String, String) {
        let args = ["--zoneinfo", self.path(), "--timezone", zone];
        let ran = dayshift_with(&[], &[&PLAN[..], &args].concat(), DEPLOYMENT);
        let times = ran.json()["workloads"][0]["boundaries"][0]["at"].to_string();
        (times, ran.err)
    }
}

const PLAN: [&str; 6] = [
    "plan",
    "-f-",
    "-ojson",
    "--from=2026-11-25",
    "--days=1",
    "--annotation-prefix=dayshift",
];
const DEPLOYMENT: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, \
    annotations: {dayshift/start: '09:00'}}, spec: {replicas: 1}}";

#[test]
fn uses_the_zones_of_a_directory() {
    let directory = Directory::new();
    let (at, output) = directory.plan("Asia/Tokyo");
    assert_eq!(
        (at.as_str(), output.as_str()),
        ("\"2026-11-25T09:00:00+10:00\"", "")
    );
    // Another name of the same zone, and a zone that the directory lacks.
    assert_ends_with!(directory.plan("Japan").0, "+10:00\"");
    assert_ends_with!(directory.plan("Europe/Berlin").0, "+01:00\"");

    let variable = [("DAYSHIFT_ZONEINFO", directory.path())];
    let version = dayshift_with(&variable, &["--version"], "");
    let expected = format!("(tzdata 2027c, {})\n", directory.path());
    assert_ends_with!(version.out, expected);
    let bundled = [&PLAN[..], &["--timezone=Asia/Tokyo", "--zoneinfo=bundled"]].concat();
    let ran = dayshift_with(&variable, &bundled, DEPLOYMENT);
    ran.assert_out("T09:00:00+09:00");
    assert_ends_with!(dayshift(&["--version"]).out, ", bundled)\n");
}

#[test]
fn accepts_a_zone_that_only_the_directory_contains() {
    let directory = Directory::new();
    directory.write("Mars/Olympus_Mons", &zone_file(3600, "<OLY>-1"));
    assert_ends_with!(directory.plan("Mars/Olympus_Mons").0, "+01:00\"");
    let args = [
        "plan",
        "-f-",
        "--timezone",
        "Mars/Olympus_Mon",
        "--zoneinfo",
        directory.path(),
    ];
    let ran = dayshift_with(&[], &args, DEPLOYMENT);
    ran.assert_err("Mars/Olympus_Mons");
}

#[test]
fn run_logs_the_time_zone_database() {
    let directory = Directory::new();
    let program = Program::start(ABSENT.path(), &["--zoneinfo", directory.path()]);
    let line = &program.first_line;
    assert_contains!(line, "tzdata=\"2027c\"");
    assert_contains!(line, format!("zoneinfo=\"{}\"", directory.path()));
    let (_, metrics) = program.get("/metrics");
    let labels = format!("tzdata=\"2027c\",zoneinfo=\"{}\"", directory.path());
    assert_contains!(metrics, labels);
}

/// Broken files and links in a circle do not affect the other zones.
#[test]
fn broken_zone_files_are_reported_and_the_others_are_used() {
    let directory = Directory::new();
    let whole = zone_file(7200, "<X>-2");
    directory.write("Europe/Paris", &whole[..60]);
    directory.write("Europe/Rome", b"");
    directory.write("Europe/Madrid", &vec![b'x'; 1 << 20]);
    directory.write("America/Lima", &[&whole[..], &[0; 1 << 17]].concat());
    symlink("Vienna", directory.file("Europe/Vienna")).unwrap();
    symlink("nowhere", directory.file("Europe/Oslo")).unwrap();
    symlink("..", directory.file("Europe/Loop")).unwrap();
    symlink("/dev/zero", directory.file("Europe/Athens")).unwrap();
    directory.write("zone.tab", b"a table");
    directory.write("README", b"a text");
    let pipe = directory.file("Europe/Prague");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let (at, output) = directory.plan("Asia/Tokyo");
    assert_ends_with!(at, "+10:00\"");
    assert_starts_with!(output, "warning: cannot use ");
    assert_contains!(output, "and 7 more files in ");
    for zone in [
        "Paris", "Rome", "Madrid", "Vienna", "Oslo", "Athens", "Prague",
    ] {
        let (at, _) = directory.plan(&format!("Europe/{zone}"));
        assert!(
            at.contains("+01:00") || at.contains("+02:00"),
            "{zone}: {at}"
        );
    }
}

#[test]
fn an_unusable_directory_is_wrong_usage() {
    let empty = TempDir::new().unwrap();
    let leaps = Directory::new();
    let mut file = zone_file(0, "UTC0");
    file[31] = 1; // one leap second in the first header, and its bytes
    file.splice(44 + 10..44 + 10, [0; 8]);
    fs::remove_dir_all(leaps.0.path().join("Asia")).unwrap();
    leaps.write("Etc/Leap", &file);
    let absent = empty.path().join("absent");
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    for (directory, expected_text) in [
        (empty.path(), "no compiled time zones in"),
        (leaps.0.path(), "no compiled time zones in"),
        (&absent, "cannot read"),
        (&text, "cannot read"),
    ] {
        for command in ["run", "plan", "lint", "status", "convert"] {
            let ran = dayshift(&[command, "--zoneinfo", directory.to_str().unwrap()]);
            assert_eq!(ran.status, 2, "{command} {ran:?}");
            assert_contains!(
                ran.err,
                format!("error: --zoneinfo: {expected_text}"),
                "{command}"
            );
        }
    }
}
