/// A label and all the values it can take.
public struct MetricLabel: Sendable {
    let name: String
    let values: [String]

    /// The label `name` with these values, and `other` for all that is not among them.
    public init(_ name: String, values: [String]) {
        precondition(
            MetricsRegistry.isName(name) && !name.contains(":") && !name.hasPrefix("__") && name != "le",
            "a label needs a name that Prometheus accepts")
        self.name = name
        self.values = values
    }
}

/// The counters, gauges or histograms of one name, one for each combination of label values. All of them exist from the
/// start: no request can make a new one.
public struct MetricFamily<Metric: Sendable>: Sendable {
    struct Series: Sendable {
        let labelValues: [String]
        /// Whether all values were named when the family was made; the others are only shown once they count.
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

    /// The metric for these label values, in the order of the labels; `other` stands in for values that were not named.
    /// Keep what this returns where it is used often.
    public subscript(_ values: String...) -> Metric {
        precondition(values.count == labels.count, "a value for each label")
        if let position = positions[values] { return series[position].metric }
        let known = zip(labels, values).map { label, value in label.values.contains(value) ? value : "other" }
        // Every combination of named values and `other` is in the table.
        return series[positions[known] ?? 0].metric
    }
}
