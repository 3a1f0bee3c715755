//! Which files are read, and what cannot be.

use std::{fs, path::Path};

use dayshift::manifest::{OpenError, Source};

#[test]
fn a_folder_is_searched_except_where_no_manifests_are() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "b/c/d.yaml",
        "a.yaml",
        ".git/hidden.yaml",
        "templates/plain.yaml",
        "chart/Chart.yaml",
        "chart/templates/web.yaml",
        "chart/crds/e.yml",
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }
    std::os::unix::fs::symlink(folder.path(), folder.path().join("b/round")).unwrap();
    let sources = Source::open(folder.path()).unwrap();
    let names = sources.iter().map(|it| {
        let path = Path::new(it.name()).strip_prefix(folder.path());
        path.unwrap().to_str().unwrap()
    });
    let expected = [
        "a.yaml",
        "b/c/d.yaml",
        "chart/Chart.yaml",
        "chart/crds/e.yml",
        "templates/plain.yaml",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn a_folder_is_its_manifests_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.yaml", "a.yml", "c.json", "d.txt"] {
        fs::write(folder.path().join(name), "{}").unwrap();
    }
    fs::create_dir(folder.path().join("e.yaml")).unwrap();
    let sources = Source::open(folder.path()).unwrap();
    let names = sources
        .iter()
        .map(|it| Path::new(it.name()).file_name().unwrap().to_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["a.yml", "b.yaml", "c.json"]);
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert!(matches!(
        Source::open(folder.path()),
        Err(OpenError::EmptyFolder { .. })
    ));
    assert!(matches!(
        Source::open(&path("none.yaml")),
        Err(OpenError::Read { .. })
    ));
    fs::write(path("latin.yaml"), b"a: 1\nb: caf\xe9").unwrap();
    let error = Source::open(&path("latin.yaml")).unwrap_err().to_string();
    assert!(
        error.ends_with("latin.yaml:2: this line is not UTF-8 text; save the file as UTF-8"),
        "{error}"
    );
    #[cfg(unix)]
    assert!(matches!(
        Source::open(Path::new("/dev/zero")),
        Err(OpenError::TooLarge { .. })
    ));
}
