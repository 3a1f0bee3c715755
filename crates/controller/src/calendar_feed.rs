//! The calendars of a running controller, which can change when their files change. The program reads the
//! files and publishes; the driver receives.

use std::future::pending;

use dayshift_schedule::Calendars;
use tokio::sync::watch;

/// The receiver: the current calendars, and a notification of each change.
#[derive(Clone, Debug)]
pub struct CalendarFeed(watch::Receiver<Calendars>);

/// The sender, for the code that reads the calendar files.
#[derive(Debug)]
pub struct CalendarPublisher(watch::Sender<Calendars>);

impl CalendarFeed {
    /// Creates a feed of calendars that never change.
    pub fn fixed(calendars: Calendars) -> Self {
        Self::open(calendars).1
    }

    /// Creates a feed of calendars that can change, and its sender.
    pub fn open(calendars: Calendars) -> (CalendarPublisher, Self) {
        let (sender, receiver) = watch::channel(calendars);
        (CalendarPublisher(sender), Self(receiver))
    }

    /// The current calendars.
    pub fn current(&self) -> Calendars {
        self.0.borrow().clone()
    }

    /// Waits for the next change. Never returns if the sender was dropped.
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
