import Sockets

/// `sojourn-bench idle`.
struct IdleBenchmark {
    let options: Options

    func run() throws -> Report {
        let count = options.connections[0]
        let crowd = options.idle + options.slowloris
        try Self.raiseDescriptorLimit(to: crowd + count + 200)
        let folder = try TemporaryFolder(in: options.folder)
        var launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        launch.environment = [
            "SOJOURN_LIMITS_CONNECTIONS=\(crowd + count + 1000)",
            // Otherwise the idle connections would end before the last round.
            "SOJOURN_LIMITS_IDLE_TIMEOUT_SECONDS=86400",
        ]
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        try calls.rotateAtEveryRefresh()
        try calls.makeUser()
        let tokens = try (0..<count).map { [try calls.mintSession(device: $0)] }
        let load = try LoadGenerator(port: server.publicPort, tokens.map { RefreshChains($0) })
        _ = try load.run(seconds: 1)
        var (alone, beside, ratios, bytes, reopened): ([Double], [Double], [Double], [Double], [Double]) =
            ([], [], [], [], [])
        for round in 1...options.rounds {
            alone.append(try refreshes(load))
            let before = try server.proportionalMemory()
            let idle = try Self.idleConnections(options.idle, server)
            // In later rounds, the allocator has memory of closed connections to reuse.
            if round == 1, options.idle > 0 {
                bytes.append((try server.proportionalMemory() - before) / Double(options.idle))
            }
            let slow = SlowSenders(options.slowloris, port: server.publicPort)
            beside.append(try refreshes(load))
            reopened.append(Double(try slow.stop()))
            guard try server.openDescriptors() >= options.idle + count else {
                throw Failure("idle connections are gone")
            }
            idle.resetAtEnd()
            alone.append(try refreshes(load))
            // Measured before and after, so that a machine that becomes faster or slower does not change the ratio.
            ratios.append(2 * beside[round - 1] / (alone[2 * round - 2] + alone[2 * round - 1]))
            SojournBench.progress(
                "round \(round): \(Int(alone[2 * round - 2])) refreshes per second, beside the others \(Int(beside[round - 1])), "
                    + "then \(Int(alone[2 * round - 1]))")
        }
        var report = Report("idle")
        report.figures = [
            Figure("durable refreshes, no other connections", "per second", connections: count, alone),
            Figure(
                "durable refreshes beside \(options.idle) idle and \(options.slowloris) slowloris", "per second",
                connections: count, beside),
            Figure("the second over the first", "times", ratios),
            Figure("slowloris connections that the server ended", "in a round", reopened),
        ]
        if !bytes.isEmpty { report.figures.append(Figure("memory for an idle connection", "bytes", bytes)) }
        report.figures.append(Figure("server memory, peak", "MiB", [server.mebibytes("VmHWM")]))
        try server.stop()
        return report
    }

    private func refreshes(_ load: LoadGenerator<RefreshChains>) throws -> Double {
        let result = try load.run(seconds: options.seconds)
        if let error = result.firstError { throw Failure(error) }
        return result.perSecond
    }

    /// Opens connections that get one response each and then stay idle.
    private static func idleConnections(_ count: Int, _ server: ServerProcess) throws -> LoadGenerator<HealthCheck> {
        let crowd = try LoadGenerator(port: server.publicPort, (0..<count).map { _ in HealthCheck() })
        let result = try crowd.run(seconds: 0.001)
        guard result.answered == count else { throw Failure(result.firstError ?? "an idle connection had no answer") }
        return crowd
    }

    static func raiseDescriptorLimit(to count: Int) throws {
        DescriptorLimit.raise(to: count)
        guard DescriptorLimit.current >= count else {
            throw Failure(
                "this takes \(count) descriptors, and the system allows \(DescriptorLimit.current) (ulimit -Hn): raise that, "
                    + "or take fewer connections")
        }
    }
}
