import FoundationEssentials
import Glibc

/// The median and the range of several measurements.
struct Spread: Encodable, Sendable {
    let median: Double
    let min: Double
    let max: Double

    /// Computes the spread of at least one measurement.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        precondition(!sorted.isEmpty, "nothing was measured")
        let middle = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        min = sorted[0]
        max = sorted[sorted.count - 1]
    }

    /// Runs `measure` `count` times and computes the spread.
    static func of(_ count: Int, _ measure: () throws -> Double) rethrows -> Spread {
        Spread(try (0..<count).map { _ in try measure() })
    }
}

/// One line of a report.
struct Figure: Encodable, Sendable {
    let name: String
    let unit: String
    /// The number of connections; nil if the figure does not depend on it.
    let connections: Int?
    let value: Spread

    init(_ name: String, _ unit: String, connections: Int? = nil, _ value: Spread) {
        self.name = name
        self.unit = unit
        self.connections = connections
        self.value = value
    }

    init(_ name: String, _ unit: String, connections: Int? = nil, _ values: [Double]) {
        self.init(name, unit, connections: connections, Spread(values))
    }
}

/// The results of a benchmark.
struct Report: Encodable, Sendable {
    let benchmark: String
    let processor = Machine.processor
    let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    var figures: [Figure] = []

    init(_ benchmark: String) { self.benchmark = benchmark }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }

    func text() -> String {
        let rows = figures.map { figure in
            (
                figure.name + (figure.connections.map { ", \($0) connections" } ?? ""),
                Self.describe(figure.value), figure.unit
            )
        }
        let (names, values) = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
        return "\(benchmark) on \(processor), \(cores) cores; median (min-max)\n"
            + rows.map { "  \($0.0.padded(to: names))  \($0.1.padded(to: values))  \($0.2)\n" }.joined()
    }

    private static func describe(_ spread: Spread) -> String {
        let median = describe(spread.median)
        if spread.min == spread.max { return median }
        return "\(median) (\(describe(spread.min))-\(describe(spread.max)))"
    }

    /// Formats a number with about three significant digits.
    private static func describe(_ number: Double) -> String {
        if number >= 100 { return String(Int(number.rounded())) }
        let factor = number >= 10 ? 10.0 : number >= 1 ? 100 : 1000
        return String((number * factor).rounded() / factor)
    }
}

/// The machine on which the benchmark runs.
enum Machine {
    /// Debian's name of the architecture's libraries.
    static var triplet: String {
        #if arch(arm64)
            "aarch64-linux-gnu"
        #else
            "x86_64-linux-gnu"
        #endif
    }

    static var processor: String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return model.map { String($0.drop(while: \.isWhitespace)) } ?? "an unknown processor"
    }
}
