//! Rule 4: how many replicas a start and a stop leave, and what is saved.

use super::{replicas::Replicas, state::Phase};

/// The count and the saved count after a stop: it never raises, and it saves the larger of what
/// is saved and what it saw. A 0 is saved only where a start of ours came before: then somebody
/// wanted it off.
pub fn stopped(
    seen: Replicas,
    saved: Option<Replicas>,
    phase: Option<Phase>,
    stop_replicas: Replicas,
) -> (Replicas, Option<Replicas>) {
    let wanted_off = phase.is_some_and(Phase::follows_a_start);
    let worth_saving = (seen > Replicas::ZERO || wanted_off).then_some(seen);
    (seen.min(stop_replicas), saved.max(worth_saving))
}

/// The count after a start: the exact one if given, else the saved one, but never less than is
/// there. With nothing saved a 0 becomes 1, unless a start of ours came before it.
pub fn started(
    seen: Replicas,
    saved: Option<Replicas>,
    phase: Option<Phase>,
    exact: Option<Replicas>,
) -> Replicas {
    if let Some(exact) = exact {
        return exact;
    }
    match saved {
        Some(saved) => seen.max(saved),
        None if phase.is_some_and(Phase::follows_a_start) => seen,
        None => seen.max(Replicas::ONE),
    }
}

/// The count after `wake-until` begins: that of a start, but at least 1 unless an exact count is
/// given, because somebody wants it now.
pub fn woken(seen: Replicas, saved: Option<Replicas>, exact: Option<Replicas>) -> Replicas {
    exact.unwrap_or_else(|| seen.max(saved.unwrap_or_default()).max(Replicas::ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn some(count: u32) -> Option<Replicas> {
        Some(Replicas::new(count))
    }

    #[test]
    fn a_stop_saves_the_larger_count_and_never_raises() {
        use Phase::{Adopted, Running, Stopped};
        for (seen, saved, phase, stop_replicas, expected) in [
            (3, None, Running, 0, (0, some(3))),
            (3, None, Adopted, 0, (0, some(3))),
            (3, some(5), Stopped, 0, (0, some(5))), // raised by hand at night, less than it was
            (6, some(5), Stopped, 0, (0, some(6))),
            (0, None, Running, 0, (0, some(0))), // wanted off since our start
            (0, None, Adopted, 0, (0, None)),    // a manifest's 0 is no wish of the night
            (0, some(0), Stopped, 0, (0, some(0))),
            (3, None, Running, 1, (1, some(3))),
            (1, None, Running, 2, (1, some(1))), // not raised
            (0, None, Running, 2, (0, some(0))),
        ] {
            let (count, kept) = stopped(
                Replicas::new(seen),
                saved,
                Some(phase),
                Replicas::new(stop_replicas),
            );
            assert_eq!(
                (count.get(), kept),
                expected,
                "{seen} {saved:?} {phase} {stop_replicas}"
            );
        }
    }

    #[test]
    fn a_start_raises_to_the_saved_count_and_never_lowers() {
        use Phase::{Adopted, Running, Stopped};
        for (seen, saved, phase, exact, expected) in [
            (0, some(5), Stopped, None, 5),
            (1, some(5), Stopped, None, 5), // a 1 by hand at night is 5 again in the morning
            (6, some(5), Stopped, None, 6), // and a 6 stays 6
            (0, some(0), Stopped, None, 0), // wanted off
            (0, None, Adopted, None, 1),    // a manifest's 0
            (0, None, Stopped, None, 1),
            (0, None, Running, None, 0), // off by hand since our start
            (4, None, Adopted, None, 4),
            (6, some(5), Stopped, some(2), 2), // exact, even lower
            (0, some(0), Stopped, some(2), 2),
        ] {
            let count = started(Replicas::new(seen), saved, Some(phase), exact);
            assert_eq!(count.get(), expected, "{seen} {saved:?} {phase} {exact:?}");
        }
    }

    #[test]
    fn a_wake_brings_up_even_what_was_wanted_off() {
        for (seen, saved, exact, expected) in [
            (0, some(5), None, 5),
            (0, some(0), None, 1),
            (0, None, None, 1),
            (6, some(5), None, 6),
            (6, None, some(2), 2),
        ] {
            let count = woken(Replicas::new(seen), saved, exact);
            assert_eq!(count.get(), expected, "{seen} {saved:?} {exact:?}");
        }
    }
}
