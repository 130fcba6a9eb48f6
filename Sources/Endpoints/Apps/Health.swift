internal import HTTP
internal import Sessions
internal import Telemetry

extension Endpoints {
    /// `GET /healthz`: the process answers.
    func health() throws -> Response {
        Self.healthy
    }

    private static let healthy = Response(.ok, text: "ok\n")

    /// `GET /readyz`: requests can be served, because the store can commit and the server is not about to stop.
    func readiness(_ call: Call) async throws -> Response {
        guard !isStopping() else { return try unready("stopping") }
        do throws(StoreError) { try await context.store.ping() } catch {
            logger.error("the store does not answer", ["cause": "\(error)"])
            if case .corrupted = error { return try unready("damaged") }
            return try unready("unavailable")
        }
        return try .json(ReadinessAnswer(status: "ready", store: "ok"))
    }

    private func unready(_ store: String) throws -> Response {
        var response = try Response.json(ReadinessAnswer(status: "not_ready", store: store), .serviceUnavailable)
        response.fields.append("Retry-After", "1")
        return response
    }

    /// `GET /metrics`. No key: Prometheus scrapes without one, the admin listener is not for the public, and the numbers
    /// name no user, no token and no address.
    func metricsText() throws -> Response {
        Response(.ok, MetricsRegistry.contentType, Array(registry.render().utf8))
    }
}

/// Whether requests can be served.
struct ReadinessAnswer: Encodable {
    let status: String
    /// `ok`, `unavailable`, `damaged` for good, or `stopping` when the store was not asked.
    let store: String
}
