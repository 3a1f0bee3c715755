//! The log lines about overdue objects.

use std::{sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::sleep};

use crate::controller::telemetry::published::PublishedObjects;
use crate::workload::OVERDUE_GRACE;

/// How often overdue objects are counted, outside the controller and only if one may have become
/// overdue: with 100,000 objects that takes some milliseconds.
const INTERVAL: Duration = Duration::from_secs(30);

/// Logs once that objects are overdue, naming one of them, and once that none is any more; never
/// ends.
pub(in crate::controller) async fn log_overdue(objects: Arc<PublishedObjects>) {
    let (mut is_told, mut next) = (false, None);
    loop {
        sleep(INTERVAL).await;
        if !objects.take_changed() && next.is_none_or(|next| objects.now() < next) {
            continue;
        }
        let counted = Arc::clone(&objects);
        let Ok(counts) = spawn_blocking(move || counted.count()).await else {
            return;
        };
        next = counts.next_overdue;
        if let Some((_, first)) = counts.first_overdue.filter(|_| !is_told) {
            is_told = true;
            let object = &first.object;
            tracing::warn!(
                overdue = counts.overdue, kind = %object.kind, %object,
                "not done within {} s of its time; this is said once until nothing is overdue",
                OVERDUE_GRACE.num_seconds()
            );
        } else if counts.overdue == 0 && std::mem::take(&mut is_told) {
            tracing::info!("nothing is overdue any more");
        }
    }
}
