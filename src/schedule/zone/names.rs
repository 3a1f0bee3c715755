//! The name of a zone that somebody may have meant.

use super::tzdata::Tzdata;

/// Longer than any name (the longest has 32 bytes), short enough to compare with all of them.
const LONGEST: usize = 40;

/// The zone name nearest to `text`: equal except for case and blanks, the same city, or a few
/// letters away. `None` where no name is near.
pub(in crate::schedule) fn nearest(text: &str) -> Option<&'static str> {
    if text.len() > LONGEST {
        return None;
    }
    let wanted = text.to_lowercase().replace(' ', "_");
    let names = || Tzdata::in_use().names();
    names()
        .find(|name| name.eq_ignore_ascii_case(&wanted))
        .or_else(|| names().find(|name| city(name).eq_ignore_ascii_case(&wanted)))
        .or_else(|| closest(&wanted, names().map(|name| (name, name))))
        .or_else(|| closest(&wanted, names().map(|name| (name, city(name)))))
}

fn city(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The name whose `form` takes the fewest changes of letters, at most one in four.
fn closest<'a>(
    wanted: &str,
    names: impl Iterator<Item = (&'static str, &'a str)>,
) -> Option<&'static str> {
    let most = wanted.len() / 4;
    names
        .filter(|(_, form)| form.len().abs_diff(wanted.len()) <= most)
        .map(|(name, form)| (strsim::osa_distance(wanted, &form.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= most)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        for (text, expected) in [
            ("Asia/Tokio", Some("Asia/Tokyo")),
            ("asia/tokyo", Some("Asia/Tokyo")),
            ("Tokyo", Some("Asia/Tokyo")),
            ("new york", Some("America/New_York")),
            ("Europe/Belrin", Some("Europe/Berlin")),
            ("Berlim", Some("Europe/Berlin")),
            ("utc", Some("UTC")),
            ("Mars/Olympus", None),
            ("+09:00", None),
            ("東京", None),
            ("", None),
        ] {
            assert_eq!(nearest(text), expected, "{text}");
        }
        assert_eq!(nearest(&"Europe/".repeat(40)), None);
    }
}
