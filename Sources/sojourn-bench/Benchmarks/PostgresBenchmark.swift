/// `sojourn-bench postgres`.
struct PostgresBenchmark {
    let options: Options

    func run() throws -> Report {
        guard let url = options.postgres else {
            throw UsageError("--postgres postgres://… names an empty database that may be filled")
        }
        let folder = try TemporaryFolder(in: options.folder)
        var launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        launch.url = url
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        try calls.rotateAtEveryRefresh()
        try calls.makeUser()
        try PostgresCommand.run("pgbench", ["-i", "-q", url], in: folder.path)
        var report = Report("postgres")
        for count in options.connections {
            let tokens = try TokenSupply.mint(count, server, launch)
            let load = try LoadGenerator(port: server.publicPort, tokens.map { RefreshChains($0) })
            _ = try load.run(seconds: 1)
            var (refreshes, transactions, p50, p99): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
            for _ in 0..<options.rounds {
                transactions.append(try transactionsPerSecond(count, url, folder.path))
                let result = try load.run(seconds: options.seconds)
                if let error = result.firstError { throw Failure(error) }
                refreshes.append(result.perSecond)
                p50.append(result.latency(0.5))
                p99.append(result.latency(0.99))
            }
            report.figures += [
                Figure("durable refreshes", "per second", connections: count, refreshes),
                Figure("latency p50", "ms", connections: count, p50),
                Figure("latency p99", "ms", connections: count, p99),
                Figure("pgbench -N, transactions", "per second", connections: count, transactions),
                Figure(
                    "refreshes / transactions of pgbench -N", "", connections: count,
                    zip(refreshes, transactions).map { $0 / $1 }),
            ]
        }
        report.figures.append(Figure("server memory, peak", "MiB", [server.mebibytes("VmHWM")]))
        try server.stop()
        return report
    }

    private func transactionsPerSecond(_ clients: Int, _ url: String, _ folder: String) throws -> Double {
        let seconds = String(Int(options.seconds.rounded(.up)))
        let text = try PostgresCommand.run(
            "pgbench", ["-N", "-n", "-c", String(clients), "-j", "2", "-T", seconds, url], in: folder)
        for line in text.split(separator: "\n") where line.hasPrefix("tps = ") {
            if let number = line.dropFirst(6).split(separator: " ").first.flatMap({ Double($0) }) { return number }
        }
        throw Failure("pgbench says no transactions per second: \(text)")
    }
}
