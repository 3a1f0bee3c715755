//! A cache of parsed annotations: equal annotations are parsed once and stored once.

use std::{collections::HashMap, sync::Arc};

use dayshift_schedule::Calendars;
use dayshift_workload::{Inputs, NamedSchedules, ParseContext, ParsedInputs, read};

/// The maximum length of all annotations that are added before unused entries are removed, in bytes. Otherwise,
/// a user who edits one object again and again could fill the cache of a large cluster with long annotations.
const MAX_ADDED: usize = 256 << 10;

/// Inputs and their parsed form. If 10,000 objects have five different sets of annotations, the cache
/// contains five schedules. Errors are cached too. Unused entries are removed when the cache is full, and after
/// [`MAX_ADDED`].
pub(crate) struct ParseCache {
    context: ParseContext,
    known: HashMap<Inputs, Arc<ParsedInputs>>,
    limit: usize,
    /// The length of the annotations that were added since unused entries were last removed.
    added: usize,
}

impl ParseCache {
    pub(crate) fn new(context: ParseContext) -> Self {
        Self {
            context,
            known: HashMap::new(),
            limit: 64,
            added: 0,
        }
    }

    /// Replaces the calendars. Inputs that refer to calendars are parsed again when they are used next.
    pub(crate) fn set_calendars(&mut self, calendars: Calendars) {
        self.context.calendars = calendars;
        self.known
            .retain(|_, parsed| !parsed.depends_on_calendars());
    }

    /// Sets other named schedules: inputs that name any are parsed again on their next use. The error
    /// of an unknown name depends on the known ones.
    pub(crate) fn set_schedules(&mut self, schedules: NamedSchedules) {
        self.context.schedules = schedules;
        self.known.retain(|inputs, _| !inputs.refers_to_schedules());
    }

    /// Returns the shared copy of these inputs, and their parsed form.
    pub(crate) fn parse(&mut self, inputs: &Inputs) -> (Inputs, Arc<ParsedInputs>) {
        if let Some((inputs, parsed)) = self.known.get_key_value(inputs) {
            return (inputs.clone(), parsed.clone());
        }
        let bytes = inputs.own().kept_bytes();
        if self.known.len() >= self.limit || self.added + bytes > MAX_ADDED {
            self.known.retain(|_, parsed| Arc::strong_count(parsed) > 1);
            self.limit = 64.max(2 * self.known.len());
            self.added = 0;
        }
        self.added += bytes;
        let parsed = match read(inputs, &self.context) {
            ParsedInputs::Invalid(problem) => ParsedInputs::Invalid(problem.compacted()),
            parsed => parsed,
        };
        let parsed = Arc::new(parsed);
        self.known.insert(inputs.clone(), parsed.clone());
        (inputs.clone(), parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dayshift_workload::Key;

    fn inputs(text: &str) -> Inputs {
        Inputs::default().with(Key::Start, text)
    }

    #[test]
    fn equal_inputs_share_one_parsed_form_and_unused_entries_are_removed() {
        let mut parse_cache = ParseCache::new(ParseContext::default());
        let (kept, first) = parse_cache.parse(&inputs("09:00"));
        let (again, second) = parse_cache.parse(&inputs("09:00"));
        assert!(Arc::ptr_eq(&first, &second) && std::ptr::eq(kept.own(), again.own()));
        for minute in 0..600 {
            parse_cache.parse(&inputs(&format!("{:02}:{:02}", minute / 60, minute % 60)));
        }
        assert!(parse_cache.known.len() <= 64, "{}", parse_cache.known.len());
        assert!(Arc::ptr_eq(&first, &parse_cache.parse(&kept).1));
    }

    #[test]
    fn edits_of_one_object_do_not_fill_the_cache_of_many_objects() {
        let mut parse_cache = ParseCache::new(ParseContext::default());
        let kept: Vec<_> = (0..1_000)
            .map(|object| parse_cache.parse(&inputs(&format!("object {object}"))))
            .collect();
        for edit in 0..150 {
            let text = format!("{edit:04} {}", "x".repeat(4_000));
            parse_cache.parse(&inputs(&text));
            let known = parse_cache.known.keys();
            let bytes: usize = known.map(|inputs| inputs.own().kept_bytes()).sum();
            assert!(bytes < 300 << 10, "{bytes} bytes after edit {edit}");
        }
        assert!(parse_cache.known.len() >= kept.len());
    }
}
