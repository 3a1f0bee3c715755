//! The layers of the code: imports form a tree, the pure crates depend on no client and no runtime, and
//! no file exceeds 1,000 lines.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a file of Rust.
const LINES: usize = 1_000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What is in these folders of the repository, by folder.
fn folders() -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<_> = [
        "src", "crates", "tests", "benches", "docs", "charts", "fuzz",
    ]
    .map(|it| root().join(it))
    .into();
    // Built, or found by fuzzing: not in the repository, or not to be read.
    let is_read = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_made = ["target", "node_modules", "corpus", "findings", "artifacts"].contains(&name);
        !is_made && !name.ends_with("-regressions")
    };
    while let Some(folder) = waiting.pop() {
        let entries = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
        let (inner, files): (Vec<_>, Vec<_>) =
            entries.filter(|it| is_read(it)).partition(|it| it.is_dir());
        waiting.extend(inner);
        found.insert(folder, files);
    }
    found
}

/// The paths after `crate::` in a text, with what is in braces written out.
fn imports(text: &str) -> BTreeSet<String> {
    let text: String = text
        .lines()
        .map(|it| it.split("//").next().unwrap())
        .collect();
    let mut found = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let rest: String = rest.chars().filter(|it| !it.is_whitespace()).collect();
        write_out("", &rest, &mut found);
    }
    found
}

/// Adds what one path, or one list of paths in braces, names below `prefix`; how much of the text it
/// has taken.
fn write_out(prefix: &str, text: &str, found: &mut BTreeSet<String>) -> usize {
    let is_of_path = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    let path = text.find(|it| !is_of_path(it)).unwrap_or(text.len());
    let mut taken = path;
    let prefix = format!("{prefix}{}", &text[..path]);
    // A body of code may follow a path too.
    let is_list = prefix.is_empty() || prefix.ends_with("::");
    if is_list && text[taken..].starts_with('{') {
        while !text[taken..].is_empty() && !text[taken..].starts_with('}') {
            taken += 1;
            taken += write_out(&prefix, &text[taken..], found);
        }
        return taken + 1;
    }
    if taken > 0 {
        found.insert(prefix);
    }
    taken
}

/// What each file below `src` takes from which others. A `mod.rs` only hands names on.
fn arrows(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut texts = BTreeMap::new();
    for (folder, files) in folders() {
        for file in files {
            let is_code = file.extension().is_some_and(|it| it == "rs");
            if is_code && folder.starts_with(src) && !file.ends_with("mod.rs") {
                let name = file.strip_prefix(src).unwrap().with_extension("");
                let name = name.to_str().unwrap().replace('/', "::");
                texts.insert(name, fs::read_to_string(file).unwrap());
            }
        }
    }
    let room = |path: &str| {
        let ends = path.match_indices("::").map(|(end, _)| end);
        let prefixes = ends.chain([path.len()]).map(|end| &path[..end]);
        let rooms = prefixes.filter(|it| texts.contains_key(*it));
        rooms.last().map(str::to_owned)
    };
    let each = texts.iter().map(|(name, text)| {
        // Unit tests may use fixtures that use the file under test.
        let (code, _) = text
            .split_once("\n#[cfg(test)]\nmod tests {")
            .unwrap_or((text, ""));
        let taken = imports(code);
        let others = taken.iter().filter_map(|it| room(it));
        (name.clone(), others.filter(|it| it != name).collect())
    });
    each.collect()
}

/// What is left when all have been taken away, again and again, that take nothing from another or
/// that nobody takes anything from: the circles, and what lies between two of them.
fn circles(mut arrows: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let before = arrows.len();
        arrows.retain(|_, others| !others.is_empty());
        let taken: BTreeSet<_> = arrows.values().flatten().cloned().collect();
        arrows.retain(|name, _| taken.contains(name));
        if arrows.len() == before {
            return arrows;
        }
        let left: BTreeSet<_> = arrows.keys().cloned().collect();
        for others in arrows.values_mut() {
            others.retain(|it| left.contains(it));
        }
    }
}

/// The same between the folders and files at the top, for all that one takes from another.
fn rooms(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let top = |path: &str| path.split("::").next().unwrap().to_owned();
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (folder, files) in folders() {
        for file in files {
            let is_code = file.extension().is_some_and(|it| it == "rs");
            if !is_code || !folder.starts_with(src) {
                continue;
            }
            let name = file.strip_prefix(src).unwrap().with_extension("");
            let name = top(&name.to_str().unwrap().replace('/', "::"));
            let taken = imports(&fs::read_to_string(file).unwrap());
            let others = taken.iter().map(|it| top(it)).filter(|it| *it != name);
            rooms.entry(name.clone()).or_default().extend(others);
        }
    }
    // What is no room stands in lib.rs itself.
    let names: BTreeSet<_> = rooms.keys().cloned().collect();
    for others in rooms.values_mut() {
        others.retain(|it| names.contains(it));
    }
    rooms
}

