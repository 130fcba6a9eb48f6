import Glibc

/// A mistake in the command line.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The options of the command line. Every benchmark accepts every option; some ignore a few.
struct Options: Sendable {
    /// The numbers of connections that send requests at the same time, measured one after the other.
    var connections = [32, 128]
    /// The duration of one round of load, in seconds.
    var seconds = 8.0
    /// The number of measurements of each figure.
    var rounds = 3
    /// The number of sessions in the database before the load.
    var sessions = 0
    /// The numbers of idle connections, and of connections that send one byte per second.
    var idle = 10_000
    var slowloris = 1000
    /// The number of connections that are opened one after the other.
    var total = 1_000_000
    /// The number of calls that wait for one login at the same time.
    var waiters = 0
    /// The number of servers on one database.
    var nodes = 2
    /// The times in milliseconds for which the database delays each commit, measured one after the other.
    var commitDelays = [0, 5]
    /// The number of connections that change users beside the refreshes; 0 measures none.
    var accountChanges = 2
    /// The seconds by which the clock of one more node is ahead; 0 measures none.
    var skew = 0
    /// The seconds for which the database refuses everything; 0 measures none.
    var outage = 0
    /// The number of phones that refresh once a minute in an outage.
    var phones = 10_000
    /// The path of the server's program; nil for the one beside this program.
    var sojourn: String?
    /// The folder of temporary files, which selects the disk; nil for the system's.
    var folder: String?
    /// The URL of an empty PostgreSQL database.
    var postgres: String?
    /// Inputs of the model of cells that differ from its defaults, and the seed of its random numbers.
    var with = ""
    var seed: UInt64 = 1
    /// True for a report in JSON.
    var json = false

    /// One option, as the help shows it.
    struct Choice: Sendable {
        let name: String
        /// The placeholder of the value; nil for a switch.
        let valueName: String?
        let help: String
        let apply: @Sendable (inout Options, String) throws -> Void
    }

    /// Every option.
    static let choices = [
        Choice(name: "--connections", valueName: "N,N", help: "connections that ask at the same time") {
            let counts = $1.split(separator: ",").map { Int($0) ?? 0 }
            guard !counts.isEmpty, counts.allSatisfy({ (1...10_000).contains($0) }) else {
                throw UsageError("--connections takes numbers from 1 to 10000, parted by commas: --connections 32,128")
            }
            $0.connections = counts
        },
        Choice(name: "--seconds", valueName: "N", help: "how long one round loads") {
            guard let seconds = Double($1), seconds > 0, seconds <= 3600 else {
                throw UsageError("--seconds takes a number up to 3600")
            }
            $0.seconds = seconds
        },
        Choice(name: "--rounds", valueName: "N", help: "how often each figure is measured") {
            $0.rounds = try number($1, "--rounds", 1...1000)
        },
        Choice(name: "--sessions", valueName: "N", help: "sessions in the database before") {
            $0.sessions = try number($1, "--sessions", 0...100_000_000)
        },
        Choice(name: "--idle", valueName: "N", help: "connections that say nothing") {
            $0.idle = try number($1, "--idle", 0...1_000_000)
        },
        Choice(name: "--slowloris", valueName: "N", help: "connections that send a byte of a head per second") {
            $0.slowloris = try number($1, "--slowloris", 0...100_000)
        },
        Choice(name: "--total", valueName: "N", help: "connections one after the other") {
            $0.total = try number($1, "--total", 10...1_000_000_000)
        },
        Choice(name: "--waiters", valueName: "N", help: "calls that wait for one login; 0 measures none") {
            $0.waiters = try number($1, "--waiters", 0...16)
        },
        Choice(name: "--nodes", valueName: "N", help: "servers on one database") {
            $0.nodes = try number($1, "--nodes", 1...16)
        },
        Choice(
            name: "--commit-delay", valueName: "MS,MS", help: "milliseconds that a commit waits; 0 must be the first"
        ) {
            let delays = $1.split(separator: ",").map { Int($0) ?? -1 }
            guard delays.first == 0, delays.allSatisfy({ (0...100).contains($0) }) else {
                throw UsageError("--commit-delay takes numbers up to 100, parted by commas, the first 0: 0,2,5")
            }
            $0.commitDelays = delays
        },
        Choice(name: "--account-changes", valueName: "N", help: "connections that change users beside refreshes") {
            $0.accountChanges = try number($1, "--account-changes", 0...64)
        },
        Choice(
            name: "--skew", valueName: "SECONDS", help: "how far the clock of one more node is ahead; 0: no such node"
        ) {
            $0.skew = try number($1, "--skew", -86_400...86_400)
        },
        Choice(name: "--outage", valueName: "SECONDS", help: "how long the database is away; 0: never") {
            $0.outage = try number($1, "--outage", 0...600)
        },
        Choice(name: "--phones", valueName: "N", help: "phones that refresh once a minute around an outage") {
            $0.phones = try number($1, "--phones", 60...100_000)
        },
        Choice(name: "--sojourn", valueName: "PATH", help: "the server's program; default: beside this one") {
            $0.sojourn = $1
        },
        Choice(name: "--folder", valueName: "PATH", help: "where throw-away files go: chooses the disk") {
            $0.folder = $1
        },
        Choice(name: "--postgres", valueName: "URL", help: "an empty PostgreSQL database that may be filled") {
            $0.postgres = $1
        },
        Choice(name: "--with", valueName: "NAME=N,…", help: "inputs of the model of cells") { $0.with = $1 },
        Choice(name: "--seed", valueName: "N", help: "of the model of cells; the same one gives the same report") {
            $0.seed = UInt64(try number($1, "--seed", 0...Int.max))
        },
        Choice(name: "--json", valueName: nil, help: "print the report as JSON") { options, _ in
            options.json = true
        },
    ]

    private static func number(_ text: String, _ name: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension Options {
    /// Parses `words` over `defaults`.
    init(_ words: ArraySlice<String>, defaults: Options) throws {
        self = defaults
        var rest = words
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let choice = Self.choices.first(where: { $0.name == parts[0] }) else {
                throw UsageError("unknown option '\(word)'; see: sojourn-bench --help")
            }
            if let valueName = choice.valueName {
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                    throw UsageError("\(choice.name) needs a value: \(choice.name) \(valueName)")
                }
                try choice.apply(&self, value)
            } else {
                guard parts.count == 1 else { throw UsageError("\(choice.name) takes no value") }
                try choice.apply(&self, "")
            }
        }
    }

    /// Returns the path of the server's program: the chosen one, or the one beside this program.
    func sojournPath() throws -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let own = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let found = sojourn ?? own.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/sojourn"
        guard access(found, X_OK) == 0 else {
            throw UsageError(
                "there is no program at \(found); build it (swift build -c release) or name it: --sojourn PATH")
        }
        return found
    }
}
