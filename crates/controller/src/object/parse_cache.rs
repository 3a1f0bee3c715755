//! A cache of parsed annotations: equal annotations are parsed once and stored once.

use std::{collections::HashMap, sync::Arc};

use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Inputs, NamedSchedules, ParseContext, ParsedInputs, SpecParts, read,
};

/// The maximum size of all entries that are added before unused ones are removed, in bytes. Otherwise, a user
/// who edits one object, or its Namespace, again and again could fill the cache.
const MAX_ADDED: usize = 256 << 10;

/// The size of an entry without the values of its annotations.
const ENTRY: usize = size_of::<ParsedInputs>() + size_of::<Annotations>();

/// Inputs and their parsed form. If 10,000 objects have five different sets of annotations, the cache
/// contains five schedules. Errors are cached too. Unused entries are removed after [`MAX_ADDED`].
pub(crate) struct ParseCache {
    context: ParseContext,
    known: HashMap<Inputs, Arc<ParsedInputs>>,
    parts: SpecParts,
    /// The size of the entries that were added since unused ones were last removed.
    added: usize,
    /// The size of all entries that were ever added, in bytes. A measure of the time that parsing has taken.
    pub(crate) parsed_bytes: usize,
}

impl ParseCache {
    pub(crate) fn new(context: ParseContext) -> Self {
        Self {
            context,
            known: HashMap::new(),
            parts: SpecParts::default(),
            added: 0,
            parsed_bytes: 0,
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
        // Inherited annotations are counted again for each object. That is an upper bound of those that only
        // an earlier version of the Namespace had.
        let bytes = ENTRY + inputs.counted_bytes();
        if self.added + bytes > MAX_ADDED {
            self.known.retain(|_, parsed| Arc::strong_count(parsed) > 1);
            self.parts.remove_unused();
            self.added = 0;
        }
        self.added += bytes;
        self.parsed_bytes = self.parsed_bytes.wrapping_add(bytes);
        let parsed = match read(inputs, &self.context) {
            ParsedInputs::Scheduled(spec) => ParsedInputs::Scheduled(spec.sharing(&mut self.parts)),
            ParsedInputs::Invalid(problem) => ParsedInputs::Invalid(problem.compacted()),
            ParsedInputs::Unscheduled => ParsedInputs::Unscheduled,
        };
        let parsed = Arc::new(parsed);
        self.known.insert(inputs.clone(), parsed.clone());
        (inputs.clone(), parsed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
        let bound = MAX_ADDED / ENTRY;
        assert!(parse_cache.known.len() <= bound && bound < 400);
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
            let bytes = counted_bytes(&parse_cache);
            assert!(bytes < 300 << 10, "{bytes} bytes after edit {edit}");
        }
        assert!(parse_cache.known.len() >= kept.len());
    }

    fn counted_bytes(parse_cache: &ParseCache) -> usize {
        parse_cache.known.keys().map(Inputs::counted_bytes).sum()
    }

    #[test]
    fn edits_of_a_namespace_do_not_fill_the_cache_of_many_objects() {
        let mut parse_cache = ParseCache::new(ParseContext::default());
        let kept: Vec<_> = (0..1_000)
            .map(|object| parse_cache.parse(&inputs(&format!("object {object}"))))
            .collect();
        for edit in 0..150 {
            let reason = format!("{edit:04} {}", "x".repeat(4_000));
            let defaults = Annotations::from_texts([(Key::Reason, reason)]);
            parse_cache.parse(&Inputs::default().with_defaults(Some(Arc::new(defaults))));
            let bytes = counted_bytes(&parse_cache);
            assert!(bytes < 300 << 10, "{bytes} bytes after edit {edit}");
        }
        assert!(parse_cache.known.len() >= kept.len());
    }

    /// A short annotation on each object does not count toward the text budget, and long hours take several
    /// times the length of their text.
    #[test]
    fn inherited_parts_are_stored_once_for_objects_with_other_annotations() {
        let windows = (0..300).map(|number| format!("{:02}:{:02}-24:00", number / 60, number % 60));
        let dates = (0..300).map(|day| format!("20{:02}-01-{:02}", 30 + day / 28, 1 + day % 28));
        let extra = "2030-01-01..2031-05-01 09:00-09:01".to_owned();
        let needed = (0..10).map(|number| format!("sts/{}-{number}", "x".repeat(240)));
        let defaults = Annotations::from_texts([
            (Key::Hours, windows.collect::<Vec<_>>().join("; ")),
            (Key::Except, dates.collect::<Vec<_>>().join("; ")),
            (Key::TreatAs, "2030-01-01 = Mon".to_owned()),
            (Key::Extra, extra),
            (Key::After, needed.collect::<Vec<_>>().join("; ")),
        ]);
        let defaults = Some(Arc::new(defaults));
        let mut parse_cache = ParseCache::new(ParseContext::default());
        let objects: Vec<_> = (0..1_000)
            .map(|object| {
                let own = Inputs::default().with(Key::Jitter, &format!("{object}s"));
                parse_cache.parse(&own.with_defaults(defaults.clone())).1
            })
            .collect();
        let specs = objects.iter().map(|parsed| parsed.spec().unwrap());
        let parts: HashSet<_> = specs
            .map(|spec| {
                let schedule = &spec.schedule;
                (
                    std::ptr::from_ref(schedule.rule()),
                    std::ptr::from_ref(schedule.except()),
                    std::ptr::from_ref(schedule.treated()),
                    std::ptr::from_ref(schedule.extra()),
                    spec.after.as_ref().unwrap().named().as_ptr(),
                )
            })
            .collect();
        assert_eq!(parts.len(), 1);
    }
}
