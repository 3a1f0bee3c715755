//! Files, folders and standard input: which manifests there are to read.
//!
//! The lines of a `.gitignore` (gitignore(5)), and of `--exclude`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
};

use fast_glob::glob_match;

use crate::source::{OpenError, SourceFile};

/// What standard input is called in errors and reports.
pub const STANDARD_INPUT: &str = "standard input";

/// Which files of a folder are read.
#[derive(Clone, Debug, Default)]
pub struct FileSearch {
    exclude: Rc<IgnoreRules>,
}

/// What was found, each in the order of the paths: one file or folder that cannot be read keeps
/// no other from being read.
#[derive(Debug, Default)]
pub struct OpenedFiles {
    /// The files that were read.
    pub sources: Vec<SourceFile>,
    /// Why others were not.
    pub errors: Vec<OpenError>,
}

impl FileSearch {
    /// A search that passes over files and folders which match one of these patterns, written as
    /// in a `.gitignore` of the folder that is searched.
    pub fn excluding(patterns: &[String]) -> Self {
        Self {
            exclude: Rc::new(IgnoreRules::parse(&patterns.join("\n"))),
        }
    }

    /// Whether a text is a pattern that may match something.
    pub fn is_pattern(text: &str) -> bool {
        !IgnoreRules::parse(text).is_empty()
    }

    /// Reads a file; the files of a folder and of the folders in it that end in `.yaml`, `.yml` or
    /// `.json`; or, for `-`, standard input.
    ///
    /// Passed over are, in a folder, what is excluded, what a `.gitignore` ignores (those of the
    /// folders above count too, up to the top of the Git repository), and folders whose name begins
    /// with a dot, which are symbolic links, or which hold the templates of a Helm chart: those
    /// are no YAML yet.
    pub fn open(&self, path: &Path) -> OpenedFiles {
        let mut opened = OpenedFiles::default();
        if path == Path::new("-") {
            opened.add(SourceFile::read(
                STANDARD_INPUT.to_owned(),
                io::stdin().lock(),
            ));
        } else if path.is_dir() {
            self.folder(path, &mut opened);
        } else {
            opened.add(SourceFile::open(path));
        }
        opened
    }

    fn folder(&self, folder: &Path, opened: &mut OpenedFiles) {
        let top = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let mut walk = DirectoryWalk {
            top: ScopedRules {
                folder: top.clone(),
                rules: Rc::clone(&self.exclude),
            },
            found: Vec::new(),
        };
        walk.enter(folder, &top, &above(&top));
        walk.found.sort_by(|one, other| one.0.cmp(&other.0));
        let is_empty = walk.found.is_empty();
        for (path, found) in walk.found {
            match found {
                FoundFile::Manifest => opened.add(SourceFile::open(&path)),
                FoundFile::Chart => opened.add(SourceFile::open(&path).map(SourceFile::into_chart)),
                FoundFile::Unreadable(error) => opened.errors.push(OpenError::read(&path, error)),
                FoundFile::OutsideLink(target) => opened.errors.push(OpenError::OutsideLink {
                    name: path.display().to_string(),
                    target: target.display().to_string(),
                }),
            }
        }
        if is_empty {
            let name = folder.display().to_string();
            opened.errors.push(OpenError::EmptyFolder { name });
        }
    }
}

impl OpenedFiles {
    fn add(&mut self, source: Result<SourceFile, OpenError>) {
        match source {
            Ok(source) => self.sources.push(source),
            Err(error) => self.errors.push(error),
        }
    }
}

/// Rules and the folder that they are about, from the root.
#[derive(Clone, Debug)]
struct ScopedRules {
    folder: PathBuf,
    rules: Rc<IgnoreRules>,
}

impl ScopedRules {
    /// The rules of a folder's `.gitignore`, if it has one that can be read.
    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(".gitignore")).ok()?;
        let rules = IgnoreRules::parse(&String::from_utf8_lossy(&text));
        Some(Self {
            folder: folder.to_owned(),
            rules: Rc::new(rules),
        })
    }

    fn decide(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let relative = path.strip_prefix(&self.folder).ok()?;
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        self.rules.decide(&parts.join("/"), is_folder)
    }
}

/// The rules of the folders above `top`, the uppermost first; none outside of a Git repository.
fn above(top: &Path) -> Vec<ScopedRules> {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let Some(root) = top.ancestors().find(is_root) else {
        return Vec::new();
    };
    let folders = top.ancestors().skip(1);
    let inside = folders.take_while(|folder| folder.starts_with(root));
    let mut scopes: Vec<_> = inside.filter_map(ScopedRules::read).collect();
    scopes.reverse();
    scopes
}

enum FoundFile {
    Manifest,
    /// A `Chart.yaml` beside templates, which are passed over.
    Chart,
    Unreadable(io::Error),
    /// A symbolic link to this file outside of the searched directory. It is not followed: a directory from
    /// another author could otherwise show, or change, any file of the user.
    OutsideLink(PathBuf),
}

struct DirectoryWalk {
    /// The top of the search, with what is excluded.
    top: ScopedRules,
    found: Vec<(PathBuf, FoundFile)>,
}

