//! One row of the page: the values of the metric in a scrape, and the expected ones.

use std::collections::BTreeMap;

use crate::sandbox::Sandbox;

/// The metric of one row, and the values that its scenario expected.
pub(super) struct Row {
    metric: &'static str,
    expected: Vec<Option<f64>>,
}

/// The suffixes of the samples of a histogram.
const OF_HISTOGRAMS: [&str; 3] = ["_bucket{", "_count{", "_sum{"];

/// The samples of a scrape whose names begin with `metric`: the rest of the name with the labels in
/// order, such as `_count{action="stop"}`, and the value.
pub(super) fn samples(scrape: &str, metric: &str) -> BTreeMap<String, f64> {
    let samples = scrape.lines().filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let rest = series.strip_prefix(metric)?;
        let is_its_own = rest.is_empty() || rest.starts_with('{');
        let is_of_histogram = OF_HISTOGRAMS.iter().any(|suffix| rest.starts_with(suffix));
        (is_its_own || is_of_histogram).then(|| (in_order(rest), value.parse().unwrap()))
    });
    samples.collect()
}

/// The series with its labels ordered by name, and without empty brackets.
fn in_order(series: &str) -> String {
    let Some((name, labels)) = series.split_once('{') else {
        return series.to_owned();
    };
    let mut labels: Vec<_> = labels.trim_end_matches('}').split(',').collect();
    labels.sort_unstable();
    match labels.concat().is_empty() {
        true => name.to_owned(),
        false => format!("{name}{{{}}}", labels.join(",")),
    }
}

impl Row {
    /// Runs the scenario of a metric.
    ///
    /// # Panics
    /// If the scenario expected fewer than two different values, because a constant might always pass.
    pub(super) fn run_scenario(metric: &'static str, scenario: fn(&mut Self)) {
        let mut row = Self {
            metric,
            expected: Vec::new(),
        };
        scenario(&mut row);
        let values = &row.expected;
        let differs = values.iter().any(|it| Some(it) != values.first());
        assert!(
            differs,
            "{metric}: all expected values are equal: {values:?}"
        );
    }

    /// The current samples of the metric, by the rest of the name and the labels.
    pub(super) fn samples(&self, scenario: &Sandbox) -> BTreeMap<String, f64> {
        samples(&scenario.metrics(), self.metric)
    }

    /// Asserts that a sample has this value, or is absent.
    pub(super) fn expect(
        &mut self,
        scenario: &Sandbox,
        series: &str,
        value: impl Into<Option<f64>>,
    ) {
        self.expect_about(scenario, series, value, 1e-6);
    }

    /// Asserts that a sample has about this value.
    pub(super) fn expect_about(
        &mut self,
        scenario: &Sandbox,
        series: &str,
        value: impl Into<Option<f64>>,
        but_for: f64,
    ) {
        let (samples, expected) = (self.samples(scenario), value.into());
        let found = samples.get(&in_order(series)).copied();
        let is_near = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() <= but_for,
            (found, expected) => found.is_none() && expected.is_none(),
        };
        let metric = self.metric;
        assert!(is_near, "{metric}{series}: not {expected:?} in {samples:?}");
        self.expected.push(expected);
    }

    /// Asserts that the value is in this range.
    pub(super) fn expect_between(&mut self, found: f64, least: f64, most: f64) {
        let metric = self.metric;
        assert!(
            (least..=most).contains(&found),
            "{metric}: {found}, not {least} to {most}"
        );
        self.expected.push(Some(least));
    }

    /// Asserts that these samples have these values, and all others are 0.
    pub(super) fn expect_all<const N: usize>(
        &mut self,
        scenario: &Sandbox,
        expected: [(&str, f64); N],
    ) {
        let mut samples = self.samples(scenario);
        samples.retain(|_, value| value.abs() > 1e-6);
        let sum: f64 = expected.iter().map(|(_, value)| value).sum();
        self.expected.push(Some(sum));
        let expected = expected.map(|(series, value)| (in_order(series), value));
        assert_eq!(samples, BTreeMap::from(expected), "{}", self.metric);
    }
}
