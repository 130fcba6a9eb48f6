// Telemetry: what the server reports about itself.
//
// Owns: a logger that writes one line per event, and metrics in the text format of Prometheus.
//
// Must not know: what is logged or counted, that is requests, sessions and tokens. It has no clock of its own. Its
// memory does not grow with traffic, because the series of a metric are fixed at creation and long values are
// truncated. The caller decides what is logged; tokens, passwords and keys must never be.
//
// Reading order: LogFields, Logger, LogLine, LogSink, FailureLog, Outage, then Counter, Histogram, MetricFamily, MetricsRegistry.
