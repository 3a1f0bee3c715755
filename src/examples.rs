//! The manifests in `examples/`.

macro_rules! examples {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../examples/", $name)))),*] };
}

/// The file name and text of every example, in reading order.
pub const EXAMPLES: [(&str, &str); 10] = examples!(
    "one-start.yaml"
    "office-hours.yaml"
    "overnight.yaml"
    "cron.yaml"
    "several-windows.yaml"
    "fixed-counts.yaml"
    "exact-counts.yaml"
    "holidays.yaml"
    "cron-job.yaml"
    "whole-namespace.yaml"
);
