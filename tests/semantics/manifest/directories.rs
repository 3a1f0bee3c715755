//! The files that are read, and those that cannot be.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use dayshift_manifest::{FileSearch, OpenError, OpenedFiles};
use proptest::prelude::*;

fn write(directory: &Path, names: &[&str]) {
    for name in names {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }
}

fn open(directory: &Path, exclude: &[&str]) -> OpenedFiles {
    let exclude: Vec<_> = exclude.iter().map(ToString::to_string).collect();
    FileSearch::excluding(&exclude).open(directory)
}

/// The files that were read, relative to the directory.
fn names(directory: &Path, opened: &OpenedFiles) -> Vec<String> {
    let name = |name: &str| {
        let path = Path::new(name).strip_prefix(directory);
        path.unwrap().to_str().unwrap().to_owned()
    };
    opened.sources.iter().map(|it| name(it.name())).collect()
}

#[test]
fn searches_a_directory_without_charts_and_hidden_files() {
    let directory = tempfile::tempdir().unwrap();
    let all = [
        "b/c/d.yaml",
        "a.yaml",
        ".git/hidden.yaml",
        "templates/plain.yaml",
        "chart/Chart.yaml",
        "chart/templates/web.yaml",
        "chart/crds/e.yml",
        "library/Chart.yaml",
    ];
    write(directory.path(), &all);
    std::os::unix::fs::symlink(directory.path(), directory.path().join("b/round")).unwrap();
    let opened = open(directory.path(), &[]);
    let expected = [
        "a.yaml",
        "b/c/d.yaml",
        "chart/Chart.yaml",
        "chart/crds/e.yml",
        "library/Chart.yaml",
        "templates/plain.yaml",
    ];
    assert_eq!(names(directory.path(), &opened), expected);
    let charts = opened.sources.iter().filter(|it| it.is_chart());
    let charts: Vec<_> = charts.map(|it| it.name().to_owned()).collect();
    assert_eq!(charts.len(), 1, "{charts:?}");
    assert_ends_with!(charts[0], "chart/Chart.yaml");
}

#[test]
fn reads_the_manifests_of_a_directory_in_order() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), &["b.yaml", "a.yml", "c.json", "d.txt"]);
    fs::create_dir(directory.path().join("e.yaml")).unwrap();
    let opened = open(directory.path(), &[]);
    assert_eq!(
        names(directory.path(), &opened),
        ["a.yml", "b.yaml", "c.json"]
    );
}

#[test]
fn excluded_and_git_ignored_files_are_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let all = [
        "a.yaml",
        "a.test.yaml",
        "old/a.yaml",
        "new/a.yaml",
        "new/old/b.yaml",
    ];
    write(directory.path(), &all);
    for (exclude, expected) in [
        (
            &[][..],
            &[
                "a.test.yaml",
                "a.yaml",
                "new/a.yaml",
                "new/old/b.yaml",
                "old/a.yaml",
            ][..],
        ),
        (
            &["*.test.yaml", "/old"],
            &["a.yaml", "new/a.yaml", "new/old/b.yaml"],
        ),
        (&["old/"], &["a.test.yaml", "a.yaml", "new/a.yaml"]),
        (&["*.yaml", "!new/a.yaml"], &["new/a.yaml"]),
    ] {
        let opened = open(directory.path(), exclude);
        assert_eq!(names(directory.path(), &opened), expected, "{exclude:?}");
        assert!(opened.errors.is_empty());
    }
    assert!(matches!(
        open(directory.path(), &["*"]).errors[..],
        [OpenError::EmptyDirectory { .. }]
    ));
    // A `.gitignore` of a parent directory counts only within its repository.
    fs::write(directory.path().join(".gitignore"), "b.yaml\n").unwrap();
    fs::write(directory.path().join("new/.gitignore"), "*.yaml\n!old/*\n").unwrap();
    let new = directory.path().join("new");
    assert_eq!(names(&new, &open(&new, &[])), ["old/b.yaml"]);
    fs::create_dir(directory.path().join(".git")).unwrap();
    assert_eq!(
        names(&new, &open(&new, &[])),
        ["old/b.yaml"],
        "the nearest .gitignore has precedence"
    );
    fs::remove_file(new.join(".gitignore")).unwrap();
    assert_eq!(names(&new, &open(&new, &[])), ["a.yaml"]);
    // A named file is read.
    let file = new.join("old/b.yaml");
    assert_eq!(open(&file, &[]).sources.len(), 1);
}

