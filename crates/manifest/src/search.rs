//! Finds the manifests to read: files, directories and standard input, with `.gitignore` rules
//! (gitignore(5)) and `--exclude` patterns.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    rc::Rc,
};

use fast_glob::glob_match;

use crate::source::{OpenError, SourceFile};

/// The name of standard input in errors and reports.
pub const STANDARD_INPUT: &str = "standard input";

/// The maximum size of a `.gitignore` in bytes. Each of its lines is compared with each path. A larger file is not
/// used.
const MAX_IGNORE_FILE: usize = 1 << 20;

/// The maximum size of all files of a directory in bytes. They are in memory together.
const MAX_DIRECTORY: usize = 256 << 20;

/// Selects the files of a directory that should be read.
#[derive(Clone, Debug, Default)]
pub struct FileSearch {
    exclude: Rc<IgnoreRules>,
}

/// The result of a search, in the order of the paths. If a file or directory cannot be read, the
/// others still are.
#[derive(Debug, Default)]
pub struct OpenedFiles {
    /// The files that were read.
    pub sources: Vec<SourceFile>,
    /// The errors of files that cannot be read.
    pub errors: Vec<OpenError>,
    /// Terraform files, which can contain schedules and are not read.
    pub skipped: Vec<SourceFile>,
    /// The size of all these files.
    bytes: usize,
}

impl FileSearch {
    /// A search that skips files and directories that match one of these patterns, which are
    /// written as in a `.gitignore` of the searched directory.
    pub fn excluding(patterns: &[String]) -> Self {
        Self {
            exclude: Rc::new(IgnoreRules::parse(&patterns.join("\n"))),
        }
    }

    /// Whether a text is a pattern that can match a path.
    pub fn is_pattern(text: &str) -> bool {
        !IgnoreRules::parse(text).is_empty()
    }

    /// Reads a file, a directory or, for `-`, standard input. In a directory and the directories
    /// below it, files that end in `.yaml`, `.yml` or `.json` are read.
    ///
    /// In a directory, the search skips excluded paths, paths that a `.gitignore` ignores
    /// (including those of the parent directories up to the root of the Git repository), hidden
    /// directories, symbolic links to directories, and the templates of a Helm chart, which are not
    /// YAML yet.
    pub fn open(&self, path: &Path) -> OpenedFiles {
        let mut opened = OpenedFiles::default();
        if path == Path::new("-") {
            opened.add(SourceFile::read(
                STANDARD_INPUT.to_owned(),
                io::stdin().lock(),
            ));
        } else if path.is_dir() {
            self.directory(path, &mut opened);
        } else if is_terraform(path) {
            opened.skip(path);
        } else {
            opened.add(SourceFile::open(path));
        }
        opened
    }

    fn directory(&self, directory: &Path, opened: &mut OpenedFiles) {
        let top = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let mut walk = DirectoryWalk {
            top: ScopedRules {
                directory: top.clone(),
                rules: Rc::clone(&self.exclude),
            },
            found: Vec::new(),
        };
        walk.enter(directory, &top, &above(&top));
        walk.found.sort_by(|one, other| one.0.cmp(&other.0));
        let is_skipped = |(_, found): &(PathBuf, FoundFile)| matches!(found, FoundFile::Skipped);
        let is_empty = walk.found.iter().all(is_skipped);
        for (path, found) in walk.found {
            if opened.bytes > MAX_DIRECTORY {
                let name = path.display().to_string();
                opened.errors.push(OpenError::TooMuch { name });
                break;
            }
            match found {
                FoundFile::Manifest => {
                    opened.add(SourceFile::open(&path).map(SourceFile::into_found));
                }
                FoundFile::Skipped => opened.skip(&path),
                FoundFile::Chart => opened.add(SourceFile::open(&path).map(SourceFile::into_chart)),
                FoundFile::Unreadable(error) => opened.errors.push(OpenError::read(&path, error)),
                FoundFile::OutsideLink(target) => opened.errors.push(OpenError::OutsideLink {
                    name: path.display().to_string(),
                    target: target.display().to_string(),
                }),
            }
        }
        if is_empty {
            let name = directory.display().to_string();
            opened.errors.push(OpenError::EmptyDirectory { name });
        }
    }
}

impl OpenedFiles {
    /// Skips a file. If it cannot be read, it has no schedule to warn about.
    fn skip(&mut self, path: &Path) {
        if let Ok(source) = SourceFile::open(path) {
            self.bytes += source.text().len();
            self.skipped.push(source);
        }
    }

