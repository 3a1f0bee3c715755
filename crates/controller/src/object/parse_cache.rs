//! Annotations, parsed once for all objects with the same text.

use std::{collections::HashMap, sync::Arc};

use dayshift_schedule::Calendars;
use dayshift_workload::{Inputs, ParseContext, ParsedInputs, read};

/// Inputs and their parsed form: ten thousand objects with five texts between them hold five
/// schedules, and share refusals too.
pub(crate) struct ParseCache {
    context: ParseContext,
    known: HashMap<Inputs, Arc<ParsedInputs>>,
    limit: usize,
}

impl ParseCache {
    pub(crate) fn new(context: ParseContext) -> Self {
        Self {
            context,
            known: HashMap::new(),
            limit: 64,
        }
    }

    /// Sets other calendars: inputs that name any are parsed again on their next use.
    pub(crate) fn set_calendars(&mut self, calendars: Calendars) {
        self.context.calendars = calendars;
        self.known
            .retain(|_, parsed| !parsed.depends_on_calendars());
    }

    /// The parsed form of these inputs, and the one copy of the inputs that is kept.
    pub(crate) fn parse(&mut self, inputs: &Inputs) -> (Inputs, Arc<ParsedInputs>) {
        if let Some((inputs, parsed)) = self.known.get_key_value(inputs) {
            return (inputs.clone(), parsed.clone());
        }
        if self.known.len() >= self.limit {
            self.known.retain(|_, parsed| Arc::strong_count(parsed) > 1);
            self.limit = 64.max(2 * self.known.len());
        }
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
    fn equal_texts_share_one_reading_and_forgotten_ones_go() {
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
}
