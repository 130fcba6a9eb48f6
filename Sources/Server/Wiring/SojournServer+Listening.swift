internal import Configuration
internal import Endpoints
internal import HTTP
internal import HTTPServer
internal import Sockets
internal import TLS

// The sockets of the listeners, and the responder of each. An event loop passes requests to `Endpoints` without a lock.
extension SojournServer {
    /// The name of each listener: the key of the configuration that sets its address.
    private enum ListenerName: String {
        case `public` = "server.public_listen"
        case admin = "server.admin_listen"
        case adminSocket = "database.url"

        var listener: Caller.Listener {
            switch self {
            case .public: .public
            case .admin: .admin
            case .adminSocket: .adminSocket
            }
        }
    }

    /// Binds the addresses, or takes the inherited sockets. Connections wait until `beginAccepting`, because the issuer, and
    /// with it the endpoints, can depend on the port.
    func listen(
        _ engine: HTTPServer, _ reloaders: [CertificateReloader]
    ) throws(StartError) -> Addresses {
        let server = configuration.server
        let socketPath = configuration.database.socketPath
        guard socketPath.utf8.count <= 107 else {
            throw .system(
                "the path of the admin socket, \(socketPath), is longer than the 107 bytes that the system allows; move "
                    + "the database to a shorter path, or name it by a relative one")
        }
        let given = try assignInherited()
        let publicTLS = reloaders.first { $0.files.listener == "public" }?.holder
        let adminTLS = reloaders.first { $0.files.listener == "admin" }?.holder
        let publicAddress = try listen(
            engine, given.public, on: server.publicListen, .public, publicTLS)
        let adminAddress = try listen(
            engine, given.admin, on: server.adminListen, .admin, adminTLS)
        if server.issuer == nil, publicAddress.port == nil { throw .issuerMissing }
        return Addresses(
            public: publicAddress.baseURL(isSecure: publicTLS != nil),
            admin: adminAddress.baseURL(isSecure: adminTLS != nil), adminSocket: socketPath)
    }

    /// Assigns the inherited sockets to listeners by their names. A single socket without such a name is the public one.
    private func assignInherited() throws(StartError) -> (public: [Int32], admin: [Int32]) {
        let numbers = { [inherited] (name: String) in inherited.filter { $0.name == name }.map(\.number) }
        let (publics, admins) = (numbers("public"), numbers("admin"))
        if publics.count + admins.count == inherited.count { return (publics, admins) }
        if let only = inherited.first, inherited.count == 1 { return ([only.number], []) }
        throw .inheritedNames(inherited.map(\.name))
    }

    /// Opens the sockets of one listener. Returns the address of the first one.
    private func listen(
        _ engine: HTTPServer, _ numbers: [Int32], on address: SocketAddress, _ name: ListenerName,
        _ tls: TLSContextHolder?
    ) throws(StartError) -> SocketAddress {
        var first: SocketAddress?
        do throws(SocketError) {
            for number in numbers {
                let address = try listen(engine, through: Listener(inheriting: number), name, tls)
                first = first ?? address
            }
            if let first { return first }
            var options = Listener.Options()
            options.unixMode = configuration.server.unixSocketMode
            options.sharing = configuration.server.reusesPort ? .succession : .none
            return try listen(engine, through: Listener(address, options), name, tls)
        } catch { throw .listen(key: name.rawValue, error) }
    }

    private func listen(
        _ engine: HTTPServer, through socket: consuming Listener, _ name: ListenerName, _ tls: TLSContextHolder?
    ) throws(SocketError) -> SocketAddress {
        let server = configuration.server
        var options = Self.options(name)
        if name == .public, server.proxyProtocol == .required { options.proxies = server.trustedProxies }
        options.gateways = server.trustedProxies
        options.tls = tls
        return try engine.reserve(socket, options)
    }

    /// Binds the Unix socket beside the database.
    func listenToAdministrators(_ engine: HTTPServer, _ path: String) throws(StartError) {
        let name = ListenerName.adminSocket
        do throws(SocketError) {
            try engine.reserve(Listener(.unix(path: path)), Self.options(name))
        } catch { throw .listen(key: name.rawValue, error) }
    }

    private static func options(_ name: ListenerName) -> HTTPServer.ServiceOptions {
        var options = HTTPServer.ServiceOptions(name: name.rawValue)
        options.isReserved = name != .public
        options.isUrgent = \.isHealthCheck
        return options
    }

    /// The names of the admin listener: its address, and those of the configuration. A listener on every address has the names
    /// of the configuration alone.
    func consoleSettings(_ addresses: Addresses) -> ConsoleSettings {
        let url = addresses.admin
        let authority = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return ConsoleSettings(hosts: configuration.server.adminHosts + [String(host)], baseURL: url)
    }

    /// Lets `endpoints` answer the requests of all listeners, including those that arrived earlier.
    func beginAccepting(_ engine: HTTPServer, _ endpoints: Endpoints) throws(StartError) {
        let server = configuration.server
        do throws(SocketError) {
            try engine.beginAccepting { options in
                let name = ListenerName(rawValue: options.name) ?? .public
                // The peers of the Unix socket are processes of this machine, so that no proxy stands before it.
                let proxies =
                    name == .adminSocket
                    ? TrustedProxies([]) : TrustedProxies(server.trustedProxies, field: server.forwardedField)
                return Self.responder(name.listener, proxies, endpoints)
            }
        } catch { throw .system(error.description) }
    }

    /// The responder of one listener. Without trusted proxies, the fields of requests are not searched for the client's
    /// address.
    private static func responder(
        _ listener: Caller.Listener, _ proxies: TrustedProxies, _ endpoints: Endpoints
    ) -> Responder {
        if proxies.ranges.isEmpty {
            return { request, context in
                let host = context.isLocalSocket ? nil : context.remoteHost
                let caller = Caller(remoteAddress: host, listener: listener, isSecure: context.isSecure)
                return endpoints.reply(to: request, from: caller)
            }
        }
        return { request, context in
            let origin = proxies.origin(of: request.fields, from: context.remoteAddress, isSecure: context.isSecure)
            let host = origin.client.port == nil ? nil : origin.client.host
            let caller = Caller(
                remoteAddress: host, listener: listener, isSecure: origin.isSecure, isProxy: origin.isFromProxy)
            return endpoints.reply(to: request, from: caller)
        }
    }
}

extension SocketAddress {
    /// The URL at which a program on this machine reaches a listener on the address.
    func baseURL(isSecure: Bool) -> String {
        let scheme = isSecure ? "https" : "http"
        return switch self {
        case .ipv4(let bytes, let port) where bytes == [0, 0, 0, 0]: "\(scheme)://127.0.0.1:\(port)"
        case .ipv6(let bytes, let port) where bytes.allSatisfy { $0 == 0 }: "\(scheme)://[::1]:\(port)"
        case .unix: "\(self)"
        default: "\(scheme)://\(self)"
        }
    }
}

extension Request {
    /// Whether the request is a health check. A busy server answers it, because a refusal would have the server restarted.
    fileprivate var isHealthCheck: Bool { Endpoints.healthPaths.contains(target.path) }
}
