// Telemetry owns what the server says about itself: a logger that writes one line per event, and metrics in
// Prometheus' text form.
//
// It must not know what is logged or counted: no requests, sessions or tokens. It has no clock of its own, and nothing
// in it grows with the traffic: the series of a metric are fixed when it is made, and long values are cut.
// What may be logged is the caller's to decide; no token, password or key may.
//
// Reading order: LogFields, Logger, LogLine, LogSink, then Counter, Histogram, MetricFamily, MetricsRegistry.
