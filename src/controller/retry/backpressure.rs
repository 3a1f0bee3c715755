//! Nothing is sent for a while after the server was away or asked to be left alone, and less at
//! once after it was too busy.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::cluster::{FailureKind, Unavailable};

use crate::controller::ids::Id;
use crate::controller::retry::backoff::Backoff;

/// A pause of all sending, longer each time the server fails again.
///
/// What one object's request meets is that object's trouble, unless it is evidently the
/// server's: no connection, 429, 503, or failures of many objects with no success between.
#[derive(Debug)]
pub(in crate::controller) struct Backpressure {
    until: Option<Instant>,
    failures: u32,
    most: usize,
    room: usize,
    answers: usize,
    answered: Option<Instant>,
    failing: Failing,
    /// Objects that have got no usable answer since the last success, the first two.
    unanswered: BTreeSet<Id>,
    /// Whether it is being asked for something that passes no admission.
    is_asked: bool,
}

/// The different objects that have failed since the last success.
#[derive(Debug, Default)]
struct Failing {
    objects: BTreeSet<Id>,
    namespaces: BTreeSet<Arc<str>>,
}

/// How long one request may take (`cluster::Writer`).
const LONGEST_REQUEST: Duration = Duration::from_secs(10);

/// So many different objects, of more than one namespace, fail of the server and not of themselves.
const MANY: usize = 16;

impl Backpressure {
    /// None yet, with at most so many requests under way.
    pub(in crate::controller) const fn new(most: usize) -> Self {
        Self {
            until: None,
            failures: 0,
            most,
            room: most,
            answers: 0,
            answered: None,
            failing: Failing {
                objects: BTreeSet::new(),
                namespaces: BTreeSet::new(),
            },
            unanswered: BTreeSet::new(),
            is_asked: false,
        }
    }

    /// The server did not answer, or asked to be left alone.
    pub(in crate::controller) fn back_off(
        &mut self,
        now: Instant,
        why: &Unavailable,
        random: &mut fastrand::Rng,
    ) {
        // Requests that were under way together fail together: that is one failure.
        if self.is_over(now) {
            self.failures = self.failures.saturating_add(1);
            self.answers = 0;
            if why.kind == FailureKind::Overloaded {
                self.room = (self.room / 2).max(1);
            }
        }
        let delay = Backoff::SERVER.delay(self.failures, random);
        let until = now + delay.max(why.retry_after.unwrap_or_default());
        self.until = Some(self.until.map_or(until, |known| known.max(until)));
    }

    /// The server has failed to do what it was asked of one object. Where many others have fared no
    /// better since the last success, it is the server's trouble.
    pub(in crate::controller) fn object_failed(
        &mut self,
        now: Instant,
        id: Id,
        namespace: &Arc<str>,
        why: &Unavailable,
        random: &mut fastrand::Rng,
    ) {
        let Failing {
            objects,
            namespaces,
        } = &mut self.failing;
        if objects.len() < MANY {
            objects.insert(id);
        }
        if namespaces.len() < 2 {
            namespaces.insert(namespace.clone());
        }
        if objects.len() >= MANY && namespaces.len() > 1 {
            self.back_off(now, why, random);
        }
    }

    /// The server has answered. After as many answers as may be under way at most there is room
    /// for one more: too slow to be in the way of a server that is busy for good.
    pub(in crate::controller) fn answered(&mut self, now: Instant) {
        self.answered = Some(now);
        self.failures = 0;
        self.failing = Failing::default();
        self.unanswered.clear();
        self.answers += 1;
        if self.answers >= self.most {
            self.answers = 0;
            self.room = (self.room + 1).min(self.most);
        }
    }

    /// An object has got no answer in time. Whether the server is to be asked for something that passes
    /// no admission, because it has answered nothing for as long as one request may take: a webhook
    /// that hangs says nothing of the server, for however many objects. It is taken to be asked.
    pub(in crate::controller) fn must_ask(&mut self, now: Instant) -> bool {
        let must_ask = !self.is_asked && self.is_silent(now);
        self.is_asked |= must_ask;
        must_ask
    }

    /// The server was asked, and has answered or not.
    pub(in crate::controller) const fn was_asked(&mut self, has_answered: bool, now: Instant) {
        self.is_asked = false;
        if has_answered {
            self.answered = Some(now);
        }
    }

    fn is_silent(&self, now: Instant) -> bool {
        self.answered
            .is_none_or(|answered| now >= answered + LONGEST_REQUEST)
    }

