internal import HTTPServer
internal import Telemetry

extension MetricsRegistry {
    /// Shows how often each limit was reached, labelled with the key that sets it, so that a growing number names its remedy.
    func showLimits(_ engine: HTTPServer) {
        counters(
            "sojourn_limit_reached_total", help: "Times that clients met a limit of the server.", label: "limit"
        ) { [weak engine] in
            let reached = engine?.statistics.reached ?? [:]
            return HTTPServer.Limit.allCases.map { ($0.key, reached[$0] ?? 0) }
        }
    }
}

extension HTTPServer.Limit {
    /// The key of the configuration that sets it; for descriptors, the limit of the system.
    var key: String {
        switch self {
        case .requestLine: "limits.request_line_bytes"
        case .fieldCount: "limits.field_count"
        case .fieldBytes: "limits.field_bytes"
        case .body: "limits.body_bytes"
        case .headerTime: "limits.header_timeout_seconds"
        case .bodyTime: "limits.body_timeout_seconds"
        case .idleTime: "limits.idle_timeout_seconds"
        case .writeTime: "limits.write_timeout_seconds"
        case .requestTime: "limits.request_timeout_seconds"
        case .connections: "limits.connections"
        case .connectionsPerAddress: "limits.connections_per_address"
        case .requestsPerConnection: "limits.requests_per_connection"
        case .pendingRequests: "limits.pending_requests"
        case .streamingReplies: "limits.subscribers"
        case .reservedStreamingReplies: "limits.admin_subscribers"
        case .bufferedBytes: "limits.buffered_bytes"
        case .descriptors: "ulimit -n"
        case .handshakes: "limits.tls_handshakes_waiting"
        }
    }
}
