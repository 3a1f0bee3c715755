//! Which boundary is due.

use crate::checker::{
    objects::texts,
    rules::{moment::Moment, outcome::Outcome},
};

impl Moment<'_> {
    /// The newest boundary, if that is due; more than one answer where only the scaler knows.
    pub(in crate::checker) fn due(&self) -> Vec<Option<Outcome>> {
        let last = self.state.last.unwrap();
        let newest = self.timeline.newest(self.now);
        let Some((at, turn)) = newest.filter(|(at, _)| *at > last) else {
            return vec![None];
        };
        let answers = match self.state.next {
            Some(next) => vec![at >= next],
            None if texts::names_calendars(&self.object.in_force()) => self.is_of_calendars(at),
            None => vec![true],
        };
        let answers = answers.into_iter();
        answers
            .map(|is_due| is_due.then(|| self.turn(at, turn)))
            .collect()
    }

    /// Where no boundary was to come, calendars have brought it about that are others since: what
    /// lies before they were read is not made up for. What was refused had none to come either.
    fn is_of_calendars(&self, at: i64) -> Vec<bool> {
        if self.object.error.is_some() {
            return vec![true];
        }
        let mut answers = Vec::new();
        for (from, to) in self.calendars_read {
            answers.extend((at > *from).then_some(true));
            answers.extend((at <= *to).then_some(false));
        }
        answers
    }
}
