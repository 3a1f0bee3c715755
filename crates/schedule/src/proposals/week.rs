//! Proposals for weekdays, times of day and windows in other notations, such as `9am to 5pm on
//! Mon/Wed/Fri`.
//!
//! A table rewrites words. The text is then split into loose tokens, which are grouped into
//! [`LooseItem`]s of days with their times and windows.

use dayshift_text::{nearest, number};

use crate::{
    days::{MonthDays, NAMES},
    text::{Proposal, normalize_characters},
};

/// Words, and what they mean in an annotation; empty for words without meaning.
const WORDS: [(&str, &str); 11] = [
    ("at on from every each the", ""),
    ("to till til until through thru", "-"),
    ("and", ","),
    ("noon midday", "12pm"),
    ("day days everyday", "daily"),
    ("weekday workday workdays", "weekdays"),
    ("weekend", "weekends"),
    ("1st", "first"),
    ("2nd", "second"),
    ("3rd", "third"),
    ("4th", "fourth"),
];

/// Rewrites each of [`WORDS`] in lowercase text.
fn rewrite(text: &str) -> String {
    let is_end = |character: char| !character.is_alphanumeric();
    let words = text.split_inclusive(is_end).map(|part| {
        let word = part.trim_end_matches(is_end);
        let mut rows = WORDS.iter();
        let row = rows.find(|(words, _)| words.split(' ').any(|known| known == word));
        let meaning = row.map_or(word, |(_, meaning)| *meaning);
        format!("{meaning}{}", part.strip_prefix(word).unwrap_or_default())
    });
    words.collect()
}

/// The annotation that an item is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Times,
    Windows,
}

/// Guesses an item of times or hours.
pub(crate) fn guess(text: &str, wanted: Wanted) -> Option<Proposal> {
    let tokens = tokenize(text)?;
    let items = LooseItem::from_tokens(tokens)?;
    let join = |text_of: fn(&LooseItem) -> Option<String>| {
        let texts: Option<Vec<_>> = items.iter().map(text_of).collect();
        texts.map(|texts| texts.join("; "))
    };
    match (join(LooseItem::windows), wanted) {
        (Some(windows), Wanted::Times) => Some(Proposal::Hours(windows.into())),
        (windows, Wanted::Windows) => Some(Proposal::replace_all(text, &windows?)),
        (None, Wanted::Times) => Some(Proposal::replace_all(text, &join(LooseItem::times)?)),
    }
}

/// Days with their times of day, or with windows.
#[derive(Default)]
struct LooseItem {
    /// As in an annotation, such as `Mon-Fri,Sun` or `first Mon`; empty for every day.
    days: String,
    /// Whether the days come after the times.
    is_after: bool,
    /// Each time with the separator before it, which is `-` before the end of a window.
    clocks: Vec<(char, Clock)>,
}

impl LooseItem {
    fn from_tokens(tokens: Vec<Token>) -> Option<Vec<Self>> {
        let mut items: Vec<Self> = Vec::new();
        let mut gap = None;
        for token in tokens {
            let before = gap.take();
            match (token, items.last_mut()) {
                (Token::Gap(next), _) if before.is_none() => gap = Some(next),
                (Token::Gap(_), _) => return None,
                (Token::Days(days), Some(item)) if item.clocks.is_empty() || item.is_after => {
                    item.days.push(if before == Some('-') { '-' } else { ',' });
                    item.days += &days;
                }
                (Token::Days(_), Some(_)) if before == Some('-') => return None,
                (Token::Days(days), Some(item)) if item.days.is_empty() && before.is_none() => {
                    (item.days, item.is_after) = (days, true);
                }
                (Token::Days(days), _) => items.push(Self {
                    days,
                    ..Self::default()
                }),
                (Token::Clock(_), _) if before == Some('/') => return None,
                (Token::Clock(clock), Some(item)) if !item.is_after => {
                    item.clocks.push((before.unwrap_or(','), clock));
                }
                (Token::Clock(clock), _) => {
                    let clocks = vec![(before.unwrap_or(','), clock)];
                    items.push(Self {
                        clocks,
                        ..Self::default()
                    });
                }
            }
        }
        // If days are before some times and after others, they could belong to either.
        let is_after = items.first()?.is_after;
        let is_clear = items.iter().all(|item| item.is_after == is_after);
        (is_clear && matches!(gap, None | Some(','))).then_some(items)
    }

