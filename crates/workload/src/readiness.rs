//! How much of an object is ready, as its status says.

use super::replicas::Replicas;

/// How much of an object is ready. Nothing is decided about its schedule from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readiness {
    /// Its status does not say, or its kind has no such field.
    #[default]
    Unknown,
    /// By a number of replicas.
    Replicas {
        /// How many are ready.
        ready: Replicas,
        /// Whether its controller has seen the `spec` as it is: before, the status is of another.
        is_current: bool,
    },
    /// By a condition.
    Condition {
        /// Whether it is true.
        holds: bool,
        /// As for replicas.
        is_current: bool,
    },
}

impl Readiness {
    /// Whether an object with this count is ready; `None` where that is not known.
    pub fn is_ready(self, count: Replicas) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Replicas { ready, is_current } => Some(is_current && ready >= count),
            Self::Condition { holds, is_current } => Some(is_current && holds),
        }
    }

    /// How many replicas are ready, where it is known by their number.
    pub const fn replicas(self) -> Option<Replicas> {
        match self {
            Self::Replicas { ready, .. } => Some(ready),
            Self::Unknown | Self::Condition { .. } => None,
        }
    }

    /// As in a column, for an object with this count: `1/3`, `yes`, `no`; `None` where it is not known.
    pub fn in_a_word(self, count: Replicas) -> Option<String> {
        match self {
            Self::Replicas { ready, .. } => Some(format!("{ready}/{count}")),
            Self::Unknown | Self::Condition { .. } => {
                let is_ready = self.is_ready(count)?;
                Some(if is_ready { "yes" } else { "no" }.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas(ready: u32, is_current: bool) -> Readiness {
        let ready = Replicas::new(ready);
        Readiness::Replicas { ready, is_current }
    }

    #[test]
    fn an_object_is_ready_where_its_whole_count_is_by_a_status_of_its_spec() {
        for (readiness, count, is_ready, word) in [
            (Readiness::Unknown, 3, None, None),
            (replicas(0, true), 3, Some(false), Some("0/3")),
            (replicas(3, true), 3, Some(true), Some("3/3")),
            (replicas(0, true), 0, Some(true), Some("0/0")),
            // Those of a rollout that surges.
            (replicas(4, true), 3, Some(true), Some("4/3")),
            // It was 3 of 3 before somebody changed the template.
            (replicas(3, false), 3, Some(false), Some("3/3")),
        ] {
            let count = Replicas::new(count);
            assert_eq!(readiness.is_ready(count), is_ready, "{readiness:?}");
            assert_eq!(readiness.in_a_word(count).as_deref(), word);
        }
        for (holds, is_current, is_ready, word) in [
            (true, true, true, "yes"),
            (true, false, false, "no"),
            (false, true, false, "no"),
        ] {
            let readiness = Readiness::Condition { holds, is_current };
            assert_eq!(readiness.is_ready(Replicas::ONE), Some(is_ready));
            assert_eq!(readiness.in_a_word(Replicas::ONE).as_deref(), Some(word));
        }
    }
}
