// The Prometheus Operator's definitions of PodMonitor and PrometheusRule, which are files of it.
// A module of its own: nothing of it is built, and its requirements must not choose versions for others.
module dayshift/tests/prometheus_operator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.94.1
