/// A subcommand.
struct Benchmark: Sendable {
    let name: String
    let summary: String
    /// What is measured and how, for `--help`.
    let discussion: String
    let defaults: Options
    let run: @Sendable (Options) async throws -> Report

    /// Every subcommand.
    static let all = [
        Benchmark(
            name: "refresh", summary: "durable refreshes per second, beside the limits of this machine",
            discussion: """
                Starts 'sojourn serve' with a throw-away database and loads POST /oauth/token with refresh-token grants: a
                closed loop on one thread, one chain of refresh tokens per keep-alive connection, every refresh rotating
                and synced to the disk (rotation_interval 0). A refresh counts when the answer is 200 with an access token
                and a new refresh token. With --sessions, the database holds so many before, and the refreshed ones are
                spread over all of them. The machine's limit is 1 / (1/http + 1/sign + 1/row): one request, one
                signature, one row, each measured alone in the same run.
                """,
            defaults: Options(), run: { try await RefreshBenchmark(options: $0).run() }),
        Benchmark(
            name: "http", summary: "GET /healthz per second, and the CPU time that one takes",
            discussion: "Starts 'sojourn serve' and asks for GET /healthz in a closed loop on one thread.",
            defaults: Options(connections: [64], seconds: 5), run: { try HTTPBenchmark(options: $0).run() }),
        Benchmark(
            name: "store", summary: "bytes per session, updates per second and time to open, without a server",
            discussion: """
                Fills a throw-away database through the store's own calls, four sessions to a user, then changes random
                sessions from as many tasks as --connections says, and opens the file again.
                """,
            defaults: Options(connections: [32, 128, 512], seconds: 5, sessions: 100_000),
            run: { try await StoreBenchmark(options: $0).run() }),
        Benchmark(
            name: "start", summary: "time from exec to ready, and the memory just started",
            discussion: "Starts 'sojourn serve' --rounds times on a database with --sessions sessions.",
            defaults: Options(rounds: 20, sessions: 10_000), run: { try await StartBenchmark(options: $0).run() }),
    ]
}