    fn times(&self) -> Option<String> {
        let is_clear = |(gap, clock): &(char, Clock)| {
            let is_time = match clock.form {
                // It can be either end of the day, or no time.
                ClockForm::Midnight => self.days.is_empty(),
                ClockForm::Bare => self.clocks.len() == 1,
                ClockForm::Full | ClockForm::HalfDay => true,
            };
            is_time && *gap == ',' && clock.second == 0
        };
        let texts: Vec<_> = self.clocks.iter().map(|(_, clock)| clock.text()).collect();
        let is_clear = !texts.is_empty() && self.clocks.iter().all(is_clear);
        is_clear.then(|| on(&self.days, &texts))
    }

    fn windows(&self) -> Option<String> {
        let windows = self.clocks.chunks(2).map(|pair| {
            let [(',', from), ('-', to)] = *pair else {
                return None;
            };
            let is_midnight = from.form == ClockForm::Midnight && !self.days.is_empty();
            let is_window = from.second + to.second == 0 && !is_midnight && !is_unclear(from, to);
            let end = match to.form {
                ClockForm::Midnight => "24:00".to_owned(),
                _ => to.text(),
            };
            is_window.then(|| format!("{}-{end}", from.text()))
        });
        let windows: Vec<_> = windows.collect::<Option<_>>()?;
        (!windows.is_empty()).then(|| on(&self.days, &windows))
    }
}

/// Whether a window such as `9-5` could end at 17:00 or at 05:00 the next day.
fn is_unclear(from: Clock, to: Clock) -> bool {
    let both = [from, to];
    let has = |form| both.iter().any(|clock| clock.form == form);
    let could_be_half_day = |clock: &Clock| {
        clock.form != ClockForm::HalfDay && (60..=12 * 60 + 59).contains(&clock.minute)
    };
    if has(ClockForm::HalfDay) && from.form != to.form && !has(ClockForm::Midnight) {
        return both.iter().any(could_be_half_day);
    }
    has(ClockForm::Bare) && to.minute <= from.minute && both.iter().all(could_be_half_day)
}

/// Times or windows on days.
fn on(days: &str, texts: &[String]) -> String {
    let separator = if days.is_empty() { "" } else { " " };
    format!("{days}{separator}{}", texts.join(","))
}

/// A time of day.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Minutes from midnight, up to 24:00.
    minute: u32,
    pub(crate) second: u32,
    form: ClockForm,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClockForm {
    /// Such as `9:30`.
    Full,
    /// Only digits.
    Bare,
    /// With `am` or `pm`.
    HalfDay,
    /// The word, which can be the start or the end of a day.
    Midnight,
}

impl Clock {
    /// Formats as `HH:MM`.
    pub(crate) fn text(self) -> String {
        format!("{:02}:{:02}", self.minute / 60, self.minute % 60)
    }
}

/// The time of day, if the text has nothing else.
pub(crate) fn parse_clock(text: &str) -> Option<Clock> {
    match *tokenize(text)? {
        [Token::Clock(clock)] if clock.form != ClockForm::Midnight => Some(clock),
        _ => None,
    }
}

enum Token {
    /// As in an annotation: `Mon`, `Mon-Fri`, `daily` or `first Mon`.
    Days(String),
    Clock(Clock),
    /// `-`, `,` or, only between days, `/`.
    Gap(char),
}

fn tokenize(text: &str) -> Option<Vec<Token>> {
    let text = normalize_characters(text).to_lowercase();
    let text = rewrite(&text.replace("a.m.", "am").replace("p.m.", "pm"));
    let mut rest = text.trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, after) = if first.is_ascii_digit() {
            take_clock(rest)?
        } else if first.is_alphabetic() {
            take_word(rest)?
        } else if rest.starts_with("..") {
            (Token::Gap('-'), rest.trim_start_matches('.'))
        } else {
            let gap = match first {
                '-' | '~' => '-',
                ',' | '&' => ',',
                '/' | '+' | '|' => '/',
                _ => return None,
            };
            (Token::Gap(gap), rest.get(1..)?)
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Some(tokens)
}

/// The leading letters, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(char::is_alphabetic);
    (text.strip_suffix(rest).unwrap_or(text), rest)
}

