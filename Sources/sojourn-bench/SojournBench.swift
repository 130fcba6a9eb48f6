import FoundationEssentials
import Glibc

// sojourn-bench: reproduces every figure of the documentation on your machine, in one run, together with the limits of
// that machine.
//
// Owns: the benchmarks, the load generator and the report.
//
// Must not know: how the server and the store work. It uses the server from outside (HTTP, /proc) and the store through
// its public calls.
//
// Reading order: Benchmark (the table of subcommands), RefreshBenchmark (the main one) with LoadGenerator,
// LoadConnection and Conversation (the load) and MachineLimits (the limits of the machine); HTTPBenchmark,
// PagesBenchmark with PageBrowser, LoginsBenchmark, FloodBenchmark, ClusterBenchmark with
// ClusterDatabase and OutageMeasurement (several nodes), StoreBenchmark, StartBenchmark; IdleBenchmark with SlowSenders, and ChurnBenchmark (many connections); ServerProcess,
// AdminCalls, SessionFiller (the measured server and its data); CellsBenchmark with CellInputs and CellDay (a model);
// Report (the output).

/// The program.
@main struct SojournBench {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            try await run(words)
        } catch {
            write("sojourn-bench: \(error)\n", to: STDERR_FILENO)
            exit(error is UsageError ? 2 : 1)
        }
    }

    private static func run(_ words: [String]) async throws {
        guard let name = words.first, name != "--help", name != "-h", name != "help" else {
            return write(Help.overview, to: STDOUT_FILENO)
        }
        guard let benchmark = Benchmark.all.first(where: { $0.name == name }) else {
            throw UsageError("there is no '\(name)'; see: sojourn-bench --help")
        }
        let rest = words.dropFirst()
        if rest.contains("--help") || rest.contains("-h") {
            return write(Help.of(benchmark), to: STDOUT_FILENO)
        }
        let options = try Options(rest, defaults: benchmark.defaults)
        let report = try await benchmark.run(options)
        write(options.json ? try report.json() : report.text(), to: STDOUT_FILENO)
    }

    /// Prints progress to standard error. It is not part of the report.
    static func progress(_ text: String) { write("· \(text)\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
