//! Characters that look like those of the keyboard.

use dayshift_text::is_unprintable;

use crate::text::tokens::is_foreign_dash;

/// The text in the characters of the keyboard: full-width forms, foreign dashes and blanks become
/// plain ones, quotes and what nobody sees go.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if character.is_whitespace() => plain.push(' '),
            _ if is_foreign_dash(character) => plain.push('-'),
            '〜' => plain.push('-'),
            '、' => plain.push(','),
            '\u{ff01}'..='\u{ff5e}' => {
                plain.extend(char::from_u32(u32::from(character) - 0xfee0));
            }
            '"' | '\'' | '`' | '\u{2018}'..='\u{201f}' => {}
            _ if is_unprintable(character) => {}
            _ => plain.push(character),
        }
    }
    let words: Vec<_> = plain.split_whitespace().collect();
    words.join(" ")
}
