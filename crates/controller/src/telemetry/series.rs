//! The series of one metric by the value of a label, such as a namespace. Their number is bounded,
//! however many values there are.

use std::{collections::BTreeMap, fmt, sync::Arc};

use prometheus_client::{
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::TypedMetric,
    registry::Unit,
};

/// The maximum number of names with a series of their own. The others share one series.
pub(super) const MAX_SERIES: usize = 200;

/// The label value of the shared series. It is not a valid name of a namespace or team.
pub(super) const OTHER: &str = "(other)";

/// The name, the help and the unit of a metric.
pub(super) type Description<'a> = (&'a str, &'a str, Option<&'a Unit>);

/// The series of a metric: at most [`MAX_SERIES`] names have their own, in the order in which they
/// came, and the others share one. A name keeps its series, so each series contains everything that
/// happened since it began.
///
/// If the metric has no label, all names are [`OTHER`], and the shared series is the only one.
#[derive(Debug, Default)]
pub(super) struct Series<T> {
    own: BTreeMap<Arc<str>, T>,
    /// `None` until the first name needs it.
    other: Option<T>,
}

impl<T: Default> Series<T> {
    /// Creates a set with a shared series, before any name needs it.
    pub(super) const fn with_other(other: T) -> Self {
        Self {
            own: BTreeMap::new(),
            other: Some(other),
        }
    }

    /// The series that counts `name`. A new name gets a series of its own if there is room. [`OTHER`]
    /// never does: a user can have that name.
    pub(super) fn series_of(&mut self, name: &Arc<str>) -> &mut T {
        if self.has_own(name) || (self.has_room() && **name != *OTHER) {
            self.own.entry(Arc::clone(name)).or_default()
        } else {
            self.other.get_or_insert_default()
        }
    }

    /// Whether a name has a series of its own.
    pub(super) fn has_own(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// Whether another name can have a series of its own.
    pub(super) fn has_room(&self) -> bool {
        self.own.len() < MAX_SERIES
    }

    /// Ends the own series for which `is_kept` returns false.
    pub(super) fn retain_own(&mut self, mut is_kept: impl FnMut(&str, &mut T) -> bool) {
        self.own.retain(|name, series| is_kept(name, series));
    }

    /// The shared series, if it exists.
    pub(super) const fn other_mut(&mut self) -> Option<&mut T> {
        self.other.as_mut()
    }

    /// All series.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.own.values_mut().chain(&mut self.other)
    }

    /// All series with their label values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        let own = self.own.iter().map(|(name, series)| (&**name, series));
        own.chain(self.other.iter().map(|other| (OTHER, other)))
    }

    /// Encodes a metric with a sample for each series, unless the sample is `None`. Without a label,
    /// encodes the shared series only.
    pub(super) fn encode<M: EncodeMetric + TypedMetric>(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        label: Option<&str>,
        (name, help, unit): Description<'_>,
        sample: impl Fn(&T) -> Option<M>,
    ) -> fmt::Result {
        let mut metric = encoder.encode_descriptor(name, help, unit, M::TYPE)?;
        let Some(label) = label else {
            let other = self.other.as_ref().and_then(sample);
            return other.map_or(Ok(()), |other| other.encode(metric));
        };
        for (name, series) in self.iter() {
            if let Some(sample) = sample(series) {
                sample.encode(metric.encode_family(&[(label, name)])?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_names_have_a_series_and_the_others_share_one() {
        let mut series = Series::<usize>::default();
        *series.series_of(&OTHER.into()) += 1; // A user has this name.
        for _ in 0..2 {
            for number in 0..MAX_SERIES + 7 {
                *series.series_of(&format!("team-{number:03}").into()) += 1;
            }
            assert!(!series.has_room() && series.iter().count() == MAX_SERIES + 1);
        }
        assert_eq!(series.other_mut().copied(), Some(1 + 2 * 7));
        series.retain_own(|name, _| name != "team-005");
        assert_eq!(*series.series_of(&"team-205".into()), 0);
        assert!(series.has_own("team-205") && !series.has_own("team-206"));
        let counted: usize = series.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 1 + 2 * (MAX_SERIES + 7) - 2);
    }
}
