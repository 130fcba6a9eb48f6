internal import HTTP
internal import Sessions
internal import Telemetry

extension Endpoints {
    /// The paths that tell whether the server runs and serves.
    public static let healthPaths = ["/healthz", "/readyz"]

    /// `GET /healthz`: answers 200 while the process runs.
    func health() throws -> Response {
        Self.healthy
    }

    private static let healthy = Response(.ok, text: "ok\n")

    /// `GET /readyz`: answers 200 if the store can commit and the server is not about to stop, else 503.
    func readiness(_ call: Call) async throws -> Response {
        guard !isStopping() else { return try unready("stopping") }
        guard !machine.isClockOutvoted() else { return try unready("clock") }
        do throws(StoreError) { try await context.store.ping() } catch {
            failures.write(.error, "the store does not answer", cause: "\(error)")
            if case .corrupted = error { return try unready("damaged") }
            return try unready("unavailable")
        }
        return try .json(ReadinessAnswer(status: "ready", store: "ok"))
    }

    private func unready(_ store: String) throws -> Response {
        try Response.json(ReadinessAnswer(status: "not_ready", store: store), .serviceUnavailable)
    }

    /// `GET /metrics`: answers the metrics without authentication, because Prometheus scrapes without a key. Only the admin
    /// listener serves it, and no metric names a user, a token or an address. A name that the operator has not given is
    /// refused, because a stranger's DNS can lead browsers here by it.
    func metricsText(_ call: Call) throws -> Response {
        guard call.caller.listener == .adminSocket || call.host.map(consoleSettings.admits) ?? true else {
            throw RequestProblem.unknownHost
        }
        return Response(.ok, MetricsRegistry.contentType, Array(registry.render().utf8))
    }
}

/// The answer of `GET /readyz`.
struct ReadinessAnswer: Encodable {
    let status: String
    /// `ok`; `unavailable`; `damaged` if the database is corrupt. If the store was not asked: `stopping`, because the server
    /// stops; `clock`, because this machine has another time than the database and the other nodes.
    let store: String
}

extension Route {
    static let health = Route(
        .get, "/healthz", on: .both, cors: .noOrigin, .immediate { try $0.health() },
        Operation(
            "healthz", .operation, "Is the process alive?",
            "On both listeners. It reads nothing, neither the database nor a file.",
            answers: [.inline(200, "Health")]))

    static let readiness = Route(
        .get, "/readyz", on: .both, cors: .noOrigin, .open { try await $0.readiness($1) },
        Operation(
            "readyz", .operation, "Can requests be served?",
            """
            On both listeners. No, when the store does not answer, the server is about to stop, or this machine has another \
            time than the database and the other nodes.
            """,
            answers: [.json("Readiness", "Yes."), .inline(503, "NotReady")]))

    static let metricsText = Route(
        .get, "/metrics", on: .admin, .open { try $0.metricsText($1) },
        Operation(
            "metrics", .operation, "Metrics for Prometheus",
            "No key is needed, because the numbers name no user, no token and no address.",
            answers: [.text("text/plain", "The metrics."), .inline(421, "UnknownHost")]))
}
