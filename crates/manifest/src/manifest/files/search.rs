//! Files, folders and standard input: which manifests there are to read.

use std::{
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::ignore_rules::IgnoreRules;
use super::source::Source;
use crate::manifest::error::OpenError;

/// What standard input is called in errors and reports.
pub const STANDARD_INPUT: &str = "standard input";

/// Which files of a folder are read.
#[derive(Clone, Debug, Default)]
pub struct Search {
    exclude: Rc<IgnoreRules>,
}

/// What was found, each in the order of the paths: one file or folder that cannot be read keeps
/// no other from being read.
#[derive(Debug, Default)]
pub struct Opened {
    /// The files that were read.
    pub sources: Vec<Source>,
    /// Why others were not.
    pub errors: Vec<OpenError>,
}

impl Search {
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
    pub fn open(&self, path: &Path) -> Opened {
        let mut opened = Opened::default();
        if path == Path::new("-") {
            opened.add(Source::read(STANDARD_INPUT.to_owned(), io::stdin().lock()));
        } else if path.is_dir() {
            self.folder(path, &mut opened);
        } else {
            opened.add(Source::open(path));
        }
        opened
    }

    fn folder(&self, folder: &Path, opened: &mut Opened) {
        let top = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let mut walk = Walk {
            top: Scoped {
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
                Found::Manifest => opened.add(Source::open(&path)),
                Found::Chart => opened.add(Source::open(&path).map(Source::of_chart)),
                Found::Unreadable(error) => opened.errors.push(OpenError::read(&path, error)),
            }
        }
        if is_empty {
            let name = folder.display().to_string();
            opened.errors.push(OpenError::EmptyFolder { name });
        }
    }
}

impl Opened {
    fn add(&mut self, source: Result<Source, OpenError>) {
        match source {
            Ok(source) => self.sources.push(source),
            Err(error) => self.errors.push(error),
        }
    }
}

/// Rules and the folder that they are about, from the root.
#[derive(Clone, Debug)]
struct Scoped {
    folder: PathBuf,
    rules: Rc<IgnoreRules>,
}

impl Scoped {
    /// The rules of a folder's `.gitignore`, if it has one that can be read.
    fn of(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(".gitignore")).ok()?;
        let rules = IgnoreRules::parse(&String::from_utf8_lossy(&text));
        Some(Self {
            folder: folder.to_owned(),
            rules: Rc::new(rules),
        })
    }

    fn decide(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let relative = path.strip_prefix(&self.folder).ok()?;
        let parts: Vec<_> = relative.iter().map(|it| it.to_string_lossy()).collect();
        self.rules.decide(&parts.join("/"), is_folder)
    }
}

/// The rules of the folders above `top`, the uppermost first; none outside of a Git repository.
fn above(top: &Path) -> Vec<Scoped> {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let Some(root) = top.ancestors().find(is_root) else {
        return Vec::new();
    };
    let folders = top.ancestors().skip(1);
    let inside = folders.take_while(|it| it.starts_with(root));
    let mut scopes: Vec<_> = inside.filter_map(Scoped::of).collect();
    scopes.reverse();
    scopes
}

enum Found {
    Manifest,
    /// A `Chart.yaml` beside templates, which are passed over.
    Chart,
    Unreadable(io::Error),
}

struct Walk {
    /// The top of the search, with what is excluded.
    top: Scoped,
    found: Vec<(PathBuf, Found)>,
}

impl Walk {
    /// Looks at a folder; `path` is as the user named it, `real` from the root.
    fn enter(&mut self, path: &Path, real: &Path, above: &[Scoped]) {
        let mut folders = Vec::new();
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return self.found.push((path.to_owned(), Found::Unreadable(error))),
        };
        let scopes: Vec<_> = above.iter().cloned().chain(Scoped::of(real)).collect();
        let is_chart = path.join("Chart.yaml").is_file();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.found.push((path.to_owned(), Found::Unreadable(error))),
            };
            let name = entry.file_name();
            let (path, real) = (entry.path(), real.join(&name));
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
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
                // A symbolic link may lead to a folder, or nowhere.
                match fs::metadata(&path) {
                    Ok(file) if file.is_file() => {
                        let has_templates = || path.with_file_name("templates").is_dir();
                        let is_chart = name == "Chart.yaml" && has_templates();
                        let found = if is_chart {
                            Found::Chart
                        } else {
                            Found::Manifest
                        };
                        self.found.push((path, found));
                    }
                    Ok(_) => {}
                    Err(error) => self.found.push((path, Found::Unreadable(error))),
                }
            }
        }
        for (path, real) in folders {
            self.enter(&path, &real, &scopes);
        }
    }

    /// What is excluded is; else the `.gitignore` decides that is nearest.
    fn is_ignored(&self, real: &Path, is_folder: bool, scopes: &[Scoped]) -> bool {
        let all = scopes.iter().chain([&self.top]).rev();
        all.into_iter()
            .find_map(|scope| scope.decide(real, is_folder))
            .unwrap_or_default()
    }
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|it| it.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}
