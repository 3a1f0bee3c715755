//! The name of a zone that somebody may have meant.

use super::tzdata::Tzdata;
use crate::text;

/// The zone name nearest to `name`: equal except for case and blanks, the same city, or a few
/// letters away. `None` where no name is near.
pub(in crate::schedule) fn nearest(name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase().replace(' ', "_");
    let names = || Tzdata::in_use().names();
    let is = |name: &str| name.eq_ignore_ascii_case(&wanted);
    names()
        .find(|name| is(name))
        .or_else(|| names().find(|name| is(city(name))))
        .or_else(|| text::nearest(&wanted, names()))
        .or_else(|| {
            let nearest = text::nearest(&wanted, names().map(city))?;
            names().find(|name| city(name) == nearest)
        })
}

fn city(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
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
