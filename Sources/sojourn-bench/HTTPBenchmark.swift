/// `sojourn-bench http`.
struct HTTPBenchmark {
    let options: Options

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        let server = try ServerProcess(ServerProcess.Launch(program: options.sojournPath(), folder: folder.path))
        var report = Report("http")
        for count in options.connections {
            let load = try LoadGenerator(port: server.publicPort, (0..<count).map { _ in HealthCheck() })
            _ = try load.run(seconds: 0.5)
            var (perSecond, microseconds, own): ([Double], [Double], [Double]) = ([], [], [])
            var (p50, p99): ([Double], [Double]) = ([], [])
            for _ in 0..<options.rounds {
                let before = server.cpuSeconds
                let result = try load.run(seconds: options.seconds)
                if let error = result.firstError { throw Failure(error) }
                perSecond.append(result.perSecond)
                microseconds.append((server.cpuSeconds - before) * 1e6 / Double(max(1, result.answered)))
                own.append(result.ownMicroseconds)
                p50.append(result.latency(0.5))
                p99.append(result.latency(0.99))
            }
            report.figures += [
                Figure("GET /healthz", "per second", connections: count, perSecond),
                Figure("latency p50", "ms", connections: count, p50),
                Figure("latency p99", "ms", connections: count, p99),
                Figure("server CPU for a request", "µs", connections: count, microseconds),
                Figure("CPU of the load for a request", "µs", connections: count, own),
            ]
        }
        report.figures.append(Figure("server memory, peak", "MiB", [server.mebibytes("VmHWM")]))
        try server.stop()
        return report
    }
}