#[test]
fn no_import_runs_in_a_circle() {
    for (src, least) in [
        ("src", 100),
        ("crates/schedule/src", 50),
        ("crates/workload/src", 50),
        ("crates/manifest/src", 80),
        ("crates/cluster/src", 25),
        ("crates/operations/src", 15),
        ("crates/controller/src", 150),
        ("crates/activator/src", 25),
        ("crates/kube-in-memory/src", 25),
    ] {
        let src = root().join(src);
        let arrows = arrows(&src);
        let count: usize = arrows.values().map(BTreeSet::len).sum();
        assert!(count >= least, "{count}");
        let circles_of_files = circles(arrows);
        assert!(circles_of_files.is_empty(), "{circles_of_files:#?}");
    }
    // A room that is a crate has none inside, but for what is told of a workload beside it.
    let workload = rooms(&root().join("crates/workload/src"));
    let told = ["events", "other_controllers", "savings"].map(str::to_owned);
    assert!(told.iter().all(|it| workload.contains_key(it)));
    for (room, others) in workload.iter().filter(|(room, _)| !told.contains(*room)) {
        let taken: Vec<_> = told.iter().filter(|it| others.contains(*it)).collect();
        assert!(taken.is_empty(), "{room}: {taken:?}");
    }
    for src in [
        "src",
        "crates/schedule/src",
        "crates/manifest/src",
        "crates/cluster/src",
        "crates/controller/src",
        "crates/operations/src",
        "crates/kube-in-memory/src",
    ] {
        let circles_of_rooms = circles(rooms(&root().join(src)));
        assert!(circles_of_rooms.is_empty(), "{circles_of_rooms:#?}");
    }
}

/// Its tests need no runtime, and equal inputs have equal effects.
#[test]
fn the_core_of_the_controller_does_no_io() {
    let src = root().join("crates/controller/src");
    let does_io = ["run.rs", "driver", "calendar_feed.rs", "telemetry"].map(|it| src.join(it));
    let words = [
        "tokio",
        "kube::Client",
        "async ",
        ".await",
        "Utc::now",
        "Instant::now",
    ];
    let mut read = 0;
    for file in folders().into_values().flatten() {
        let is_core = file.starts_with(&src) && !does_io.iter().any(|it| file.starts_with(it));
        if !is_core {
            continue;
        }
        read += 1;
        let text = fs::read_to_string(&file).unwrap();
        let found: Vec<_> = words.iter().filter(|word| text.contains(**word)).collect();
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
    assert!(read > 40, "{read}");
}

#[test]
fn no_file_exceeds_a_thousand_lines() {
    let files = folders().into_values().flatten();
    let mut read = 0;
    for file in files.filter(|it| it.extension().is_some_and(|it| it == "rs")) {
        read += 1;
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LINES, "{}: {lines} lines", file.display());
    }
    assert!(read > 300, "{read}");
}

/// The packages that `Cargo.lock` has below one of ours, those that only its tests use included.
fn brought_in(package: &str) -> BTreeSet<String> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut each: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for text in lock.split("[[package]]").skip(1) {
        // `name = "a"`, and below `dependencies` ` "b",` or ` "b 1.2.3",`.
        let mut quoted = text.lines().filter_map(|line| {
            let word = line.split('"').nth(1)?.split(' ').next()?;
            let is_name = line.starts_with("name") || line.starts_with(" \"");
            is_name.then_some(word)
        });
        each.entry(quoted.next().unwrap())
            .or_default()
            .extend(quoted);
    }
    let mut found = BTreeSet::new();
    let mut waiting = vec![package];
    while let Some(name) = waiting.pop() {
        if found.insert(name.to_owned()) {
            waiting.extend(&each[name]);
        }
    }
    found
}

#[test]
fn the_pure_crates_bring_in_no_client_and_no_runtime() {
    let foreign = ["hyper", "k8s-openapi", "kube-core", "tokio"].map(str::to_owned);
    let has = |package: &str| {
        let all = brought_in(package);
        foreign.clone().map(|it| all.contains(&it))
    };
    for pure in [
        "dayshift-text",
        "dayshift-schedule",
        "dayshift-workload",
        "dayshift-manifest",
    ] {
        assert_eq!(has(pure), [false; 4], "{pure}: {foreign:?}");
    }
    assert_eq!(has("dayshift"), [true; 4], "this does not see them");
}

/// The judge of circles is worth something only if it sees these.
#[test]
fn a_circle_is_found() {
    let text = "use crate::{\n    a::b::{C, d::E},\n    f::G, // crate::h\n};\nfn i() { crate::j::k(); }\n";
    let found: Vec<_> = imports(text).into_iter().collect();
    assert_eq!(found, ["a::b::C", "a::b::d::E", "f::G", "j::k"]);
    let arrows = |each: &[(&str, &str)]| {
        let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in each {
            arrows.entry((*to).into()).or_default();
            arrows
                .entry((*from).into())
                .or_default()
                .insert((*to).into());
        }
        circles(arrows).into_keys().collect::<Vec<_>>()
    };
    assert_eq!(arrows(&[("a", "b"), ("b", "c"), ("a", "c")]), [""; 0]);
    assert_eq!(arrows(&[("a", "b"), ("b", "c"), ("c", "b")]), ["b", "c"]);
}
