import Dispatch
import Glibc
import Locks

/// `sojourn-bench cluster`.
struct ClusterBenchmark {
    let options: Options

    /// The users of sessions, and as many that are changed.
    private static let userCount = 256
    private static func users(_ prefix: String) -> [String] { (0..<userCount).map { "\(prefix)-\($0)" } }

    func run() throws -> Report {
        guard let url = options.postgres else {
            throw UsageError("--postgres postgres://… names an empty database that may be filled, as a superuser")
        }
        let folder = try TemporaryFolder(in: options.folder)
        let database = try ClusterDatabase(url: url, folder: folder.path, program: options.sojournPath())
        var cluster = try Cluster(options, database, commitDelay: 0)
        try cluster.calls[0].rotateAtEveryRefresh()
        for user in Self.users("owner") + Self.users("other") { try cluster.calls[0].makeUser(user) }
        var report = Report("cluster")
        var undelayed: Double?
        for delay in options.commitDelays {
            if delay > 0 {
                try cluster.stop()
                cluster = try Cluster(options, database, commitDelay: delay)
            }
            let logins = try measureLogins(cluster, delay, &report)
            if let undelayed {
                report.figures.append(
                    Figure("logins with \(delay) ms of commit delay / without", "", [logins / undelayed]))
            }
            undelayed = undelayed ?? logins
            try measureRefreshes(cluster, delay, &report)
        }
        try measureIdle(cluster, database, &report)
        if options.skew != 0 { try measureSkew(cluster, database, &report) }
        if options.outage > 0 {
            let tokens = try (0..<options.phones).map {
                try cluster.calls[0].mintSession(of: "owner-\($0 % Self.userCount)", device: 500_000_000 + $0)
            }
            report.figures += try OutageMeasurement(options: options, database: database).run(cluster.ports, tokens)
        }
        try cluster.stop()
        return report
    }

    /// Logins of all connections at all nodes. Returns the median of their number a second.
    private func measureLogins(_ cluster: Cluster, _ delay: Int, _ report: inout Report) throws -> Double {
        let connections = options.connections[0]
        let load = try LoadGenerator(
            ports: cluster.adminPorts,
            (0..<connections).map { number in
                AdminConversation.logins(
                    of: Self.users("owner"), number: delay * 1000 + number, cluster.calls[number % cluster.calls.count])
            })
        _ = try load.run(seconds: 1)
        let rates = try (0..<options.rounds).map { _ in try checked(load.run(seconds: options.seconds)).perSecond }
        report.figures.append(
            Figure("logins, \(delay) ms of commit delay", "per second", connections: connections, rates))
        return Spread(rates).median
    }

    /// Refreshes at all nodes, in each round first alone and then beside changes of other users.
    private func measureRefreshes(_ cluster: Cluster, _ delay: Int, _ report: inout Report) throws {
        for connections in options.connections {
            let tokens = try (0..<connections).map { number in
                try cluster.calls[0].mintSession(
                    of: "owner-\(number % Self.userCount)",
                    device: 100_000_000 + delay * 1_000_000 + connections * 1000 + number)
            }
            let load = try LoadGenerator(ports: cluster.ports, tokens.map { RefreshChains([$0]) })
            _ = try load.run(seconds: 1)
            var (alone, beside, changes): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<options.rounds {
                alone.append(try checked(load.run(seconds: options.seconds)).perSecond)
                guard options.accountChanges > 0 else { continue }
                let (refreshed, changed) = try withAccountChanges(cluster) {
                    try checked(load.run(seconds: options.seconds)).perSecond
                }
                beside.append(refreshed)
                changes.append(changed)
            }
            func add(_ name: String, _ unit: String, _ values: [Double]) {
                report.figures.append(
                    Figure("\(name), \(delay) ms of commit delay", unit, connections: connections, values))
            }
            add("refreshes", "per second", alone)
            if beside.isEmpty { continue }
            add("refreshes beside account changes", "per second", beside)
            add("account changes meanwhile", "per second", changes)
            add("refreshes beside account changes / alone", "", zip(beside, alone).map { $0 / $1 })
        }
    }

    /// Runs `body` while other users are changed. Returns its outcome, and the changes a second.
    private func withAccountChanges<Outcome>(
        _ cluster: Cluster, _ body: () throws -> Outcome
    ) throws -> (Outcome, Double) {
        let (ports, calls, options) = (cluster.adminPorts, cluster.calls, options)
        let end = Locked(false)
        let changed = Locked<Result<Double, any Error>?>(nil)
        DispatchQueue(label: "account changes").async {
            let result = Result { () throws -> Double in
                // The last node makes the changes; it is another one than the first, if there are several.
                let load = try LoadGenerator(
                    port: ports[ports.count - 1],
                    (0..<options.accountChanges).map {
                        AdminConversation.changes(of: Self.users("other"), number: $0, calls[calls.count - 1])
                    })
                let start = monotonicNanoseconds()
                var count = 0
                while !end.withLock({ $0 }) { count += try Self.checked(load.run(seconds: 0.25)).answered }
                return Double(count) * 1e9 / Double(monotonicNanoseconds() - start)
            }
            changed.withLock { $0 = result }
        }
        defer { end.withLock { $0 = true } }
        let outcome = try body()
        end.withLock { $0 = true }
        while changed.withLock({ $0 == nil }) { usleep(1000) }
        return (outcome, try changed.withLock { try $0?.get() ?? 0 })
    }

