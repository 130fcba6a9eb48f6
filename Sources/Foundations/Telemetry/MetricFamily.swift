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
    /// The places of the values of each label, and how many there are.
    private let places: [(table: [String: Int], count: Int)]

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
        places = labels.map { label in
            let values = label.values.contains("other") ? label.values : label.values + ["other"]
            return (Dictionary(zip(values, values.indices), uniquingKeysWith: { first, _ in first }), values.count)
        }
    }

    /// The metric for these label values, in the order of the labels. `other` replaces undeclared values. Store the
    /// result where it is used often.
    public subscript(_ values: String...) -> Metric {
        precondition(values.count == labels.count, "a value for each label")
        // The series stand in the order of the values of the first label, then of the second, and so on.
        let position = zip(places, values).reduce(0) { position, label in
            let ((table, count), value) = label
            return position * count + (table[value] ?? table["other"] ?? 0)
        }
        return series[position].metric
    }
}
