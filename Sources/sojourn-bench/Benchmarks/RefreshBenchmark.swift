import Cryptography
import SQLiteStore
import Sessions

/// `sojourn-bench refresh`.
struct RefreshBenchmark {
    let options: Options

    /// The results of several rounds of the same load.
    fileprivate struct Rounds {
        var perSecond: [Double] = []
        var cpuMilliseconds: [Double] = []
        var loadMicroseconds: [Double] = []
        var latencies: [Double: [Double]] = [:]
        var errors: [Double] = []
        var perCommit: [Double] = []
        var diskWrites: [Double] = []
        var diskKibibytes: [Double] = []
        var checkpoints: [Double] = []
        var checkpointMilliseconds: [Double] = []
        var halfRateMedians: [Double] = []
        var halfRateP99s: [Double] = []
    }

    fileprivate static let shares = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9")]

    func run() async throws -> Report {
        let perConnection = try TokenSupply.sessionsPerConnection(options)
        let folder = try TemporaryFolder(in: options.folder)
        let launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        var supply = try await prepare(launch, perConnection)
        var report = Report("refresh")
        let machine = try measureMachine(MachineLimits(folder: folder.path), launch, &report)
        let server = try ServerProcess(launch)
        for count in options.connections {
            let tokens = try supply.tokens(count, server, launch)
            let load = try LoadGenerator(port: server.publicPort, tokens.map { RefreshChains($0) })
            let calls = AdminCalls(server, launch)
            let rounds = try measure(load, server, count) { try WorkCounters(calls, folder: folder.path) }
            add(rounds, count, machine, to: &report)
        }
        report.figures.append(Figure("server memory, peak", "MiB", [server.mebibytes("VmHWM")]))
        try server.stop()
        return report
    }

    /// Prepares a database in which every refresh rotates, with the chosen number of sessions.
    private func prepare(_ launch: ServerProcess.Launch, _ perConnection: Int) async throws -> TokenSupply {
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        try calls.rotateAtEveryRefresh()
        try calls.makeUser()
        try server.stop()
        guard options.sessions > 0 else { return .minted }
        SojournBench.progress("filling the database with \(options.sessions) sessions")
        let store = try SessionFiller.open(launch.database)
        let filler = SessionFiller(store: store)
        let users = try await filler.addUsers(max(1, options.sessions / SessionFiller.sessionsPerUser))
        let sessions = try await filler.addSessions(options.sessions, of: users)
        await store.close()
        var random = FastRandom()
        return .filled(sessions.shuffled(using: &random)[...], perConnection: perConnection, launch.rootKeys)
    }

    /// Measures the limits of the machine for each part of a refresh, and the HTTP part with this server.
    private func measureMachine(
        _ limits: MachineLimits, _ launch: ServerProcess.Launch, _ report: inout Report
    ) throws -> (http: [Int: Spread], sign: Spread, rows: [Int: Spread]) {
        SojournBench.progress("measuring the limits of the machine")
        let sign = Spread.of(options.rounds) { MachineLimits.signatures() }
        report.figures.append(Figure("ES256 signatures, one thread", "per second", sign))
        let syncs = try (0..<options.rounds).map { _ in try limits.diskSyncs().sorted() }
        report.figures.append(Figure("sync of 4 KiB, p50", "ms", syncs.map { $0[$0.count / 2] }))
        report.figures.append(Figure("syncs of 4 KiB", "per second", syncs.map { Double($0.count) }))
        var (http, rows): ([Int: Spread], [Int: Spread]) = ([:], [:])
        for count in options.connections {
            rows[count] = try Spread.of(options.rounds) { try limits.rows(batch: count) }
            let server = try ServerProcess(launch)
            let load = try LoadGenerator(port: server.publicPort, (0..<count).map { _ in HealthCheck() })
            _ = try load.run(seconds: 0.5)
            http[count] = try Spread.of(options.rounds) { try load.run(seconds: 2).perSecond }
            try server.stop()
        }
        return (http, sign, rows)
    }

    private func measure(
        _ load: LoadGenerator<RefreshChains>, _ server: ServerProcess, _ count: Int, _ work: () throws -> WorkCounters
    ) throws -> Rounds {
        var rounds = Rounds()
        _ = try load.run(seconds: 1)
        for round in 1...options.rounds {
            let (cpu, before) = (server.cpuSeconds, try work())
            let result = try load.run(seconds: options.seconds)
            rounds.add(result, cpuSeconds: server.cpuSeconds - cpu, try work() - before)
            SojournBench.progress(
                "\(count) connections, round \(round): \(Int(result.perSecond)) refreshes per second, \(result.errors) errors"
            )
            if let error = result.firstError { SojournBench.progress(error) }
            let half = try load.run(seconds: options.seconds, perSecond: result.perSecond / 2)
            rounds.halfRateMedians.append(half.latency(0.5))
            rounds.halfRateP99s.append(half.latency(0.99))
        }
        return rounds
    }

