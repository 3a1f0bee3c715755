//! An independent oracle for control characters: it uses the tables of Unicode and not the code of
//! dayshift.

/// A color, a link (OSC 8), a title, a bell, a carriage return, an erased line in C1, text with
/// each kind of reversed direction, invisible characters, and a second line.
pub const EVIL: &str = "\u{1b}[31mA\u{1b}]8;;http://example.com\u{7}B\u{1b}]0;title\u{7}\rC\u{9b}2KD\
                        \u{202e}E\u{200b}\u{feff}\u{2028}F\u{8}\u{7f}\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}\
                        \u{180e}\u{fff9}\u{fffb}\u{e0041}\nG::error::H";

/// Characters that control a terminal, are invisible, or change the order of text: the general
/// categories Cc, Zl and Zp, the property Bidi_Control, and the invisible ones of category Cf
/// (Unicode 16.0, `DerivedGeneralCategory.txt` and `PropList.txt`).
const ACTING: [(char, char); 17] = [
    ('\u{0}', '\u{1f}'),        // C0
    ('\u{7f}', '\u{9f}'),       // DELETE, C1
    ('\u{ad}', '\u{ad}'),       // SOFT HYPHEN
    ('\u{61c}', '\u{61c}'),     // ARABIC LETTER MARK
    ('\u{180e}', '\u{180e}'),   // MONGOLIAN VOWEL SEPARATOR
    ('\u{200b}', '\u{200d}'),   // zero width
    ('\u{200e}', '\u{200f}'),   // LEFT-TO-RIGHT MARK, RIGHT-TO-LEFT MARK
    ('\u{2028}', '\u{2029}'),   // LINE SEPARATOR, PARAGRAPH SEPARATOR
    ('\u{202a}', '\u{202e}'),   // embeddings and overrides of direction
    ('\u{2060}', '\u{2064}'),   // WORD JOINER, invisible operators
    ('\u{2066}', '\u{206f}'),   // isolates of direction, deprecated formats
    ('\u{feff}', '\u{feff}'),   // ZERO WIDTH NO-BREAK SPACE
    ('\u{fff9}', '\u{fffb}'),   // interlinear annotation
    ('\u{1bca0}', '\u{1bca3}'), // shorthand format
    ('\u{1d173}', '\u{1d17a}'), // musical format
    ('\u{e0001}', '\u{e0001}'), // LANGUAGE TAG
    ('\u{e0020}', '\u{e007f}'), // tags
];

fn acts(character: char) -> bool {
    let mut ranges = ACTING.into_iter();
    character != '\n' && ranges.any(|(first, last)| (first..=last).contains(&character))
}

#[test]
fn the_oracle_accepts_ordinary_text() {
    for text in [
        "Mon-Fri 09:00",
        "月曜 09:00",
        "Zürich",
        "שבת",
        "السبت",
        "👩🏽 🇯🇵",
        "a\nb",
    ] {
        assert_eq!(text.chars().find(|it| acts(*it)), None, "{text}");
    }
    let evil = EVIL.chars().filter(|it| acts(*it)).count();
    let harmless = |it: &char| it.is_ascii_graphic() || *it == '\n';
    assert_eq!(evil, EVIL.chars().filter(|it| !harmless(it)).count());
}

/// dayshift escapes each character that the oracle finds.
#[test]
fn printable_text_has_no_control_characters() {
    for (first, last) in ACTING {
        for character in first..=last {
            let shown = dayshift_text::printable(&format!("a{character}b"));
            assert!(!shown.chars().any(acts), "{character:?}: {shown:?}");
        }
    }
}

/// A file name with the same text.
pub fn name() -> String {
    EVIL.replace('/', "")
}

/// Newlines are permitted; other control characters are not.
pub fn assert_escaped(text: &str, source: &str) {
    if let Some(found) = text.chars().find(|it| acts(*it)) {
        let at = text.find(found).unwrap();
        let near: String = text[at..].chars().take(60).collect();
        let before: String = text[..at].chars().rev().take(100).collect();
        let before: String = before.chars().rev().collect();
        panic!("{source} has {found:?} after {before:?}: {near:?}");
    }
    assert!(
        !text.lines().any(|line| line.starts_with("G::error::")),
        "{source} lets a text begin a line: {text}"
    );
}
