//! Rate limits for log lines, by namespace, because tenants can cause them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// The maximum number of lines for a namespace in a period.
const MAX_LINES: u32 = 10;

const PERIOD: Duration = Duration::from_secs(60);

/// The maximum number of counted namespaces. Further ones share one limit.
const MAX_NAMESPACES: usize = 10_000;

/// Counts the log lines of each namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogLimit(Arc<Mutex<HashMap<Arc<str>, Lines>>>);

#[derive(Debug)]
struct Lines {
    since: Instant,
    logged: u32,
    suppressed: u64,
}

impl LogLimit {
    /// Whether a line about this namespace can be logged now. If so, returns the number of lines that were
    /// suppressed before it.
    pub(crate) fn allow(&self, namespace: &Arc<str>) -> Option<u64> {
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_NAMESPACES && !all.contains_key(namespace) {
            all.retain(|_, lines| lines.since + PERIOD > now);
        }
        let key = match all.len() >= MAX_NAMESPACES && !all.contains_key(namespace) {
            true => Arc::from(""),
            false => Arc::clone(namespace),
        };
        let lines = all.entry(key).or_insert_with(|| Lines {
            since: now,
            logged: 0,
            suppressed: 0,
        });
        if lines.since + PERIOD <= now {
            lines.since = now;
            lines.logged = 0;
        }
        if lines.logged >= MAX_LINES {
            lines.suppressed += 1;
            return None;
        }
        lines.logged += 1;
        Some(std::mem::take(&mut lines.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn namespace_that_causes_many_lines_does_not_silence_another() {
        let limit = LogLimit::default();
        let [noisy, quiet] = ["noisy", "quiet"].map(Arc::from);
        let logged = (0..20_000)
            .filter(|_| limit.allow(&noisy).is_some())
            .count();
        assert_eq!(logged, 10);
        assert_eq!(limit.allow(&quiet), Some(0));
        advance(PERIOD).await;
        assert_eq!(limit.allow(&noisy), Some(19_990));
        assert_eq!(limit.allow(&noisy), Some(0));
    }
}
