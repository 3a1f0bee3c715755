//! Rate limits for log lines, by namespace, because tenants can cause them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

const PERIOD: Duration = Duration::from_secs(60);

/// The maximum number of counted namespaces. Further ones share one limit.
const MAX_NAMESPACES: usize = 10_000;

/// Counts the log lines of each namespace. Clones share their counts.
#[derive(Clone, Debug)]
pub struct LogLimit {
    /// The maximum number of lines for a namespace in a minute.
    max: u32,
    namespaces: Arc<Mutex<HashMap<Arc<str>, Lines>>>,
}

#[derive(Debug)]
struct Lines {
    since: Instant,
    logged: u32,
    suppressed: u64,
}

impl LogLimit {
    /// Allows `max` lines a minute for each namespace.
    pub fn new(max: u32) -> Self {
        Self {
            max,
            namespaces: Arc::default(),
        }
    }

    /// Logs a line about this namespace, unless there were too many. `log` gets the number of lines that
    /// were suppressed before it; `None` if there were none.
    pub fn line(&self, namespace: &Arc<str>, log: impl FnOnce(Option<u64>)) {
        if let Some(suppressed) = self.allow(namespace) {
            log((suppressed > 0).then_some(suppressed));
        }
    }

    /// Whether a line about this namespace can be logged now. If so, returns the number of lines that were
    /// suppressed before it.
    pub fn allow(&self, namespace: &Arc<str>) -> Option<u64> {
        let now = Instant::now();
        let mut all = self
            .namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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
        if lines.logged >= self.max {
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
        let limit = LogLimit::new(10);
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
