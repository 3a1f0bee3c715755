//! Lengths of time, as people write them.

/// The whole seconds of `1,5h` or `PT1H30M`; `None` for a number without a unit.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase().replace(',', ".");
    let text = text.strip_prefix("pt").unwrap_or(&text);
    let duration = humantime::parse_duration(text).ok()?;
    (duration.subsec_nanos() == 0).then_some(duration.as_secs())
}

/// The length as text: `1h30m`.
pub(super) fn text(seconds: u64) -> String {
    let parts = [
        (seconds / 3600, 'h'),
        (seconds / 60 % 60, 'm'),
        (seconds % 60, 's'),
    ];
    parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect()
}
