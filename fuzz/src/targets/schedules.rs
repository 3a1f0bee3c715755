//! A file of named schedules.

use std::collections::BTreeSet;

use dayshift_manifest::{ScheduleFile, SourceFile};
use dayshift_workload::{Inputs, Key, MAX_TEXTS, NamedSchedule, ParseContext, read};

use super::super::texts::check_printable;

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let file = ScheduleFile::parse(SourceFile::new("fuzz.yaml", text));
    let context = ParseContext::default();
    for mistake in file.mistakes(&context) {
        check_printable(&mistake);
        assert!(mistake.len() < 2_000, "{mistake:?}");
    }
    for error in file.errors() {
        let span = error.place.span.clone();
        assert!(text.get(span.clone()).is_some(), "{span:?} of {error}");
    }
    let Ok(schedules) = file.schedules() else {
        assert!(file.entries().is_empty());
        return;
    };
    let entries = file.entries();
    assert!(entries.len() <= ScheduleFile::MAX_SCHEDULES);
    let names: BTreeSet<_> = entries.iter().map(|entry| entry.schedule.name()).collect();
    assert_eq!(names.len(), entries.len(), "each name once");
    for entry in entries {
        let named = &entry.schedule;
        assert!(NamedSchedule::is_name(named.name()));
        assert!(named.texts().kept_bytes() <= MAX_TEXTS);
        let keys = Key::ALL.into_iter().filter(|key| !key.describes_schedule());
        assert!(keys.into_iter().all(|key| !named.texts().has(key)));
        for (key, diagnostic) in named.problems() {
            let span = entry.place_of(key).span;
            assert!(text.get(span.clone()).is_some(), "{span:?} of {key}");
            check_printable(&diagnostic.to_string());
        }
        // An object that names it has exactly its values.
        let inputs = Inputs::default().with(Key::NamedSchedule, named.name());
        let inputs = inputs.with_schedules(&schedules);
        for key in Key::ALL.into_iter().filter(|key| key.describes_schedule()) {
            if inputs.counts().has(key) {
                assert_eq!(inputs.text(key), named.texts().text(key), "{key}");
            }
        }
        read(&inputs, &context);
    }
}
