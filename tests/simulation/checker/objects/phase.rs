//! What a scaler has made of an object, as the checker sees it.

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
    /// Whether something is laid over the schedule, or was until now.
    pub const fn is_held(self) -> bool {
        matches!(self, Self::Woken | Self::Slept | Self::Paused)
    }
}
