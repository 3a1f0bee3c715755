//! The results of `/readyz` during faults, polled.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};

/// The interval of the polls.
const PAUSE: Duration = Duration::from_millis(50);

/// The changes of the result of `/readyz`, oldest first: the time, and whether the result was 200.
type Changes = Vec<(DateTime<Utc>, bool)>;

/// Polls `/readyz` until this is dropped.
pub(crate) struct Probes {
    changes: Arc<Mutex<Changes>>,
    over: Arc<AtomicBool>,
}

impl Probes {
    pub(crate) fn of(address: SocketAddr) -> Self {
        let (changes, over) = (
            Arc::<Mutex<Changes>>::default(),
            Arc::<AtomicBool>::default(),
        );
        thread::spawn({
            let (changes, over) = (Arc::clone(&changes), Arc::clone(&over));
            move || {
                while !over.load(Ordering::Relaxed) {
                    let ready = is_ready(address);
                    let mut changes = changes.lock().unwrap();
                    if changes.last().is_none_or(|(_, known)| *known != ready) {
                        changes.push((Utc::now(), ready));
                    }
                    drop(changes);
                    thread::sleep(PAUSE);
                }
            }
        });
        Self { changes, over }
    }

    /// When `/readyz` first failed, at `from` or later.
    pub(crate) fn unready_from(&self, from: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let changes = self.changes.lock().unwrap();
        let before = changes.iter().rev().find(|(at, _)| *at <= from);
        if before.is_some_and(|(_, ready)| !ready) {
            return Some(from);
        }
        let after = changes.iter().find(|(at, ready)| *at > from && !ready);
        after.map(|(at, _)| *at)
    }

    /// Since when `/readyz` is 200; `None` if it fails.
    pub(crate) fn ready_since(&self) -> Option<DateTime<Utc>> {
        let changes = self.changes.lock().unwrap();
        changes
            .last()
            .filter(|(_, ready)| *ready)
            .map(|(at, _)| *at)
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// No response within a second is a failure, as for the kubelet.
fn is_ready(address: SocketAddr) -> bool {
    let ask = || {
        let second = Duration::from_secs(1);
        let mut stream = TcpStream::connect_timeout(&address, second).ok()?;
        stream.set_read_timeout(Some(second)).ok()?;
        write!(stream, "GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer.split(' ').nth(1)? == "200")
    };
    ask().unwrap_or(false)
}
