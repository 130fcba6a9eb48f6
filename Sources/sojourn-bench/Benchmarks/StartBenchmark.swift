import SQLiteStore

/// `sojourn-bench start`.
struct StartBenchmark {
    let options: Options

    func run() async throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        let launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        // The first start creates the database and its keys; only later starts are measured.
        try ServerProcess(launch).stop()
        if options.sessions > 0 {
            SojournBench.progress("filling the database with \(options.sessions) sessions")
            let store = try SessionFiller.open(launch.database)
            let filler = SessionFiller(store: store)
            let users = try await filler.addUsers(max(1, options.sessions / SessionFiller.sessionsPerUser))
            _ = try await filler.addSessions(options.sessions, of: users)
            await store.close()
        }
        var (milliseconds, mebibytes): ([Double], [Double]) = ([], [])
        for _ in 0..<options.rounds {
            let server = try ServerProcess(launch)
            milliseconds.append(server.readyAfter * 1000)
            mebibytes.append(server.mebibytes("VmRSS"))
            try server.stop()
        }
        var report = Report("start")
        report.figures = [
            Figure("exec to ready, \(options.sessions) sessions", "ms", milliseconds),
            Figure("resident memory, just started", "MiB", mebibytes),
        ]
        return report
    }
}
