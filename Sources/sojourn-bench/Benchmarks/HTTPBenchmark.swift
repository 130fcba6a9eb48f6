/// `sojourn-bench http`.
struct HTTPBenchmark {
    let options: Options

    /// The results of the rounds of one server.
    private struct Series {
        var perSecond: [Double] = []
        var microseconds: [Double] = []
        var own: [Double] = []
        var p50: [Double] = []
        var p99: [Double] = []

        mutating func add(_ result: LoadResult, cpuSeconds: Double) {
            perSecond.append(result.perSecond)
            microseconds.append(cpuSeconds * 1e6 / Double(max(1, result.answered)))
            own.append(result.ownMicroseconds)
            p50.append(result.latency(0.5))
            p99.append(result.latency(0.99))
        }

        func figures(_ server: String, _ connections: Int) -> [Figure] {
            [
                Figure("\(server): GET /healthz", "per second", connections: connections, perSecond),
                Figure("\(server): latency p50", "ms", connections: connections, p50),
                Figure("\(server): latency p99", "ms", connections: connections, p99),
                Figure("\(server): CPU for a request", "µs", connections: connections, microseconds),
                Figure("\(server): CPU of the load for a request", "µs", connections: connections, own),
            ]
        }
    }

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        var launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        // For a fair comparison: one event loop and one worker.
        launch.environment.append("SOJOURN_LIMITS_EVENT_LOOPS=1")
        let sojourn = try ServerProcess(launch)
        try AdminCalls(sojourn, launch).makeClient(origin: Preflight.origin)
        let nginx = try NginxProcess.path.map { try NginxProcess($0, folder: folder.path) }
        var report = Report("http")
        for count in options.connections {
            var (own, other) = (Series(), Series())
            let load = try LoadGenerator(port: sojourn.publicPort, (0..<count).map { _ in HealthCheck() })
            let otherLoad = try nginx.map { try LoadGenerator(port: $0.port, (0..<count).map { _ in HealthCheck() }) }
            _ = try load.run(seconds: 0.5)
            _ = try otherLoad?.run(seconds: 0.5)
            for _ in 0..<options.rounds {
                if let nginx, let otherLoad { try measure(nginx, otherLoad, &other) }
                try measure(sojourn, load, &own)
            }
            report.figures += own.figures("sojourn", count)
            try report.figures += preflights(sojourn, own, count)
            guard nginx != nil else { continue }
            report.figures += other.figures("nginx", count)
            let rates = zip(own.perSecond, other.perSecond).map { $0 / $1 }
            let costs = zip(own.microseconds, other.microseconds).map { $0 / $1 }
            report.figures += [
                Figure("requests, sojourn / nginx", "", connections: count, rates),
                Figure("CPU for a request, sojourn / nginx", "", connections: count, costs),
            ]
        }
        report.figures.append(Figure("server memory, peak", "MiB", [sojourn.mebibytes("VmHWM")]))
        try sojourn.stop()
        return report
    }

    /// The rate of preflights beside that of the health checks in `own`.
    private func preflights(_ server: ServerProcess, _ own: Series, _ count: Int) throws -> [Figure] {
        var preflights = Series()
        let load = try LoadGenerator(port: server.publicPort, (0..<count).map { _ in Preflight() })
        _ = try load.run(seconds: 0.5)
        for _ in 0..<options.rounds { try measure(server, load, &preflights) }
        return [
            Figure("sojourn: OPTIONS /v1/refresh, a preflight", "per second", connections: count, preflights.perSecond),
            Figure(
                "requests, preflight / GET /healthz", "", connections: count,
                zip(preflights.perSecond, own.perSecond).map { $0 / $1 }),
        ]
    }

    private func measure(
        _ server: some MeasuredServer, _ load: LoadGenerator<some Conversation>, _ series: inout Series
    ) throws {
        let before = server.cpuSeconds
        let result = try load.run(seconds: options.seconds)
        if let error = result.firstError { throw Failure(error) }
        series.add(result, cpuSeconds: server.cpuSeconds - before)
    }
}
