//! Lines: the values of the labels, in the order of `Label::ALL`.

use dayshift_workload::{Label, Labels, State};

use super::super::texts::{is_label_value, lines};

/// Checks one input.
pub fn run(bytes: &[u8]) {
    let Some(texts) = lines::<{ Label::ALL.len() }>(bytes) else {
        return;
    };
    let mut labels = Labels::default();
    for (label, text) in Label::ALL.into_iter().zip(texts) {
        labels.set(label, Some(text.to_owned()).filter(|it| !it.is_empty()));
    }
    let state = State::from_labels(&labels);
    let written = state.to_labels();
    assert_eq!(State::from_labels(&written), state, "{labels:?}");
    for (label, text) in Label::ALL.into_iter().zip(texts) {
        let Some(written) = written.text(label) else {
            continue;
        };
        // The API server rejects such a value, so no object can have it.
        assert!(
            is_label_value(written) || !is_label_value(text),
            "{label:?} {written:?}"
        );
    }
}
