//! The manifests in `examples/`.

/// The file name and text of every example, in reading order.
pub const EXAMPLES: [(&str, &str); 10] = [
    ("one-start.yaml", include_str!("../examples/one-start.yaml")),
    (
        "office-hours.yaml",
        include_str!("../examples/office-hours.yaml"),
    ),
    ("overnight.yaml", include_str!("../examples/overnight.yaml")),
    ("cron.yaml", include_str!("../examples/cron.yaml")),
    (
        "several-windows.yaml",
        include_str!("../examples/several-windows.yaml"),
    ),
    (
        "fixed-counts.yaml",
        include_str!("../examples/fixed-counts.yaml"),
    ),
    (
        "exact-counts.yaml",
        include_str!("../examples/exact-counts.yaml"),
    ),
    ("holidays.yaml", include_str!("../examples/holidays.yaml")),
    ("cron-job.yaml", include_str!("../examples/cron-job.yaml")),
    (
        "whole-namespace.yaml",
        include_str!("../examples/whole-namespace.yaml"),
    ),
];