impl DirectoryWalk {
    /// Looks at a folder; `path` is as the user named it, `real` from the root.
    fn enter(&mut self, path: &Path, real: &Path, above: &[ScopedRules]) {
        let mut folders = Vec::new();
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
            let is_folder = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
            if self.is_ignored(&real, is_folder, &scopes) {
                continue;
            }
            if is_folder {
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                let is_template = is_chart && name == "templates";
                if !is_hidden && !is_template {
                    folders.push((path, real));
                }
            } else if is_manifest(&path) {
                // A symbolic link can lead to a directory, or nowhere.
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
        for (path, real) in folders {
            self.enter(&path, &real, &scopes);
        }
    }

    /// The file to which a symbolic link leads, if that is not below the top of the search.
    fn target_outside(&self, path: &Path, entry: &fs::DirEntry) -> Option<PathBuf> {
        if !entry
            .file_type()
            .is_ok_and(|file_type| file_type.is_symlink())
        {
            return None;
        }
        let target = fs::canonicalize(path).ok()?;
        (!target.starts_with(&self.top.folder)).then_some(target)
    }

    /// What is excluded is; else the `.gitignore` decides that is nearest.
    fn is_ignored(&self, real: &Path, is_folder: bool, scopes: &[ScopedRules]) -> bool {
        let all = scopes.iter().chain([&self.top]).rev();
        all.into_iter()
            .find_map(|scope| scope.decide(real, is_folder))
            .unwrap_or_default()
    }
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

/// The lines of one file, in order: of those that match a path the last one decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreRules(Vec<IgnoreRule>);

#[derive(Clone, Debug)]
struct IgnoreRule {
    /// What stands before the first sign that means something, letter by letter.
    prefix: String,
    /// What follows it.
    glob: String,
    /// Whether the line begins with `!`, and takes back what one before it ignores.
    keeps: bool,
    /// Whether it ends with `/`, and is about folders alone.
    only_folders: bool,
    /// Whether a `/` ties it to the folder of the file; else it is about names, however deep.
    is_path: bool,
}

impl IgnoreRules {
    /// Reads lines; one that is empty, a comment or no pattern is about nothing.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(IgnoreRule::parse).collect())
    }

    /// Whether no line is a pattern.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path, relative to the folder of the file and with `/` between its parts, is
    /// ignored; `None` where no line is about it.
    pub(crate) fn decide(&self, path: &str, is_folder: bool) -> Option<bool> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_about = |rule: &&IgnoreRule| {
            (is_folder || !rule.only_folders)
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
        let (only_folders, line) = line
            .strip_suffix('/')
            .map_or((false, line), |rest| (true, rest));
        let is_path = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        let first_sign = line.find(['*', '?', '[', '\\']).unwrap_or(line.len());
        let (prefix, rest) = line.split_at(first_sign);
        // Braces mean nothing to Git.
        let glob = with_plain_asterisks(rest)
            .replace('{', "\\{")
            .replace('}', "\\}");
        let is_glob = !line.is_empty() && fast_glob::validate(&glob).is_ok();
        is_glob.then_some(Self {
            prefix: prefix.to_owned(),
            glob,
            keeps,
            only_folders,
            is_path,
        })
    }

    /// As Git does it: the prefix first, and what is left of both as if they began there.
    fn matches(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.prefix);
        rest.is_some_and(|rest| glob_match(&self.glob, rest))
    }
}

/// A glob in which `**` stands for folders alone: beside anything but a `/`, asterisks in a row
/// are one ("other consecutive asterisks are considered regular asterisks", gitignore(5)).
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

/// A line without the blanks at its end, unless a backslash keeps the last one.
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
    fn the_last_line_that_is_about_a_path_decides() {
        for (lines, path, is_folder, expected) in [
            ("", "a.yaml", false, None),
            ("# a.yaml\n\n", "a.yaml", false, None),
            ("*.yaml", "a/b.yaml", false, Some(true)),
            ("*.yaml\n!b.yaml", "a/b.yaml", false, Some(false)),
            ("/b.yaml", "a/b.yaml", false, None),
            ("/b.yaml", "b.yaml", false, Some(true)),
            ("a/b.yaml", "a/b.yaml", false, Some(true)),
            ("a/b.yaml", "c/a/b.yaml", false, None),
            ("**/a/b.yaml", "c/a/b.yaml", false, Some(true)),
            ("a/**/c", "a/b/b/c", false, Some(true)),
            ("a/**", "a/b", false, Some(true)),
            ("a/**", "a", true, None),
            ("build/", "x/build", true, Some(true)),
            ("build/", "build", false, None),
            ("a{b,c}", "ab", false, None),
            ("a{b,c}", "a{b,c}", false, Some(true)),
            ("\\!a", "!a", false, Some(true)),
            ("\\#a", "#a", false, Some(true)),
            ("a  ", "a", false, Some(true)),
            ("a\\ ", "a ", false, Some(true)),
            ("a[", "a[", false, None),
            ("[!a]b", "cb", false, Some(true)),
            ("a*", "b/ac", false, Some(true)),
            ("a*/c", "ab/c", false, Some(true)),
            ("a/*", "a/b/c", false, None),
            ("**/a**/**/*", "a.yaml", false, None),
            ("**/a**/**/*", "b/ac/d", false, Some(true)),
            ("a\\**", "a*bc", false, Some(true)),
            ("a\\**", "abc", false, None),
            ("/a/***/d", "a/b/c/d", false, Some(true)),
        ] {
            let rules = IgnoreRules::parse(lines);
            assert_eq!(rules.decide(path, is_folder), expected, "{lines:?} {path}");
        }
    }
}