    /// What the database does while no node has anything to do.
    private func measureIdle(_ cluster: Cluster, _ database: ClusterDatabase, _ report: inout Report) throws {
        SojournBench.progress("\(cluster.ports.count) idle nodes")
        usleep(3_000_000)
        let before = try database.work()
        let start = monotonicNanoseconds()
        usleep(UInt32(max(10, options.seconds) * 1e6))
        let after = try database.work()
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        let nodes = "\(cluster.ports.count) idle nodes"
        report.figures += [
            Figure("\(nodes): rows that PostgreSQL reads", "per second", [(after.rows - before.rows) / seconds]),
            Figure("\(nodes): transactions", "per second", [(after.transactions - before.transactions) / seconds]),
            Figure("\(nodes): share of a core of PostgreSQL", "", [(after.cpuSeconds - before.cpuSeconds) / seconds]),
        ]
    }

    /// Two processes of one app refresh at the same time: one has its answer and goes on at a node with a clock ahead, then the
    /// request of the other one arrives. Each of the three must be answered with tokens.
    private func measureSkew(_ cluster: Cluster, _ database: ClusterDatabase, _ report: inout Report) throws {
        try cluster.calls[0].rotate(after: Self.skewInterval)
        let node = try ServerProcess(cluster.anotherLaunch(ahead: options.skew, database))
        let tokens = try (0..<options.connections[0]).map { number in
            try cluster.calls[0].mintSession(of: "owner-\(number % Self.userCount)", device: 800_000_000 + number)
        }
        // A first token rotates when it is as old as the interval.
        usleep(UInt32(Self.skewInterval + 1) * 1_000_000)
        var (right, wrong, firstError): (Int, Int, String?) = (0, 0, nil)
        for token in tokens {
            do {
                let child = try refresh(token, at: cluster.ports[0])
                _ = try refresh(child, at: node.publicPort)
                _ = try refresh(token, at: cluster.ports[0])
                right += 1
            } catch {
                wrong += 1
                firstError = firstError ?? "\(error)"
            }
        }
        if let firstError { SojournBench.progress(firstError) }
        let ready = (try? PlainCall(port: node.publicPort, method: "GET", path: "/readyz").send()) != nil
        let name = "a node \(options.skew) s ahead"
        report.figures += [
            Figure("\(name): races answered right", "", [Double(right)]),
            Figure("\(name): races with a wrong answer", "", [Double(wrong)]),
            Figure("\(name): ready (1) or not (0)", "", [ready ? 1 : 0]),
        ]
        try node.stop()
        try cluster.calls[0].rotateAtEveryRefresh()
    }

    /// The `rotation_interval` of that measurement, in seconds.
    private static let skewInterval = 10

    private func refresh(_ token: [UInt8], at port: UInt16) throws -> [UInt8] {
        struct Tokens: Decodable { let refresh_token: String }
        let call = PlainCall(
            port: port, method: "POST", path: "/oauth/token", contentType: "application/x-www-form-urlencoded",
            body: "grant_type=refresh_token&client_id=mobile&refresh_token=\(String(decoding: token, as: UTF8.self))")
        return Array(try call.decode(Tokens.self).refresh_token.utf8)
    }

    private func checked(_ result: LoadResult) throws -> LoadResult { try Self.checked(result) }

    private static func checked(_ result: LoadResult) throws -> LoadResult {
        if let error = result.firstError { throw Failure(error) }
        return result
    }
}

/// The running nodes.
private struct Cluster {
    private let servers: [ServerProcess]
    let calls: [AdminCalls]

    init(_ options: Options, _ database: ClusterDatabase, commitDelay: Int) throws {
        let launches = try (0..<options.nodes).map { try database.launch("node-\($0)", commitDelay: commitDelay) }
        servers = try launches.map { try ServerProcess($0) }
        calls = zip(servers, launches).map { AdminCalls($0, $1) }
    }

    var ports: [UInt16] { servers.map(\.publicPort) }
    var adminPorts: [UInt16] { servers.map(\.adminPort) }

    /// One more node, with a clock that is ahead.
    func anotherLaunch(ahead seconds: Int, _ database: ClusterDatabase) throws -> ServerProcess.Launch {
        var launch = try database.launch("node-ahead")
        let library = "/usr/lib/\(Machine.triplet)/faketime/libfaketime.so.1"
        guard access(library, R_OK) == 0 else {
            throw UsageError("--skew needs libfaketime: apt-get install libfaketime")
        }
        // The monotonic clock stays as it is on a machine with a wrong time.
        launch.environment += [
            "LD_PRELOAD=\(library)", "FAKETIME=\(seconds < 0 ? "" : "+")\(seconds)s", "FAKETIME_DONT_FAKE_MONOTONIC=1",
        ]
        return launch
    }

    func stop() throws { for server in servers { try server.stop() } }
}
