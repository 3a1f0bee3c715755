//! What acts on a terminal.

use dayshift::schedule::is_unprintable;

/// A colour, a link (OSC 8), a title, a bell, a return, an erased line in C1, text turned round,
/// nothing to be seen, and a second line.
pub const EVIL: &str = "\u{1b}[31mA\u{1b}]8;;http://example.com\u{7}B\u{1b}]0;title\u{7}\rC\u{9b}2KD\
                        \u{202e}E\u{200b}\u{feff}\u{2028}F\u{8}\u{7f}\nG::error::H";

/// The same for the name of a file.
pub fn name() -> String {
    EVIL.replace('/', "")
}

/// Lines end; nothing else acts.
pub fn assert_tame(text: &str, what: &str) {
    let acts = |c: &char| *c != '\n' && is_unprintable(*c);
    if let Some(found) = text.chars().find(acts) {
        let at = text.find(found).unwrap();
        let near: String = text[at..].chars().take(60).collect();
        let before: String = text[..at].chars().rev().take(100).collect();
        let before: String = before.chars().rev().collect();
        panic!("{what} has {found:?} after {before:?}: {near:?}");
    }
    assert!(
        !text.lines().any(|line| line.starts_with("G::error::")),
        "{what} lets a text begin a line: {text}"
    );
}
