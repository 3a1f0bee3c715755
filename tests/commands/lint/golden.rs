//! The output, compared with the files in `golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands golden` updates these files; review the changes
//! before you commit them.

use std::{env, fs, path::Path};

use super::program::lint_with;

#[test]
fn output_matches_the_golden_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/lint/golden");
    for (file, format, variables) in [
        ("text.txt", "text", &[][..]),
        ("text-colour.txt", "text", &[("CLICOLOR_FORCE", "1")]),
        (
            "text.txt",
            "text",
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
        ),
        ("report.json", "json", &[]),
        ("github.txt", "github", &[]),
        ("report.sarif", "sarif", &[]),
        ("junit.xml", "junit", &[]),
    ] {
        let args = ["-o", format, "tests/commands/lint/golden/faults.yaml"];
        let (status, out, err) = lint_with(variables, &args, "");
        assert_eq!((status, err.as_str()), (1, ""), "{file}");
        // A SARIF log contains the version, which changes with each release, and the working
        // directory.
        let out = out
            .replace(env!("CARGO_PKG_VERSION"), "VERSION")
            .replace(env!("CARGO_MANIFEST_DIR"), "/checkout");
        let path = directory.join(file);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &out).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            out == expected,
            "{file} is no longer\n{expected}\nbut\n{out}"
        );
    }
}
