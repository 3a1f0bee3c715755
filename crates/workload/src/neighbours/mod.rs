//! Others who set the same counts: which they are, what cures each, and what is said of them. Nothing
//! here decides.

mod field_manager;
mod owner;
mod reverted;

pub use field_manager::{ACTIVATOR, ADMISSION, COMMANDS, CONTROLLER, FieldManager, ManagerKind};
pub use owner::Owner;
pub use reverted::{REVERT_WINDOW, Reverted, later};