    private func add(
        _ rounds: Rounds, _ count: Int, _ machine: (http: [Int: Spread], sign: Spread, rows: [Int: Spread]),
        to report: inout Report
    ) {
        func add(_ name: String, _ unit: String, _ values: [Double]) {
            report.figures.append(Figure(name, unit, connections: count, values))
        }
        add("durable refreshes", "per second", rounds.perSecond)
        for (share, name) in Self.shares { add("latency \(name)", "ms", rounds.latencies[share] ?? []) }
        add("errors", "in a round", rounds.errors)
        add("server CPU for a refresh", "ms", rounds.cpuMilliseconds)
        add("CPU of the load for a refresh", "µs", rounds.loadMicroseconds)
        add("refreshes in a commit", "on average", rounds.perCommit)
        add("write operations of the disk for a refresh", "", rounds.diskWrites)
        add("written to the disk for a refresh", "KiB", rounds.diskKibibytes)
        add("checkpoints meanwhile", "per second", rounds.checkpoints)
        add("time of a checkpoint", "ms, mean", rounds.checkpointMilliseconds)
        add("latency p50 at half of that rate", "ms", rounds.halfRateMedians)
        add("latency p99 at half of that rate", "ms", rounds.halfRateP99s)
        guard let http = machine.http[count], let rows = machine.rows[count] else { return }
        report.figures.append(Figure("GET /healthz", "per second", connections: count, http))
        report.figures.append(
            Figure("SQLite rows in batches of the connections", "per second", connections: count, rows))
        let limit = 1 / (1 / http.median + 1 / machine.sign.median + 1 / rows.median)
        add("machine's limit", "per second", [limit])
        add("refreshes over the machine's limit", "times", rounds.perSecond.map { $0 / limit })
    }
}

extension RefreshBenchmark.Rounds {
    fileprivate mutating func add(_ result: LoadResult, cpuSeconds: Double, _ work: WorkCounters) {
        let answered = Double(max(1, result.answered))
        perSecond.append(result.perSecond)
        cpuMilliseconds.append(cpuSeconds * 1000 / answered)
        loadMicroseconds.append(result.ownMicroseconds)
        errors.append(Double(result.errors))
        for (share, _) in RefreshBenchmark.shares { latencies[share, default: []].append(result.latency(share)) }
        perCommit.append(work.changes / work.commits)
        diskWrites.append(work.writes / answered)
        diskKibibytes.append(work.bytesWritten / 1024 / answered)
        checkpoints.append(work.checkpoints / result.seconds)
        checkpointMilliseconds.append(work.checkpointSeconds * 1000 / max(1, work.checkpoints))
    }
}

/// The source of the first refresh tokens.
enum TokenSupply {
    /// The admin interface of the server, with a new session for each token.
    case minted
    /// Tokens derived with the root key for the unused sessions of a filled database, with as many for each connection.
    case filled(ArraySlice<Identifier<Session>>, perConnection: Int, RootKeys)

    /// The most sessions of a filled database that one connection refreshes in turn.
    private static let sessionsPerConnectionMax = 256

    /// Returns the sessions of a filled database for one connection, so that every load has sessions of its own; 0 without a
    /// filled database. A first refresh token works once, because a later use of it counts as misuse and ends the session.
    static func sessionsPerConnection(_ options: Options) throws -> Int {
        let connections = options.connections.reduce(0, +)
        guard options.sessions == 0 || options.sessions >= connections else {
            throw UsageError(
                "--sessions takes 0, or at least one session for each of the \(connections) connections of all loads")
        }
        return min(sessionsPerConnectionMax, options.sessions / connections)
    }

    /// Returns the token of a new session for each connection.
    static func mint(
        _ connections: Int, _ server: ServerProcess, _ launch: ServerProcess.Launch
    ) throws -> [[[UInt8]]] {
        let calls = AdminCalls(server, launch)
        return try (0..<connections).map { [try calls.mintSession(device: connections * 1_000_000 + $0)] }
    }

    /// Returns the tokens of each connection: one, or many that are spread over a filled database. Each call uses other
    /// sessions.
    mutating func tokens(
        _ connections: Int, _ server: ServerProcess, _ launch: ServerProcess.Launch
    ) throws -> [[[UInt8]]] {
        switch self {
        case .minted: return try Self.mint(connections, server, launch)
        case .filled(let unused, let count, let rootKeys):
            self = .filled(unused.dropFirst(connections * count), perConnection: count, rootKeys)
            let coder = RefreshTokenCoder(rootKeys: rootKeys)
            return (0..<connections).map { connection in
                unused.dropFirst(connection * count).prefix(count).map { id in
                    Array(coder.encode(RefreshToken(sessionID: id, serial: 1)).utf8)
                }
            }
        }
    }
}
