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
            name: "http", summary: "GET /healthz per second and the CPU time that one takes, beside nginx",
            discussion: """
                Starts 'sojourn serve' with one event loop and asks for GET /healthz in a closed loop on one thread; in turn with nginx of one
                worker that answers 'return 200', if nginx is installed (apt-get install nginx-light).
                """,
            defaults: Options(connections: [64], seconds: 5), run: { try HTTPBenchmark(options: $0).run() }),
        Benchmark(
            name: "pages", summary: "the CPU time that one page takes: the login page and the account pages",
            discussion: """
                Starts 'sojourn serve' with one event loop and asks for each page in a closed loop on one thread, in a browser that is
                logged in and keeps its connections.
                """,
            defaults: Options(connections: [16], seconds: 3), run: { try PagesBenchmark(options: $0).run() }),
        Benchmark(
            name: "store", summary: "bytes per session, updates per second and time to open, without a server",
            discussion: """
                Fills a throw-away database through the store's own calls, four sessions to a user, then changes random
                sessions from as many tasks as --connections says, and opens the file again. Then the same beside clean-up and
                beside a backup, each round right after one without it.
                """,
            defaults: Options(connections: [32, 128, 512], seconds: 5, sessions: 100_000),
            run: { try await StoreBenchmark(options: $0).run() }),
        Benchmark(
            name: "clean-up", summary: "refreshes beside the clean-up of a running server",
            discussion: """
                Starts 'sojourn serve' and loads it with refreshes in a closed loop on one thread, in each round first with nothing to
                clean up, and then with more sessions that are over than clean-up deletes meanwhile, which works as it does by
                default.
                """,
            defaults: Options(connections: [32]), run: { try await CleanUpBenchmark(options: $0).run() }),
        Benchmark(
            name: "idle", summary: "refreshes beside thousands of idle and of slow connections, and the memory of one",
            discussion: """
                Starts 'sojourn serve' and loads it with refreshes in a closed loop on one thread, in each round alone, and then
                beside --idle keep-alive connections, which had one answer each, and --slowloris others, which send one byte
                of a head per second on a second thread and come again when the server ends them. The
                memory of an idle connection is what the server's grew by in the first round, over their number.
                """,
            defaults: Options(connections: [32], seconds: 15), run: { try IdleBenchmark(options: $0).run() }),
        Benchmark(
            name: "churn", summary: "what connections leave behind: descriptors and memory after a million",
            discussion: """
                Starts 'sojourn serve', then opens, uses and ends --total connections one after the other, in eight ways: ended by
                the client, by the server, by a reset, within a head, within content, without a word, with an answer unread,
                and after a refusal. Fails when the server has more descriptors open afterwards than before.
                """,
            defaults: Options(), run: { try ChurnBenchmark(options: $0).run() }),
        Benchmark(
            name: "postgres", summary: "durable refreshes per second on PostgreSQL, beside pgbench -N",
            discussion: """
                Starts 'sojourn serve' on the empty database --postgres and loads it as 'refresh' does, in turn with pgbench -N on
                the same database with as many clients.
                """,
            defaults: Options(), run: { try PostgresBenchmark(options: $0).run() }),
        Benchmark(
            name: "feed", summary: "from the acknowledged revocation on one node to a subscriber of another",
            discussion: """
                Starts two nodes of 'sojourn serve' on the empty database --postgres. One ends sessions, one after the other; a subscriber
                of the other follows GET /admin/v1/revocations as server-sent events. Meanwhile the first one refreshes: not
                at all, at half of its top rate, and at its top rate.
                """,
            defaults: Options(connections: [32], seconds: 20), run: { try FeedBenchmark(options: $0).run() }),
        Benchmark(
            name: "logins", summary: "from the phone's acknowledged logout to the desktop that it let in",
            discussion: """
                Starts 'sojourn serve' with a throw-away database, or two nodes of it on the empty database --postgres. Again and again
                a phone lets a desktop in and logs out, while the desktop waits for news at GET /v1/logins/{login_id}, on the
                second node if there are two. Before that, --waiters calls of desktop and phone in turns wait for one login that a
                phone has claimed, for as long, and the server's write transactions are counted.
                """,
            defaults: Options(seconds: 60), run: { try LoginsBenchmark(options: $0).run() }),
        Benchmark(
            name: "cluster", summary: "several nodes on one PostgreSQL: locks, idle work, clocks and outages",
            discussion: """
                Starts --nodes of 'sojourn serve' on the empty database --postgres, as a superuser. For each
                --commit-delay (milliseconds, by commit_delay of the nodes' connections): logins a second, refreshes a second
                alone and, in turn, beside --account-changes connections that change other users as fast as they can. Then what
                the database does for idle nodes. With --skew, one more node with a clock that is ahead
                (libfaketime) has part in refreshes of two processes at the same time. With --outage, --phones refresh once a minute, the
                database is away for so long, and the requests of each second are counted until every phone has an answer; the phones
                wait as Retry-After says, and no longer.
                """,
            defaults: Options(seconds: 5), run: { try ClusterBenchmark(options: $0).run() }),
        Benchmark(
            name: "flood", summary: "right logins beside a flood of wrong passwords",
            discussion: """
                Starts 'sojourn serve' with a throw-away database. From 50 addresses, 127.1.0.1 to 127.1.49.1, each a network of
                its own, come 200 wrong passwords a second, for names that do not exist, because a name that exists is
                locked soon. Meanwhile there is one right login a second, in turn from a device that has a
                session, at an address in one of those networks, and from a new device in another network. One that is
                not answered within two seconds has failed. Beside them, ten refreshes a second.
                """,
            defaults: Options(seconds: 200), run: { try FloodBenchmark(options: $0).run() }),
        Benchmark(
            name: "console", summary: "milliseconds of each page of the admins' console",
            discussion: """
                Starts 'sojourn serve' on a database with --sessions sessions, four to a user, enters the console and asks for each
                page, one after the other, each over a connection of its own.
                """,
            defaults: Options(sessions: 100_000), run: { try await ConsoleBenchmark(options: $0).run() }),
        Benchmark(
            name: "cells", summary: "a model of many primaries: cells, refreshes, fail-over, moves; measures nothing",
            discussion: """
                Computes, second by second in virtual time, a day of --with devices=N in some regions, each with as many cells as
                its sessions, refreshes and logins need. In each cell the primary fails once at the busiest moment, and each region is away
                once. The spread of a figure is that over cells or regions. --with changes an input, such as postgres_us, session_bytes,
                primary_cores or fail_over; the page Internals/Cells.md of the manual has all of them.
                """,
            defaults: Options(), run: { try CellsBenchmark(options: $0).run() }),
        Benchmark(
            name: "start", summary: "time from exec to ready, and the memory just started",
            discussion: "Starts 'sojourn serve' --rounds times on a database with --sessions sessions.",
            defaults: Options(rounds: 20, sessions: 10_000), run: { try await StartBenchmark(options: $0).run() }),
    ]
}
