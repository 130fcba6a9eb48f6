internal import HTTP
internal import Pages
internal import Sessions

/// The path in the issuer's URL, below which browsers and clients see this server: `/auth` of `https://example.org/auth`,
/// and nothing at the root of a host. A proxy in front removes it from each request, or does not.
public struct IssuerPath: Hashable, Sendable {
    /// How the path comes in requests, which the proxy in front decides.
    public enum Arrival: String, CaseIterable, Hashable, Sendable {
        /// With the path or without it.
        case either
        /// Without it: with it, a path is another one, or none.
        case removed
        /// With it: without it there are only the documents at the root of the host, and the health of the server.
        case kept
    }

    /// `/auth`, or nothing.
    public let text: String

    /// No path: a server at the root of its host.
    static let root = IssuerPath(of: "")

    /// The path of `issuer`.
    public init(of issuer: String) {
        let authority = issuer.firstRange(of: "://").map { issuer[$0.upperBound...] } ?? issuer[...]
        let path = authority.drop { $0 != "/" }
        text = String(path.hasSuffix("/") ? path.dropLast() : path)
    }

    /// The end of the names of cookies, so that two servers on one host do not overwrite each other's. Cookies with the prefix
    /// `__Host-` have the path `/` (RFC 6265bis section 4.1.3.2), which would part them otherwise.
    var cookieSuffix: String { text.isEmpty ? "" : "." + PercentEncoding.encode(String(text.dropFirst())) }

    /// The request as a proxy would have sent it that removes the path; nil if its path is not below this one.
    func stripped(_ request: Request) -> Request? {
        let path = request.target.path
        guard !text.isEmpty, path.hasPrefix(text + "/") else { return nil }
        var request = request
        request.target = RequestTarget(
            form: request.target.form, path: String(path.dropFirst(text.count)), query: request.target.query)
        return request
    }

    /// The paths of the public listener that a proxy which removes nothing cannot reach below this path, because with this path
    /// in front they are paths of other calls.
    public var ambiguousPaths: [String] {
        guard !text.isEmpty else { return [] }
        let table = RouteTable(Route.all, on: .public)
        let hidden = Route.all.filter { route in
            let sample = route.pattern.split(separator: "/").map { $0.hasPrefix("{") || $0 == "*" ? "x" : $0 }
            let finding = table.find(Request(route.method, "\(text)/\(sample.joined(separator: "/"))"))
            if case .refused = finding { return false }
            return route.listeners != .admin
        }
        return Set(hidden.map(\.pattern)).sorted()
    }

    /// The routes beside `metadataRoutes` that stay at the root of the host when requests come with the path: the documents of
    /// the host, and the health, for which a load balancer or this machine asks.
    static var rootRoutes: [Route] {
        let rest = Endpoints.rootDocuments + Endpoints.healthPaths
        return Route.all.filter { rest.contains($0.pattern) }
    }

    /// The metadata documents at the root of the host, which a client of an issuer with a path reads: the path follows the
    /// well-known one (RFC 8414 section 3.1, OpenID Shared Signals Framework 1.0 section 7.2).
    public var metadataPaths: [String] { text.isEmpty ? [] : metadataRoutes.map(\.pattern) }

    var metadataRoutes: [Route] {
        guard !text.isEmpty else { return [] }
        return [Route.metadata, .openidConfiguration, .eventStreamMetadata].map { Route($0, at: $0.pattern + text) }
    }
}

extension Endpoints {
    /// The request as the routes have it, without the path of the issuer, and its route.
    func find(_ request: Request, _ caller: Caller) -> (Request, RouteTable.Finding) {
        guard caller.listener == .public else { return (request, adminTable.find(request)) }
        if let rootTable {
            if let stripped = issuerPath.stripped(request) { return (stripped, publicTable.find(stripped)) }
            return (request, rootTable.find(request))
        }
        let finding = publicTable.find(request)
        if case .refused = finding, issuerPathArrival == .either {
            return findWithoutIssuerPath(request, caller) ?? (request, finding)
        }
        return (request, finding)
    }

    /// The request without the path of the issuer, and its route; nil if there is none, or only that of another method.
    func findWithoutIssuerPath(_ request: Request, _ caller: Caller) -> (Request, RouteTable.Finding)? {
        guard caller.listener == .public, let stripped = issuerPath.stripped(request) else { return nil }
        let finding = publicTable.find(stripped)
        if case .refused(_, nil) = finding { return nil }
        return (stripped, finding)
    }

    /// The path below which the caller sees this server: the admin listeners have none.
    func issuerPath(for caller: Caller) -> IssuerPath { caller.listener == .public ? issuerPath : .root }

    /// The URL of a path of this server, as browsers and clients see it.
    func url(_ path: PagePath) -> String { context.url(path.text) }

    /// The answer 303 that leads to a page of this server.
    func redirect(to page: PagePath) -> Response { Self.redirect(to: url(page)) }
}
