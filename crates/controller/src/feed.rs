//! The calendars and named schedules of a running controller, which can change when their files change. The
//! program reads the files and publishes; the driver receives.

use std::future::pending;

use dayshift_schedule::Calendars;
use dayshift_workload::NamedSchedules;
use tokio::sync::watch;

/// The receiver: the current value, and a notification of each change.
#[derive(Clone, Debug)]
pub struct Feed<T>(watch::Receiver<T>);

/// The sender of a [`Feed`], for the code that reads the files.
#[derive(Debug)]
pub struct Publisher<T>(watch::Sender<T>);

/// The calendars.
pub type CalendarFeed = Feed<Calendars>;
/// The sender of the calendars.
pub type CalendarPublisher = Publisher<Calendars>;
/// The named schedules.
pub type ScheduleFeed = Feed<NamedSchedules>;
/// The sender of the named schedules.
pub type SchedulePublisher = Publisher<NamedSchedules>;

impl<T: Clone> Feed<T> {
    /// Creates a feed of a value that never changes.
    pub fn fixed(value: T) -> Self {
        Self::open(value).1
    }

    /// Creates a feed of a value that can change, and its sender.
    pub fn open(value: T) -> (Publisher<T>, Self) {
        let (sender, receiver) = watch::channel(value);
        (Publisher(sender), Self(receiver))
    }

    /// The current value.
    pub fn current(&self) -> T {
        self.0.borrow().clone()
    }

    /// Waits for the next change. Never returns if the sender was dropped.
    pub(crate) async fn changed(&mut self) -> T {
        if self.0.changed().await.is_err() {
            pending::<()>().await;
        }
        self.0.borrow_and_update().clone()
    }
}

impl<T: Clone + Default> Default for Feed<T> {
    /// The default value, which never changes.
    fn default() -> Self {
        Self::fixed(T::default())
    }
}

impl<T> Publisher<T> {
    /// Replaces the value.
    pub fn publish(&self, value: T) {
        self.0.send_replace(value);
    }
}
