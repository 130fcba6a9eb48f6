/// A label and its possible values.
public struct MetricLabel: Sendable {
    /// The name.
    public let name: String
    /// The values that were named, in their order.
    public let values: [String]

    /// Creates a label with these values. All other values are counted as `other`.
    public init(_ name: String, values: [String]) {
        precondition(
            MetricsRegistry.isName(name) && !name.contains(":") && !name.hasPrefix("__") && name != "le",
            "a label needs a name that Prometheus accepts")
        self.name = name
        self.values = values
    }
}

/// The counters, gauges or histograms of one name, one for each combination of label values. All exist from the start,
/// so that requests cannot create new ones.
public struct MetricFamily<Metric: Sendable>: Sendable {
    struct Series: Sendable {
        let labelValues: [String]
        /// True if all its label values were declared. The series with `other` appear only when they are not empty.
        let isNamed: Bool
        let metric: Metric
    }

    let labels: [MetricLabel]
    let series: [Series]
    private let positions: [[String]: Int]

    init(labels: [MetricLabel], make: () -> Metric) {
        self.labels = labels
        var combinations: [(values: [String], isNamed: Bool)] = [([], true)]
        for label in labels {
            combinations = combinations.flatMap { combination in
                label.values.map { (combination.values + [$0], combination.isNamed) }
                    + (label.values.contains("other") ? [] : [(combination.values + ["other"], false)])
            }
        }
        series = combinations.map { Series(labelValues: $0.values, isNamed: $0.isNamed, metric: make()) }
        positions = Dictionary(
            series.enumerated().map { ($0.element.labelValues, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The metric for these label values, in the order of the labels. `other` replaces undeclared values. Store the
    /// result where it is used often.
    public subscript(_ values: String...) -> Metric {
        precondition(values.count == labels.count, "a value for each label")
        if let position = positions[values] { return series[position].metric }
        let known = zip(labels, values).map { label, value in label.values.contains(value) ? value : "other" }
        // Every combination of declared values and `other` is in the table.
        return series[positions[known] ?? 0].metric
    }
}
