//! Every relative link leads to an existing file, and to a heading in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Directories with pages, besides the top one.
const DIRECTORIES: [&str; 7] = [
    "docs",
    "charts",
    "crates",
    "fuzz",
    "examples",
    "manifests",
    ".github",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages_in(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root().join(directory)) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let path = directory.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if path.file_name().is_none_or(|it| it != "target") {
                pages_in(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

/// All pages by their path from the top.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut paths = Vec::new();
    for directory in DIRECTORIES {
        pages_in(Path::new(directory), &mut paths);
    }
    for entry in fs::read_dir(root()).unwrap() {
        let name = PathBuf::from(entry.unwrap().file_name());
        if name.extension().is_some_and(|it| it == "md") {
            paths.push(name);
        }
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The text without code blocks and spans, which have no links or headings.
fn without_code(page: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The addresses of links, `src` and `srcset`.
fn links(page: &str) -> Vec<String> {
    let text = without_code(page);
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join("_");
    let mut links = Vec::new();
    for (open, close) in [("](", ')'), (" src=\"", '"'), (" srcset=\"", '"')] {
        let rest = prose.split(open).skip(1);
        links.extend(rest.map(|it| it.split(close).next().unwrap().to_owned()));
    }
    links
}

/// The anchors of a page's headings, as GitHub generates them.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let text = without_code(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    for heading in headings {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        let name: String = kept.collect();
        let again = anchors.iter().filter(|&it| *it == name).count();
        let suffix = if again > 0 {
            format!("-{again}")
        } else {
            String::new()
        };
        anchors.push(name + &suffix);
    }
    anchors
}

/// `path` without `..`; `None` if it leaves the repository.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir if plain.pop() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(plain)
}

/// The error of a link on the page at `from`.
fn fault(pages: &BTreeMap<PathBuf, String>, from: &Path, link: &str) -> Option<&'static str> {
    if link.starts_with("https://") || link.starts_with("http://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = if file.is_empty() {
        Some(from.to_owned())
    } else {
        plain(&from.parent()?.join(file))
    };
    let Some(path) = path else {
        return Some("leaves the repository");
    };
    if !root().join(&path).exists() {
        return Some("is not there");
    }
    match pages.get(&path) {
        _ if anchor.is_empty() => None,
        Some(page) if anchors(page).iter().any(|it| it == anchor) => None,
        _ => Some("has no such heading"),
    }
}

#[test]
fn each_link_has_a_target() {
    let pages = pages();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (path, page) in &pages {
        for link in links(page) {
            seen += 1;
            if let Some(fault) = fault(&pages, path, &link) {
                wrong.push(format!("{}: {link} {fault}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 150, "{seen}");
}

/// A list item that does not begin a line is shown as a dash within the item before it.
#[test]
fn each_list_item_begins_a_line() {
    let is_glued = |line: &&str| !line.starts_with('|') && line.contains(". - ");
    for (path, page) in &pages() {
        let glued = page.lines().find(is_glued);
        assert_eq!(glued, None, "{}", path.display());
    }
}

/// Checks that the link test can fail.
#[test]
fn finds_a_broken_link() {
    let pages = pages();
    let from = Path::new("docs/reference/kinds.md");
    for (link, expected) in [
        ("../production/rbac.md", None),
        ("../../README.md#install", None),
        ("#permissions", None),
        ("https://example.com/x#y", None),
        ("../production/rbca.md", Some("is not there")),
        ("../production/rbac.md#peopl", Some("has no such heading")),
        ("#permission", Some("has no such heading")),
        ("../../../README.md", Some("leaves the repository")),
        ("../../examples#x", Some("has no such heading")),
    ] {
        assert_eq!(fault(&pages, from, link), expected, "{link}");
    }
    assert_eq!(
        links("[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n"),
        ["b.md"]
    );
    assert_eq!(
        anchors("# A `b`, c\n## It's\n## It's\n"),
        ["a-b-c", "its", "its-1"]
    );
}

/// The book then contains all pages.
#[test]
fn each_page_of_docs_is_in_the_summary() {
    let pages = pages();
    let summary = links(&pages[Path::new("docs/SUMMARY.md")]);
    for path in pages.keys().filter(|path| path.starts_with("docs")) {
        let name = path.strip_prefix("docs").unwrap().to_str().unwrap();
        let listed = summary.iter().filter(|link| *link == name).count();
        assert_eq!(listed, usize::from(name != "SUMMARY.md"), "{name}");
    }
}

/// Words in the first sentence of a page, at most.
const WORDS_OF_A_DEFINITION: usize = 40;

/// The text below the title, up to the first empty line, on one line.
fn first_paragraph(page: &str) -> String {
    let (_, rest) = page.split_once("\n\n").unwrap();
    let (paragraph, _) = rest.split_once("\n\n").unwrap_or((rest, ""));
    paragraph.replace('\n', " ").trim().to_owned()
}

#[test]
fn each_page_begins_with_a_sentence_that_defines_its_subject() {
    for (path, page) in pages() {
        let is_decision =
            path.starts_with("docs/decisions") && !path.ends_with("decisions/README.md");
        if !path.starts_with("docs") || is_decision || path.ends_with("SUMMARY.md") {
            continue;
        }
        let place = path.display();
        assert!(page.starts_with("# "), "{place}: no title");
        let paragraph = first_paragraph(&page);
        let sentence = paragraph.split(". ").next().unwrap();
        let is_prose = paragraph.starts_with(|it: char| it.is_alphanumeric() || it == '`')
            && paragraph.ends_with(['.', ':']);
        let is_promise = ["After this page", "With this page", "With these pages"]
            .iter()
            .any(|opening| paragraph.starts_with(opening));
        let words = sentence.split_whitespace().count();
        assert!(
            is_prose && !is_promise && (5..=WORDS_OF_A_DEFINITION).contains(&words),
            "{place} begins with {words} words: {sentence}"
        );
    }
}

#[test]
fn each_decision_record_follows_the_template() {
    for (path, page) in pages() {
        if !path.starts_with("docs/decisions") || path.ends_with("README.md") {
            continue;
        }
        let text = without_code(&page);
        let headings: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        let template = ["Context", "Decision", "Consequences", "Revisit when"];
        assert_eq!(headings, template, "{}", path.display());
    }
}

/// The most words in a cell of a table.
const WORDS_IN_A_CELL: usize = 20;

/// A table row with each code span and each link address as part of one word.
fn without_spans(row: &str) -> String {
    let mut text = String::new();
    for (index, part) in row.split('`').enumerate() {
        text.push_str(if index % 2 == 0 { part } else { "code" });
    }
    let mut plain = String::new();
    for (index, part) in text.split("](").enumerate() {
        let part = match index {
            0 => part,
            _ => part.split_once(')').map_or(part, |(_, rest)| rest),
        };
        plain.push_str(part);
    }
    plain
}

#[test]
fn each_table_cell_is_short() {
    for (path, page) in pages() {
        if !path.starts_with("docs") && path != Path::new("README.md") {
            continue;
        }
        for row in without_code(&page).lines().filter(|it| it.starts_with('|')) {
            for cell in without_spans(row).split('|') {
                let words = cell.split_whitespace().count();
                assert!(
                    words <= WORDS_IN_A_CELL,
                    "{}: {words} words: {cell}",
                    path.display()
                );
            }
        }
    }
}
