//! The lines of a `.gitignore` (gitignore(5)), and of `--exclude`.

use fast_glob::glob_match;

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
            .map_or((false, line), |it| (true, it));
        let (only_folders, line) = line
            .strip_suffix('/')
            .map_or((false, line), |it| (true, it));
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
        if part.len() > 1 && part.bytes().all(|it| it == b'*') {
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