    fn add(&mut self, source: Result<SourceFile, OpenError>) {
        match source {
            Ok(source) => {
                self.bytes += source.text().len();
                self.sources.push(source);
            }
            Err(error) => self.errors.push(error),
        }
    }
}

/// The type of a directory entry. Patterns that end in `/` match only directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryType {
    Directory,
    /// A file, or a symbolic link to anything.
    Other,
}

/// Rules, and the directory that they apply to as an absolute path.
#[derive(Clone, Debug)]
struct ScopedRules {
    directory: PathBuf,
    rules: Rc<IgnoreRules>,
}

impl ScopedRules {
    /// The rules of a directory's `.gitignore`, if it has a readable one. As in Git, a symbolic link is not followed.
    fn read(directory: &Path) -> Option<Self> {
        let path = directory.join(".gitignore");
        // Reading a FIFO can block, and a device such as `/dev/zero` does not end.
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        let limit = MAX_IGNORE_FILE as u64 + 1;
        File::open(&path)
            .ok()?
            .take(limit)
            .read_to_end(&mut text)
            .ok()?;
        if text.len() > MAX_IGNORE_FILE {
            return None;
        }
        let rules = IgnoreRules::parse(&String::from_utf8_lossy(&text));
        Some(Self {
            directory: directory.to_owned(),
            rules: Rc::new(rules),
        })
    }

    fn decide(&self, path: &Path, entry_type: EntryType) -> Option<bool> {
        let relative = path.strip_prefix(&self.directory).ok()?;
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        self.rules.decide(&parts.join("/"), entry_type)
    }
}

/// The rules of the directories above `top`, the uppermost first. There are none outside of a Git
/// repository.
fn above(top: &Path) -> Vec<ScopedRules> {
    let is_root = |directory: &&Path| directory.join(".git").exists();
    let Some(root) = top.ancestors().find(is_root) else {
        return Vec::new();
    };
    let directories = top.ancestors().skip(1);
    let inside = directories.take_while(|directory| directory.starts_with(root));
    let mut scopes: Vec<_> = inside.filter_map(ScopedRules::read).collect();
    scopes.reverse();
    scopes
}

enum FoundFile {
    Manifest,
    Skipped,
    /// A `Chart.yaml` beside templates, which are skipped.
    Chart,
    Unreadable(io::Error),
    /// A symbolic link to this file outside of the searched directory. It is not followed: a directory from
    /// another author could otherwise show, or change, any file of the user.
    OutsideLink(PathBuf),
}

struct DirectoryWalk {
    /// The searched directory, with the excluded patterns.
    top: ScopedRules,
    found: Vec<(PathBuf, FoundFile)>,
}

impl DirectoryWalk {
    /// Visits a directory. `path` is relative to the path that the user gave, `real` is absolute.
    fn enter(&mut self, path: &Path, real: &Path, above: &[ScopedRules]) {
        let mut directories = Vec::new();
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                return self
                    .found
                    .push((path.to_owned(), FoundFile::Unreadable(error)));
            }
        };
        let scopes: Vec<_> = above
            .iter()
            .cloned()
            .chain(ScopedRules::read(real))
            .collect();
        let is_chart = path.join("Chart.yaml").is_file();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    return self
                        .found
                        .push((path.to_owned(), FoundFile::Unreadable(error)));
                }
            };
            let name = entry.file_name();
            let (path, real) = (entry.path(), real.join(&name));
            let entry_type = match entry.file_type() {
                Ok(file_type) if file_type.is_dir() => EntryType::Directory,
                _ => EntryType::Other,
            };
            if self.is_ignored(&real, entry_type, &scopes) {
                continue;
            }
            if entry_type == EntryType::Directory {
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                let is_template = is_chart && name == "templates";
                if !is_hidden && !is_template {
                    directories.push((path, real));
                }
            } else if is_terraform(&path) {
                if self.target_outside(&path, &entry).is_none() {
                    self.found.push((path, FoundFile::Skipped));
                }
            } else if is_manifest(&path) {
                // A symbolic link can point to a directory, or to nothing.
                match fs::metadata(&path) {
                    Ok(file) if file.is_file() => {
                        if let Some(target) = self.target_outside(&path, &entry) {
                            self.found.push((path, FoundFile::OutsideLink(target)));
                            continue;
                        }
                        let has_templates = || path.with_file_name("templates").is_dir();
                        let is_chart = name == "Chart.yaml" && has_templates();
                        let found = if is_chart {
                            FoundFile::Chart
                        } else {
                            FoundFile::Manifest
                        };
                        self.found.push((path, found));
                    }
                    Ok(_) => {}
                    Err(error) => self.found.push((path, FoundFile::Unreadable(error))),
                }
            }
        }
        for (path, real) in directories {
            self.enter(&path, &real, &scopes);
        }
    }

    /// The target of a symbolic link, if it is not below the top of the search.
    fn target_outside(&self, path: &Path, entry: &fs::DirEntry) -> Option<PathBuf> {
        if !entry
            .file_type()
            .is_ok_and(|file_type| file_type.is_symlink())
        {
            return None;
        }
        let target = fs::canonicalize(path).ok()?;
        (!target.starts_with(&self.top.directory)).then_some(target)
    }

    /// An excluded path is ignored in any case. Otherwise the nearest `.gitignore` decides.
    fn is_ignored(&self, real: &Path, entry_type: EntryType, scopes: &[ScopedRules]) -> bool {
        let all = scopes.iter().chain([&self.top]).rev();
        all.into_iter()
            .find_map(|scope| scope.decide(real, entry_type))
            .unwrap_or_default()
    }
}