/// A line of a `.gitignore`: a common one, or wildcards.
fn line() -> impl Strategy<Value = String> {
    let written = [
        "*.yaml",
        "!*.yaml",
        "a.yaml",
        "!a.yaml",
        "/b.yaml",
        "!/b.yaml",
        "a/",
        "/a",
        "!a/",
        "/*",
        "!/b",
        "a/*.yaml",
        "**/b.yaml",
        "a/**",
        "a/**/b.yaml",
        "[ab].yaml",
        "[!a].yaml",
        "{a,b}.yaml",
        "?.yaml",
        "a*/b.yaml",
        "# a.yaml",
        "a.yaml  ",
        "\\!a.yaml",
        "b/a{b",
        "a.yaml/",
        "*b*",
        "**/a**/**/*",
    ];
    prop_oneof![
        2 => prop::sample::select(written.to_vec()).prop_map(str::to_owned),
        1 => "!?/?(\\*\\*/)?[ab\\*\\?{}]{1,3}(/(\\*\\*/)?[ab\\*\\[\\]!]{1,4})?/?( |\\.yaml)?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The oracle is git, which reports the files that it ignores.
    #[test]
    fn git_ignored_files_are_not_read(
        top in prop::collection::vec(line(), 0..5),
        inner in prop::collection::vec(line(), 0..4),
    ) {
        if Command::new("git").arg("--version").stdout(Stdio::null()).status().is_err() {
            return Ok(());
        }
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let directories = ["", "a/", "b/", "a/a/", "a/b/", "ab/b/", "b/a{b/"];
        let all: Vec<_> = directories
            .iter()
            .flat_map(|it| ["a.yaml", "b.yaml", "ab.yaml"].map(|name| format!("{it}{name}")))
            .collect();
        write(directory, &all.iter().map(String::as_str).collect::<Vec<_>>());
        fs::write(directory.join(".gitignore"), top.join("\n")).unwrap();
        fs::write(directory.join("a/.gitignore"), inner.join("\n")).unwrap();
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
            git.env("HOME", directory).args(["-C", directory.to_str().unwrap()]).args(args);
            git.output().unwrap()
        };
        git(&["init", "-q"]);
        let listed = git(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let listed = String::from_utf8(listed.stdout).unwrap();
        let expected: BTreeSet<_> = listed.split('\0').filter(|it| it.ends_with(".yaml")).map(str::to_owned).collect();
        let read: BTreeSet<_> = names(directory, &open(directory, &[])).into_iter().collect();
        prop_assert_eq!(read, expected, "{:?} {:?}", top, inner);
    }
}

#[test]
fn reports_an_unreadable_path_and_reads_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let errors = |path: &Path| open(path, &[]).errors;
    assert!(matches!(
        errors(directory.path())[..],
        [OpenError::EmptyDirectory { .. }]
    ));
    assert!(matches!(
        errors(&path("none.yaml"))[..],
        [OpenError::Read { .. }]
    ));
    write(directory.path(), &["a.yaml", "z.yaml"]);
    fs::write(path("latin.yaml"), b"a: 1\nb: caf\xe9").unwrap();
    fs::File::create(path("large.json"))
        .unwrap()
        .set_len(33 << 20)
        .unwrap();
    std::os::unix::fs::symlink("nowhere", path("link.yaml")).unwrap();
    let opened = open(directory.path(), &[]);
    assert_eq!(names(directory.path(), &opened), ["a.yaml", "z.yaml"]);
    let [
        OpenError::TooLarge { .. },
        latin @ OpenError::NotText { .. },
        OpenError::Read { name, .. },
    ] = &opened.errors[..]
    else {
        panic!("{:?}", opened.errors);
    };
    assert_ends_with!(name, "link.yaml");
    let latin = latin.to_string();
    let expected = "latin.yaml:2: this line is not UTF-8 text; save the file as UTF-8";
    assert_ends_with!(latin, expected);
    let large = fs::File::create(path("large.yaml")).unwrap();
    large.set_len(33 << 20).unwrap();
    assert!(matches!(
        errors(&path("large.yaml"))[..],
        [OpenError::TooLarge { .. }]
    ));
}

#[test]
fn links_out_of_the_directory_are_reported_and_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.yaml"), "password: hunter2\n").unwrap();
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), &["a.yaml", "inner/b.yaml"]);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
    };
    link(
        outside.path().join("secret.yaml").to_str().unwrap(),
        "absolute.yaml",
    );
    let relative = format!(
        "../../{}/secret.yaml",
        outside.path().file_name().unwrap().to_str().unwrap()
    );
    link(&relative, "inner/relative.yaml");
    link("/proc/self/environ", "environment.json");
    // A link to another file of the directory is followed.
    link("a.yaml", "c.yaml");
    link("../a.yaml", "inner/d.yaml");
    let opened = open(directory.path(), &[]);
    assert_eq!(
        names(directory.path(), &opened),
        ["a.yaml", "c.yaml", "inner/b.yaml", "inner/d.yaml"]
    );
    let errors: Vec<_> = opened.errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 3, "{errors:#?}");
    for error in &errors {
        assert_contains!(error, "outside of the directory, and is not followed");
    }
    assert!(
        opened
            .sources
            .iter()
            .all(|source| !source.text().contains("hunter2"))
    );
}

#[test]
fn a_fifo_is_rejected_without_blocking() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("pipe.yaml");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for device in [fifo.as_path(), Path::new("/dev/zero")] {
        let opened = FileSearch::default().open(device);
        let [OpenError::NotRegular { name }] = &opened.errors[..] else {
            panic!("{:?}", opened.errors);
        };
        assert_eq!(name, device.to_str().unwrap());
    }
}
