//! The calendars that a controller follows while it runs.

use std::future::pending;

use dayshift_schedule::Calendars;
use tokio::sync::watch;

/// The calendars as they are now, and word of each change.
#[derive(Clone, Debug)]
pub struct CalendarFeed(watch::Receiver<Calendars>);

/// The sender, for the code that reads the files.
#[derive(Debug)]
pub struct CalendarPublisher(watch::Sender<Calendars>);

impl CalendarFeed {
    /// Calendars that will never change.
    pub fn fixed(calendars: Calendars) -> Self {
        Self::open(calendars).1
    }

    /// Calendars that may change.
    pub fn open(calendars: Calendars) -> (CalendarPublisher, Self) {
        let (sender, receiver) = watch::channel(calendars);
        (CalendarPublisher(sender), Self(receiver))
    }

    /// The calendars as they are now.
    pub fn current(&self) -> Calendars {
        self.0.borrow().clone()
    }

    /// Waits for the next change, for ever if none can come.
    pub(crate) async fn changed(&mut self) -> Calendars {
        if self.0.changed().await.is_err() {
            pending::<()>().await;
        }
        self.0.borrow_and_update().clone()
    }
}

impl Default for CalendarFeed {
    /// No calendars.
    fn default() -> Self {
        Self::fixed(Calendars::default())
    }
}

impl CalendarPublisher {
    /// Replaces the calendars.
    pub fn publish(&self, calendars: Calendars) {
        self.0.send_replace(calendars);
    }
}