/// `.tf` and `.tfvars`. Their variants in JSON end in `.json`, and are read.
fn is_terraform(path: &Path) -> bool {
    let ending = path.extension().and_then(|name| name.to_str());
    matches!(ending, Some("tf" | "tfvars"))
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

/// The rules of one file. If several match a path, the last one decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreRules(Vec<IgnoreRule>);

#[derive(Clone, Debug)]
struct IgnoreRule {
    /// The literal text before the first wildcard.
    prefix: String,
    /// The pattern from the first wildcard on.
    glob: String,
    /// Whether the line begins with `!`, which reverts an earlier line.
    keeps: bool,
    /// Whether the line ends with `/`, and matches only directories.
    only_directories: bool,
    /// Whether the line contains a `/` and so matches paths below the file's directory. Otherwise
    /// it matches names at any depth.
    is_path: bool,
}

impl IgnoreRules {
    /// Parses lines. Empty lines, comments and invalid patterns match nothing.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(IgnoreRule::parse).collect())
    }

    /// Whether no line is a pattern.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path is ignored, or `None` if no line matches it. The path should be relative to
    /// the file's directory, with `/` as its separator.
    pub(crate) fn decide(&self, path: &str, entry_type: EntryType) -> Option<bool> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_about = |rule: &&IgnoreRule| {
            (entry_type == EntryType::Directory || !rule.only_directories)
                && rule.matches(if rule.is_path { path } else { name })
        };
        let rule = self.0.iter().rev().find(is_about)?;
        Some(!rule.keeps)
    }
}

impl IgnoreRule {
    fn parse(line: &str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let line = without_blanks(line);
        let (keeps, line) = line
            .strip_prefix('!')
            .map_or((false, line), |rest| (true, rest));
        let (only_directories, line) = line
            .strip_suffix('/')
            .map_or((false, line), |rest| (true, rest));
        let is_path = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        let first_sign = line.find(['*', '?', '[', '\\']).unwrap_or(line.len());
        let (prefix, rest) = line.split_at(first_sign);
        // Git has no braces in patterns.
        let glob = with_plain_asterisks(rest)
            .replace('{', "\\{")
            .replace('}', "\\}");
        let is_glob = !line.is_empty() && fast_glob::validate(&glob).is_ok();
        is_glob.then_some(Self {
            prefix: prefix.to_owned(),
            glob,
            keeps,
            only_directories,
            is_path,
        })
    }

    /// Matches as Git does: compares the prefix, and then matches the rest of the path with the glob.
    fn matches(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.prefix);
        rest.is_some_and(|rest| glob_match(&self.glob, rest))
    }
}

