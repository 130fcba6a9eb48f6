import Configuration
import HTTP
import JSON
import Server
import Sockets

/// `sojourn health`, `sojourn version`
enum HealthCommand {
    static let health = Command(
        path: ["health"], summary: "Asks a running server whether it can serve; for health checks, instead of curl.",
        options: [
            Command.Option(
                "--url", "URL",
                "its base URL, without TLS; else the public address of the configuration, or the admin socket if that has TLS"
            ),
            Command.Option("--config", "FILE", "the configuration"),
            Command.Option(
                "--live", nil, "only whether it answers (/healthz), not whether the database does (/readyz)"),
        ],
        examples: ["sojourn health", "sojourn health --url http://127.0.0.1:8080"]
    ) { (arguments) async throws(Failure) in
        let address = try await address(arguments)
        let path = arguments.has("--live") ? "/healthz" : "/readyz"
        let response: Response
        do throws(SocketError) {
            response = try HTTPExchange.send(Request(.get, path), to: address)
        } catch { throw Failure(.unavailable, error.description) }
        guard response.status.isSuccess else {
            throw Failure(.unavailable, "the server at \(address) answers \(response.status.code) to \(path)")
        }
        Terminal.write("the server at \(address) is \(arguments.has("--live") ? "alive" : "ready")")
    }

    private static func address(_ arguments: Arguments) async throws(Failure) -> SocketAddress {
        guard let url = arguments.value("--url") else {
            let configuration = try Setup.configuration(arguments)
            let server = configuration.server
            // With TLS or the PROXY protocol, this program cannot use the public listener. The admin socket beside the database
            // belongs to the same server.
            return server.proxyProtocol == .off && server.publicCertificate == nil
                ? server.publicListen.reachable : .unix(path: configuration.database.socketPath)
        }
        if url.hasPrefix("https://") {
            throw arguments.usage("--url cannot be https here; without --url the server is asked over its admin socket")
        }
        let prefix = "http://"
        var authority = url.hasPrefix(prefix) ? String(url.dropFirst(prefix.count)) : url
        if authority.hasSuffix("/") { authority.removeLast() }
        guard let address = try? SocketAddress(authority), address.port != nil else {
            throw arguments.usage("--url must be like http://127.0.0.1:8080 (an address, not a name), not '\(url)'")
        }
        return address
    }

    static let version = Command(
        path: ["version"], summary: "Prints the version.", options: [.json], examples: ["sojourn version"]
    ) { (arguments) async throws(Failure) in
        Terminal.write(
            arguments.isJSON
                ? String(decoding: JSONValue.object(["version": .string(Release.version)]).text(), as: UTF8.self)
                : "sojourn \(Release.version)")
    }
}

/// The release of this program.
enum Release {
    static let version = "0.1.0"
}

extension SocketAddress {
    /// The address at which a program on this machine reaches a listener on the address.
    var reachable: SocketAddress {
        switch self {
        case .ipv4(let bytes, let port) where bytes == [0, 0, 0, 0]: .ipv4(bytes: [127, 0, 0, 1], port: port)
        case .ipv6(let bytes, let port) where bytes.allSatisfy({ $0 == 0 }):
            .ipv6(bytes: [UInt8](repeating: 0, count: 15) + [1], port: port)
        default: self
        }
    }
}
