//! How scheduled workloads stand: when each starts or stops next, the active override, what
//! is wrong with it, and who else has a hand on its count.

mod count_note;
mod following;
mod kind_watches;
mod live_view;
mod note;
mod note_text;
mod on_request;
mod owners;
mod reverted;
mod reverts;
mod status_context;
mod time_format;
mod unreadable;
mod vain_waits;
mod workload_status;

pub use following::{HPA_REFRESH, NAMESPACE_REFRESH, PROBE, clock_ahead};
pub use kind_watches::{KindWatches, Shown};
pub use live_view::LiveView;
pub use note::Note;
pub use note_text::NoteText;
pub use on_request::asks_for_wakes;
pub use owners::owners;
pub use reverted::RevertedBy;
pub use status_context::StatusContext;
pub use time_format::{clock, date_and_time, distance, duration, span, time_of_day};
pub use unreadable::Unreadable;
pub use vain_waits::{InVain, Seen, SeenWorkloads, vain_waits};
pub use workload_status::{ScheduleStatus, WorkloadStatus};