/// Replaces consecutive asterisks beside anything but a `/` by one: "other consecutive asterisks
/// are considered regular asterisks" (gitignore(5)).
fn with_plain_asterisks(glob: &str) -> String {
    let parts = glob.split('/').map(|part| {
        if part.len() > 1 && part.bytes().all(|byte| byte == b'*') {
            return "**".to_owned();
        }
        let mut plain = String::with_capacity(part.len());
        let (mut is_escaped, mut after_asterisk) = (false, false);
        for letter in part.chars() {
            let is_asterisk = letter == '*' && !is_escaped;
            if !(is_asterisk && after_asterisk) {
                plain.push(letter);
            }
            is_escaped = letter == '\\' && !is_escaped;
            after_asterisk = is_asterisk;
        }
        plain
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A line without trailing spaces, unless a backslash escapes the last one.
fn without_blanks(line: &str) -> &str {
    let short = line.trim_end_matches(' ');
    let backslashes = short.len() - short.trim_end_matches('\\').len();
    let is_kept = backslashes % 2 == 1 && short.len() < line.len();
    &line[..short.len() + usize::from(is_kept)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_matching_line_decides() {
        use EntryType::{Directory, Other};
        for (lines, path, entry_type, expected) in [
            ("", "a.yaml", Other, None),
            ("# a.yaml\n\n", "a.yaml", Other, None),
            ("*.yaml", "a/b.yaml", Other, Some(true)),
            ("*.yaml\n!b.yaml", "a/b.yaml", Other, Some(false)),
            ("/b.yaml", "a/b.yaml", Other, None),
            ("/b.yaml", "b.yaml", Other, Some(true)),
            ("a/b.yaml", "a/b.yaml", Other, Some(true)),
            ("a/b.yaml", "c/a/b.yaml", Other, None),
            ("**/a/b.yaml", "c/a/b.yaml", Other, Some(true)),
            ("a/**/c", "a/b/b/c", Other, Some(true)),
            ("a/**", "a/b", Other, Some(true)),
            ("a/**", "a", Directory, None),
            ("build/", "x/build", Directory, Some(true)),
            ("build/", "build", Other, None),
            ("a{b,c}", "ab", Other, None),
            ("a{b,c}", "a{b,c}", Other, Some(true)),
            ("\\!a", "!a", Other, Some(true)),
            ("\\#a", "#a", Other, Some(true)),
            ("a  ", "a", Other, Some(true)),
            ("a\\ ", "a ", Other, Some(true)),
            ("a[", "a[", Other, None),
            ("[!a]b", "cb", Other, Some(true)),
            ("a*", "b/ac", Other, Some(true)),
            ("a*/c", "ab/c", Other, Some(true)),
            ("a/*", "a/b/c", Other, None),
            ("**/a**/**/*", "a.yaml", Other, None),
            ("**/a**/**/*", "b/ac/d", Other, Some(true)),
            ("a\\**", "a*bc", Other, Some(true)),
            ("a\\**", "abc", Other, None),
            ("/a/***/d", "a/b/c/d", Other, Some(true)),
        ] {
            let rules = IgnoreRules::parse(lines);
            assert_eq!(rules.decide(path, entry_type), expected, "{lines:?} {path}");
        }
    }

    /// The files of a directory of another author.
    fn opened(prepare: impl FnOnce(&Path)) -> OpenedFiles {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(".git")).unwrap();
        prepare(directory.path());
        FileSearch::default().open(directory.path())
    }

    #[test]
    fn ignore_file_that_is_a_link_or_does_not_end_is_not_read() {
        for target in ["/dev/zero", "rules"] {
            let opened = opened(|directory| {
                std::os::unix::fs::symlink(target, directory.join(".gitignore")).unwrap();
                fs::write(directory.join("rules"), "*.yaml").unwrap();
                fs::write(directory.join("a.yaml"), "").unwrap();
            });
            assert_eq!(opened.sources.len(), 1, "{target}");
        }
        for (length, expected) in [(MAX_IGNORE_FILE, 0), (MAX_IGNORE_FILE + 1, 1)] {
            let opened = opened(|directory| {
                let rules = format!("*.yaml\n{}", "#".repeat(length - 7));
                fs::write(directory.join(".gitignore"), rules).unwrap();
                fs::write(directory.join("a.yaml"), "").unwrap();
            });
            assert_eq!(opened.sources.len(), expected, "{length}");
        }
    }

    #[test]
    fn directory_of_gigabytes_is_read_in_part() {
        let opened = opened(|directory| {
            for number in 0..40 {
                let file = File::create(directory.join(format!("{number:02}.yaml"))).unwrap();
                file.set_len(crate::source::MAX_BYTES as u64).unwrap();
            }
        });
        assert_eq!(opened.sources.len(), 9);
        let errors: Vec<_> = opened.errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("09.yaml is not read"), "{errors:?}");
    }
}
