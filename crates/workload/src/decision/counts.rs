//! How many replicas a start and a stop leave, and what is saved.
//!
//! What is known of the count comes as [`State::remembered`](crate::State::remembered): a
//! 0 in it is somebody's wish.

use crate::replicas::Replicas;

/// The count and the saved count after a stop. A stop never raises, and saves the larger of the
/// remembered and the seen count. It does not save a 0 if nothing is remembered.
pub fn stopped(
    seen: Replicas,
    remembered: Option<Replicas>,
    stop_replicas: Replicas,
) -> (Replicas, Option<Replicas>) {
    let worth_saving = (seen > Replicas::ZERO).then_some(seen);
    (seen.min(stop_replicas), remembered.max(worth_saving))
}

/// The count after a start: the exact one if given, else the remembered one, but never less than
/// is there. With nothing remembered a 0 becomes 1.
pub fn started(seen: Replicas, remembered: Option<Replicas>, exact: Option<Replicas>) -> Replicas {
    exact.unwrap_or_else(|| seen.max(remembered.unwrap_or(Replicas::ONE)))
}

/// The count after `wake-until` begins: that of a start, but at least 1 unless an exact count is
/// given, because somebody wants it now.
pub fn woken(seen: Replicas, remembered: Option<Replicas>, exact: Option<Replicas>) -> Replicas {
    exact.unwrap_or_else(|| started(seen, remembered, None).max(Replicas::ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn some(count: u32) -> Option<Replicas> {
        Some(Replicas::new(count))
    }

    #[test]
    fn a_stop_saves_the_larger_count_and_never_raises() {
        for (seen, remembered, stop_replicas, expected) in [
            (3, None, 0, (0, some(3))),
            (3, some(0), 0, (0, some(3))), // up again since it was wanted off
            (3, some(5), 0, (0, some(5))), // raised by hand at night, less than it was
            (6, some(5), 0, (0, some(6))),
            (0, some(0), 0, (0, some(0))), // wanted off since our start
            (0, None, 0, (0, None)),       // a manifest's 0 is no wish of the night
            (3, None, 1, (1, some(3))),
            (1, None, 2, (1, some(1))), // not raised
            (0, some(0), 2, (0, some(0))),
        ] {
            let (count, kept) = stopped(
                Replicas::new(seen),
                remembered,
                Replicas::new(stop_replicas),
            );
            assert_eq!(
                (count.get(), kept),
                expected,
                "{seen} {remembered:?} {stop_replicas}"
            );
        }
    }

    #[test]
    fn a_start_raises_to_the_remembered_count_and_never_lowers() {
        for (seen, remembered, exact, expected) in [
            (0, some(5), None, 5),
            (1, some(5), None, 5), // a 1 by hand at night is 5 again in the morning
            (6, some(5), None, 6), // and a 6 stays 6
            (0, some(0), None, 0), // wanted off
            (0, None, None, 1),    // a manifest's 0
            (4, None, None, 4),
            (6, some(5), some(2), 2), // exact, even lower
            (0, some(0), some(2), 2),
        ] {
            let count = started(Replicas::new(seen), remembered, exact);
            assert_eq!(count.get(), expected, "{seen} {remembered:?} {exact:?}");
        }
    }

    #[test]
    fn a_wake_brings_up_even_what_was_wanted_off() {
        for (seen, remembered, exact, expected) in [
            (0, some(5), None, 5),
            (0, some(0), None, 1),
            (0, None, None, 1),
            (6, some(5), None, 6),
            (6, None, some(2), 2),
        ] {
            let count = woken(Replicas::new(seen), remembered, exact);
            assert_eq!(count.get(), expected, "{seen} {remembered:?} {exact:?}");
        }
    }
}
