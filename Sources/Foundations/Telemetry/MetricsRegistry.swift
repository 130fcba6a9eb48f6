internal import Locks

/// All metrics of a server, and their text (Prometheus exposition format 0.0.4).
///
/// A name that Prometheus would refuse, or that is registered twice, is a programming error and stops the program.
public final class MetricsRegistry: Sendable {
    /// The media type of `render`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// What a scrape says of a metric beside its samples, and the labels of these.
    public struct Description: Sendable {
        /// The name: `sojourn_logins_total`.
        public let name: String
        /// One sentence for operators.
        public let help: String
        /// `counter`, `gauge` or `histogram`.
        public let type: String
        /// The labels with their values, in the order of the samples.
        public let labels: [MetricLabel]
    }

    private struct Entry: Sendable {
        let name: String
        let help: String
        let type: String
        let labels: @Sendable () -> [MetricLabel]
        let lines: @Sendable () -> String
    }

    private let entries = Locked<[Entry]>([])

    /// Creates a registry without metrics.
    public init() {}

    /// Registers a counter; its name ends in `_total`.
    public func counter(_ name: String, help: String) -> Counter { counters(name, help: help, labels: [])[] }

    /// Registers counters with labels.
    public func counters(_ name: String, help: String, labels: [MetricLabel]) -> MetricFamily<Counter> {
        let family = MetricFamily(labels: labels) { Counter() }
        add(name, help, "counter", labels: { labels }) {
            Self.lines(family, isEmpty: { $0.value == 0 }) { counter, labels in
                "\(name)\(Self.braces(labels)) \(counter.value)\n"
            }
        }
        return family
    }

    /// Registers a gauge.
    public func gauge(_ name: String, help: String) -> Gauge { gauges(name, help: help, labels: [])[] }

    /// Registers gauges with labels.
    public func gauges(_ name: String, help: String, labels: [MetricLabel]) -> MetricFamily<Gauge> {
        let family = MetricFamily(labels: labels) { Gauge() }
        add(name, help, "gauge", labels: { labels }) {
            Self.lines(family, isEmpty: { $0.value == 0 }) { gauge, labels in
                "\(name)\(Self.braces(labels)) \(gauge.value)\n"
            }
        }
        return family
    }

    /// Registers a gauge that is read at each rendering, on the rendering thread.
    public func gauge(_ name: String, help: String, reading read: @escaping @Sendable () -> Double) {
        add(name, help, "gauge", labels: { [] }) { "\(name) \(Self.number(read()))\n" }
    }

    /// Registers gauges with one label that are read at each rendering, on the rendering thread.
    public func gauges(
        _ name: String, help: String, label: String,
        reading read: @escaping @Sendable () -> [(labelValue: String, value: Double)]
    ) {
        add(name, help, "gauge", labels: { [MetricLabel(label, values: read().map(\.labelValue))] }) {
            read().map { "\(name){\(label)=\"\(Self.escaped($0.labelValue))\"} \(Self.number($0.value))\n" }.joined()
        }
    }

    /// Registers counters with one label that another component keeps. They are read at each rendering, on the
    /// rendering thread.
    public func counters(
        _ name: String, help: String, label: String,
        reading read: @escaping @Sendable () -> [(labelValue: String, count: Int)]
    ) {
        add(name, help, "counter", labels: { [MetricLabel(label, values: read().map(\.labelValue))] }) {
            read().map { "\(name){\(label)=\"\(Self.escaped($0.labelValue))\"} \($0.count)\n" }.joined()
        }
    }

    /// Registers a histogram; `buckets` are the upper bounds, ascending.
    public func histogram(
        _ name: String, help: String, buckets: [Double] = Histogram.latencyBuckets
    ) -> Histogram {
        histograms(name, help: help, labels: [], buckets: buckets)[]
    }

    /// Registers histograms with labels.
    public func histograms(
        _ name: String, help: String, labels: [MetricLabel], buckets: [Double] = Histogram.latencyBuckets
    ) -> MetricFamily<Histogram> {
        let family = MetricFamily(labels: labels) { Histogram(bounds: buckets) }
        add(name, help, "histogram", labels: { labels }) {
            Self.lines(family, isEmpty: { $0.snapshot.counts.allSatisfy { $0 == 0 } }) { histogram, labels in
                Self.lines(name, histogram, labels)
            }
        }
        return family
    }

    /// Returns the text for a scrape: HELP, TYPE and the samples of each metric, in the order of registration.
    public func render() -> String {
        entries.withLock { $0 }.map { entry in
            "# HELP \(entry.name) \(Self.escaped(entry.help))\n# TYPE \(entry.name) \(entry.type)\n\(entry.lines())"
        }.joined()
    }

    /// All metrics, in the order in which they were made.
    public var descriptions: [Description] {
        entries.withLock { $0 }.map { entry in
            Description(name: entry.name, help: entry.help, type: entry.type, labels: entry.labels())
        }
    }

    private func add(
        _ name: String, _ help: String, _ type: String, labels: @escaping @Sendable () -> [MetricLabel],
        lines: @escaping @Sendable () -> String
    ) {
        precondition(Self.isName(name), "a metric needs a name that Prometheus accepts")
        entries.withLock { entries in
            precondition(!entries.contains { $0.name == name }, "a metric's name must be its own")
            entries.append(Entry(name: name, help: help, type: type, labels: labels, lines: lines))
        }
    }

    static func isName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.first.map { !($0 >= 0x30 && $0 <= 0x39) } ?? false
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }
}

/// The text format.
extension MetricsRegistry {
    private static func lines<Metric>(
        _ family: MetricFamily<Metric>, isEmpty: (Metric) -> Bool, _ line: (Metric, [String]) -> String
    ) -> String {
        family.series.filter { $0.isNamed || !isEmpty($0.metric) }.map { series in
            let labels = zip(family.labels, series.labelValues).map { label, value in
                "\(label.name)=\"\(escaped(value).replacing("\"", with: "\\\""))\""
            }
            return line(series.metric, labels)
        }.joined()
    }

    private static func lines(_ name: String, _ histogram: Histogram, _ labels: [String]) -> String {
        let (counts, sum) = histogram.snapshot
        var text = ""
        var count: UInt64 = 0
        for (bound, more) in zip(histogram.bounds + [.infinity], counts) {
            count += more
            text += "\(name)_bucket\(braces(labels + ["le=\"\(number(bound))\""])) \(count)\n"
        }
        text += "\(name)_sum\(braces(labels)) \(number(sum))\n"
        return text + "\(name)_count\(braces(labels)) \(count)\n"
    }

    private static func braces(_ labels: [String]) -> String {
        labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let integer = Int64(exactly: value) { return String(integer) }
        return "\(value)"
    }
}
