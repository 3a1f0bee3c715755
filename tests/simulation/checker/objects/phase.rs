//! The phase in the label `state`, as the checker reads it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Adopted,
    Running,
    Stopped,
    Woken,
    Slept,
    Paused,
}

impl Phase {
    /// Whether an override or a pause is active, or ends with the current write.
    pub const fn is_held(self) -> bool {
        matches!(self, Self::Woken | Self::Slept | Self::Paused)
    }
}