    /// An object has got no usable answer. Whether the server is to be taken for away: others have
    /// fared no better, and it has answered nothing for as long as one request may take. One object
    /// alone says nothing of the server however long it lasts.
    pub(in crate::controller) fn is_away(&mut self, now: Instant, id: Id) -> bool {
        if self.unanswered.len() < 2 {
            self.unanswered.insert(id);
        }
        self.unanswered.len() > 1 && self.is_silent(now)
    }

    /// This object asks for nothing any more.
    pub(in crate::controller) fn forget(&mut self, id: Id) {
        self.unanswered.remove(&id);
    }

    /// How many requests may be under way now.
    pub(in crate::controller) const fn room(&self) -> usize {
        self.room
    }

    pub(in crate::controller) fn is_over(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// When it is over, or was; `None` where there was none.
    pub(in crate::controller) const fn until(&self) -> Option<Instant> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 32;

    fn failure(kind: FailureKind) -> Unavailable {
        Unavailable {
            reason: String::new(),
            retry_after: None,
            kind,
        }
    }

    /// A pause after so many failures, of which each is over when the next one comes.
    fn after(failures: u32, kind: FailureKind) -> Backpressure {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut pause, mut now) = (Backpressure::new(MOST), Instant::now());
        for _ in 0..failures {
            pause.back_off(now, &failure(kind), &mut random);
            // What was under way with it counts no more.
            pause.back_off(now, &failure(kind), &mut random);
            now += Duration::from_secs(5);
        }
        pause
    }

    #[test]
    fn sends_half_as_much_at_once_to_a_server_that_is_too_busy() {
        for (failures, room) in [(0, 32), (1, 16), (2, 8), (5, 1), (9, 1)] {
            assert_eq!(
                after(failures, FailureKind::Overloaded).room(),
                room,
                "{failures}"
            );
            assert_eq!(
                after(failures, FailureKind::Unreachable).room(),
                MOST,
                "it was away"
            );
        }
    }

    #[test]
    fn sends_more_again_while_it_answers() {
        let mut pause = after(5, FailureKind::Overloaded);
        for (answers, room) in [(31, 1), (1, 2), (32, 3), (32 * 100, 32)] {
            (0..answers).for_each(|_| pause.answered(Instant::now()));
            assert_eq!(pause.room(), room);
        }
    }

    /// Whether nothing is sent after these objects of two namespaces have failed, with a success
    /// before the last ones.
    fn holds_back(before: &[Id], after: &[Id]) -> bool {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut pressure, now) = (Backpressure::new(MOST), Instant::now());
        let namespaces = [Arc::from("a"), Arc::from("b")];
        let mut fail = |pressure: &mut Backpressure, ids: &[Id]| {
            for id in ids {
                let namespace = &namespaces[usize::from(*id > 100)];
                let why = failure(FailureKind::Failed);
                pressure.object_failed(now, *id, namespace, &why, &mut random);
            }
        };
        fail(&mut pressure, before);
        if !after.is_empty() {
            pressure.answered(now);
        }
        fail(&mut pressure, after);
        !pressure.is_over(now)
    }

    #[test]
    fn a_server_is_away_where_two_objects_get_no_answer_and_nothing_else_does() {
        let (mut pressure, begun) = (Backpressure::new(MOST), Instant::now());
        assert!(!pressure.is_away(begun, 1) && !pressure.is_away(begun, 1));
        assert!(pressure.is_away(begun, 2));
        pressure.forget(1);
        assert!(!pressure.is_away(begun, 2), "it is alone now");
        pressure.answered(begun);
        assert!(!pressure.is_away(begun, 2) && !pressure.is_away(begun, 3));
        assert!(pressure.is_away(begun + LONGEST_REQUEST, 3));
    }

    #[test]
    fn failures_are_the_server_s_where_many_fail_and_nothing_succeeds() {
        let many: Vec<Id> = (93..109).collect();
        assert!(holds_back(&many, &[]));
        assert!(!holds_back(&many[1..], &[]), "these are too few");
        assert!(
            !holds_back(&(1..100).collect::<Vec<_>>(), &[]),
            "one namespace"
        );
        assert!(
            !holds_back(&[1, 101].repeat(50), &[]),
            "the same two again and again"
        );
        assert!(
            !holds_back(&many[..8], &many[8..]),
            "a success lies between"
        );
    }
}