/// A day such as `mon.` or `frist mon`, or midnight, and the rest.
fn take_word(text: &str) -> Option<(Token, &str)> {
    let (word, after) = split_word(text);
    if word == "midnight" {
        let (minute, second, form) = (0, 0, ClockForm::Midnight);
        return Some((
            Token::Clock(Clock {
                minute,
                second,
                form,
            }),
            after,
        ));
    }
    // Short words are too similar to the names of days.
    let ordinal = nearest(word, MonthDays::ordinals()).filter(|_| word.len() >= 4);
    let Some(ordinal) = ordinal else {
        let more = after
            .strip_prefix('.')
            .filter(|more| !more.starts_with('.'));
        return Some((
            Token::Days(guess_day(word)?.to_owned()),
            more.unwrap_or(after),
        ));
    };
    let (unit, after) = split_word(after.trim_start());
    let unit = match guess_day(unit)? {
        "daily" => "day",
        "Mon-Fri" => "weekday",
        unit => unit,
    };
    Some((Token::Days(format!("{ordinal} {unit}")), after))
}

/// A day such as `tues`, `mondays` or `wendesday` as in an annotation.
fn guess_day(word: &str) -> Option<&'static str> {
    match nearest(word, ["weekdays", "weekends", "daily"]) {
        Some("weekdays") => return Some("Mon-Fri"),
        Some("weekends") => return Some("Sat-Sun"),
        Some(daily) => return Some(daily),
        None => {}
    }
    let day = find_name(word.strip_suffix('s').unwrap_or(word), &NAMES)?;
    NAMES.get(day)?.get(..3)
}

/// The position of the name that a word begins or misspells, ignoring case.
pub(crate) fn find_name(word: &str, names: &[&'static str]) -> Option<usize> {
    let begins = |name: &&str| {
        let begin = name.get(..word.len()).filter(|begin| begin.len() >= 3);
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    let misspelled = || {
        let short = names.iter().filter_map(|name| name.get(..3));
        let name = nearest(word, short.chain(names.iter().copied()))?;
        names.iter().position(|known| known.starts_with(name))
    };
    names.iter().position(begins).or_else(misspelled)
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// A time of day such as `9`, `900`, `9:30`, `9.30`, `9h30`, `9am` or `18:00:30`, and the rest.
fn take_clock(text: &str) -> Option<(Token, &str)> {
    let has_digit = |at: usize| {
        text.get(at..)
            .is_some_and(|rest| rest.starts_with(is_digit))
    };
    let mut letters = text.char_indices();
    let end = letters.find(|(at, letter)| match letter {
        'h' => !has_digit(at + 1),
        letter => !is_digit(*letter) && !matches!(letter, ':' | '.'),
    });
    let run = text.get(..end.map_or(text.len(), |(at, _)| at))?;
    let run = run.split("..").next()?.trim_end_matches(['.', ':']);
    let rest = text.get(run.len()..)?;
    let groups: Vec<_> = run.split([':', '.', 'h']).collect();
    let (hour, minute, second) = match *groups {
        [both] if both.len() == 3 || both.len() == 4 => {
            let (hour, minute) = both.split_at_checked(both.len() - 2)?;
            (hour, minute, "0")
        }
        [hour] if hour.len() <= 2 => (hour, "0", "0"),
        [hour, minute] if minute.len() == 2 || minute.len() == 1 && run.contains(':') => {
            (hour, minute, "0")
        }
        [hour, minute, second] if minute.len() == 2 && second.len() == 2 => (hour, minute, second),
        _ => return None,
    };
    let (hour, minute, second): (u32, u32, u32) = (number(hour)?, number(minute)?, number(second)?);
    let (word, after) = split_word(rest.trim_start());
    let (hour, form, rest) = match word {
        "am" | "pm" if !(1..=12).contains(&hour) => return None,
        "am" => (hour % 12, ClockForm::HalfDay, after),
        "pm" => (hour % 12 + 12, ClockForm::HalfDay, after),
        "h" | "uhr" => (hour, ClockForm::Full, after),
        _ if groups.len() == 1 => (hour, ClockForm::Bare, rest),
        _ => (hour, ClockForm::Full, rest),
    };
    let is_in_day = minute < 60 && second < 60 && (hour, minute, second) <= (24, 0, 0);
    let minute = hour.checked_mul(60)?.checked_add(minute)?;
    is_in_day.then_some((
        Token::Clock(Clock {
            minute,
            second,
            form,
        }),
        rest,
    ))
}
