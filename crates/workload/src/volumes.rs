//! What becomes of an object's volumes when it is scaled down.

/// What an object says of the volumes of pods that scaling down takes away: a StatefulSet, in
/// `spec.persistentVolumeClaimRetentionPolicy.whenScaled`. Other kinds that have the field, such
/// as OpenKruise's StatefulSet, mean the same by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VolumeRetention {
    /// Nothing, and so they stay. The API server itself fills in `Retain` since Kubernetes 1.27.
    #[default]
    Unsaid,
    /// They stay.
    Retain,
    /// They are deleted, and what is on them is lost.
    Delete,
}

impl VolumeRetention {
    /// Where an object says it, as the tokens of a JSON pointer.
    pub const PATH: [&str; 3] = ["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"];

    /// Reads the text of that field.
    pub fn of(text: Option<&str>) -> Self {
        match text {
            Some("Retain") => Self::Retain,
            Some("Delete") => Self::Delete,
            _ => Self::Unsaid,
        }
    }
}
