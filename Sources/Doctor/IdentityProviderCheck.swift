internal import Configuration
internal import HTTP
internal import Server
internal import Sockets

/// The checks of the rechecks of a running server.
enum IdentityProviderCheck {
    /// One finding for each provider with rechecks.
    static func findings(_ configuration: ServerConfiguration, of server: SocketAddress) -> [Finding] {
        let names = configuration.recheckedProviders
        guard !names.isEmpty, let answer = try? HTTPExchange.send(Request(.get, "/metrics"), to: server) else {
            return []
        }
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
        return names.map { name in
            let gauge = "sojourn_identity_recheck_failing_seconds{provider=\"\(name)\"} "
            let seconds = lines.first { $0.hasPrefix(gauge) }.flatMap { Double($0.dropFirst(gauge.count)) }
            return finding(name, failingSeconds: Int64(seconds ?? 0))
        }
    }

    /// The finding for one provider; a single failure is not reported.
    static func finding(_ name: String, failingSeconds: Int64) -> Finding {
        if failingSeconds < 300 {
            return Finding(.ok, "provider", "\(name) answers when it is asked again, or was not asked")
        }
        return Finding(
            .warn, "provider",
            "\(name) has given no answer about any session for \(failingSeconds / 60) minutes: the server's log says why. When its "
                + "budget is over, sessions are answered with 503 until it answers")
    }
}
