//! Times, hours, zones and the boundaries they make. No Kubernetes, no runtime, no clock.
