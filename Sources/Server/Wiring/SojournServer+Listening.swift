internal import Endpoints
internal import HTTP
internal import HTTPServer
internal import Sockets
internal import TLS

// Which sockets lead where, and who the caller of a request is.
extension SojournServer {
    /// Takes the addresses, or the sockets that were handed over. Connections wait until the engine begins to accept.
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
            engine, given.public, on: server.publicListen, "server.public_listen", .public, publicTLS)
        let adminAddress = try listen(
            engine, given.admin, on: server.adminListen, "server.admin_listen", .admin, adminTLS)
        if server.issuer == nil, publicAddress.port == nil { throw .issuerMissing }
        return Addresses(
            public: publicAddress.baseURL(isSecure: publicTLS != nil),
            admin: adminAddress.baseURL(isSecure: adminTLS != nil), adminSocket: socketPath)
    }

    /// Sockets that were handed over go where their names say; a single one without such a name is the public one.
    private func assignInherited() throws(StartError) -> (public: [Int32], admin: [Int32]) {
        let numbers = { [inherited] (name: String) in inherited.filter { $0.name == name }.map(\.number) }
        let (publics, admins) = (numbers("public"), numbers("admin"))
        if publics.count + admins.count == inherited.count { return (publics, admins) }
        if let only = inherited.first, inherited.count == 1 { return ([only.number], []) }
        throw .inheritedNames(inherited.map(\.name))
    }

    /// Takes the sockets of one listener; the first one's address is the listener's.
    private func listen(
        _ engine: HTTPServer, _ numbers: [Int32], on address: SocketAddress, _ key: String,
        _ listener: Caller.Listener, _ tls: TLSContextHolder?
    ) throws(StartError) -> SocketAddress {
        var first: SocketAddress?
        do throws(SocketError) {
            for number in numbers {
                let address = try listen(engine, through: Listener(inheriting: number), key, listener, tls)
                first = first ?? address
            }
            if let first { return first }
            var options = Listener.Options()
            options.unixMode = configuration.server.unixSocketMode
            options.sharing = configuration.server.reusesPort ? .succession : .none
            return try listen(engine, through: Listener(address, options), key, listener, tls)
        } catch { throw .listen(key: key, error) }
    }

    private func listen(
        _ engine: HTTPServer, through socket: consuming Listener, _ key: String, _ listener: Caller.Listener,
        _ tls: TLSContextHolder?
    ) throws(SocketError) -> SocketAddress {
        let server = configuration.server
        var options = Self.options(key, listener)
        if listener == .public, server.proxyProtocol == .required { options.proxies = server.trustedProxies }
        options.gateways = server.trustedProxies
        options.tls = tls
        let proxies = TrustedProxies(server.trustedProxies, field: server.forwardedField)
        return try engine.listen(through: socket, options, responder: responder(listener, proxies))
    }

    /// Listens on the Unix socket beside the database. Its peers are this machine's, so no proxy is asked about them.
    func listenToAdministrators(_ engine: HTTPServer, _ path: String) throws(StartError) {
        let options = Self.options("database.url", .adminSocket)
        do throws(SocketError) {
            try engine.listen(
                through: Listener(.unix(path: path)), options, responder: responder(.adminSocket, TrustedProxies([])))
        } catch { throw .listen(key: "database.url", error) }
    }

    private static func options(_ key: String, _ listener: Caller.Listener) -> HTTPServer.ServiceOptions {
        var options = HTTPServer.ServiceOptions(name: key)
        options.isReserved = listener != .public
        options.isUrgent = \.isHealthCheck
        options.waits = true
        return options
    }

    /// What answers the requests of one listener. Without trusted proxies, nothing is looked for in them.
    private func responder(_ listener: Caller.Listener, _ proxies: TrustedProxies) -> Responder {
        if proxies.ranges.isEmpty {
            return { [entrance] request, context in
                let host = context.isLocalSocket ? nil : context.remoteHost
                let caller = Caller(remoteAddress: host, listener: listener, isSecure: context.isSecure)
                return entrance.reply(to: request, from: caller)
            }
        }
        return { [entrance] request, context in
            let origin = proxies.origin(of: request.fields, from: context.remoteAddress, isSecure: context.isSecure)
            let host = origin.client.port == nil ? nil : origin.client.host
            let caller = Caller(
                remoteAddress: host, listener: listener, isSecure: origin.isSecure, isProxy: origin.isFromProxy)
            return entrance.reply(to: request, from: caller)
        }
    }
}
