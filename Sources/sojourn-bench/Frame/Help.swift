/// The texts of `--help`.
enum Help {
    /// The list of all subcommands.
    static var overview: String {
        """
        Measures Sojourn on this machine, beside the limits of the machine itself.

        usage: sojourn-bench BENCHMARK [OPTIONS]

        Benchmarks:
        \(columns(Benchmark.all.map { ($0.name, $0.summary) }))
        Options:
        \(options)
        Build with 'swift build -c release' first: a debug build says nothing about speed.

        """
    }

    /// The options of one subcommand.
    static func of(_ benchmark: Benchmark) -> String {
        let defaults = benchmark.defaults
        let connections = defaults.connections.map(String.init).joined(separator: ",")
        return """
            \(benchmark.summary)

            usage: sojourn-bench \(benchmark.name) [OPTIONS]

            \(benchmark.discussion)

            Options:
            \(options)
            Defaults: --connections \(connections) --seconds \(defaults.seconds) --rounds \(defaults.rounds) \
            --sessions \(defaults.sessions)

            """
    }

    private static var options: String {
        columns(Options.choices.map { ($0.name + ($0.valueName.map { " \($0)" } ?? ""), $0.help) })
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  \($0.0.padded(to: width))  \($0.1)\n" }.joined()
    }
}

extension String {
    /// Appends spaces up to `width` characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
