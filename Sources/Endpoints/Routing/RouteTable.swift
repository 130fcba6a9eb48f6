internal import HTTP

/// Finds the route of a request on one listener, with one or two comparisons for most paths and a few look-ups for paths with a
/// parameter.
///
/// Paths are compared without decoding, so that an escaped letter in a fixed segment makes the path unknown. A proxy's rules
/// for a path therefore hold for the path that is found here. The table is a class, so that choosing a table copies nothing.
final class RouteTable: Sendable {
    /// The result of a look-up.
    enum Finding: Sendable {
        /// A route, and the segment that matches its `{name}`; empty without one.
        case route(Route, parameter: String)
        /// An answer that needs no handler.
        case fixed(Response)
        /// `OPTIONS`, with what the path has.
        case options(Options)
        /// No route, for a reason that the listener says in the format of its callers.
        case refused(Problem, allow: String? = nil)

        /// The route; nil for a fixed answer.
        var route: Route? {
            guard case .route(let route, _) = self else { return nil }
            return route
        }
    }

    /// What `OPTIONS` asks for. A class, so that finding one copies nothing.
    final class Options: Sendable {
        /// The methods as the value of `Allow` (RFC 9110 section 10.2.1).
        let allow: String
        private let routes: [Route]

        fileprivate init(_ routes: [Route]) {
            self.routes = routes
            var methods = Set(routes.map(\.method.rawValue)).union(["OPTIONS"])
            if methods.contains("GET") { methods.insert("HEAD") }
            allow = methods.sorted().joined(separator: ", ")
        }

        /// The pages that may read the answers of the path to that method.
        func cors(_ method: Method) -> Route.CORS {
            routes.first { $0.method == (method == .head ? .get : method) }?.cors ?? .noOrigin
        }
    }

    /// All routes of one pattern.
    private struct Resource: Sendable {
        /// An array, because comparing its few routes is faster than hashing.
        private(set) var routes: [Route] = []
        private(set) var options = Options([])

        mutating func add(_ route: Route) {
            routes.append(route)
            options = Options(routes)
        }

        /// Forward authentication accepts any method, because a proxy may use the method of the original request, and takes
        /// every 2xx for permission.
        func route(_ method: Method) -> Route? {
            routes.first { $0.method == method || $0.isForwardAuthentication }
        }
    }

    private static let wildcard = "{}"

    /// Resources by length of path, because comparing the few of one length is faster than hashing.
    private let exact: [[(path: String, resource: Resource)]]
    /// Resources by pattern, with `{}` in the position of the parameter.
    private let parameterized: [String: Resource]
    /// Path prefixes that belong, with every suffix and method, to one route.
    private let prefixes: [(prefix: String, route: Route)]
    private let allMethods: String

    init(_ routes: [Route], on listeners: Route.Listeners) {
        var everything = Resource()
        var exact: [String: Resource] = [:]
        var parameterized: [String: Resource] = [:]
        var prefixes: [(prefix: String, route: Route)] = []
        for route in routes where route.listeners == listeners || route.listeners == .both {
            everything.add(route)
            if route.pattern.hasSuffix("/*") {
                prefixes.append((String(route.pattern.dropLast()), route))
            } else if let parameter = route.pattern.split(separator: "/").first(where: { $0.hasPrefix("{") }) {
                parameterized[route.pattern.replacing(parameter, with: Self.wildcard), default: Resource()]
                    .add(route)
            } else {
                exact[route.pattern, default: Resource()].add(route)
            }
        }
        let longest = exact.keys.map(\.utf8.count).max() ?? 0
        self.exact = (0...longest).map { length in
            exact.filter { $0.key.utf8.count == length }.map { ($0.key, $0.value) }
        }
        self.parameterized = parameterized
        self.prefixes = prefixes
        allMethods = everything.options.allow
    }

    /// Finds the route of `request`, or a fixed answer.
    func find(_ request: Request) -> Finding {
        guard request.method.isKnown else { return findForwardAuthentication(request.target.path) }
        if request.target.form == .asterisk {
            return .fixed(Response(status: .noContent, fields: ["Allow": allMethods]))
        }
        if let resource = exactResource(request.target.path) { return find(request, in: resource, parameter: "") }
        if let (resource, parameter) = parameterizedResource(request) {
            return find(request, in: resource, parameter: parameter)
        }
        if let (_, route) = prefixes.first(where: { request.target.path.hasPrefix($0.prefix) }) {
            return .route(route, parameter: "")
        }
        return .refused(Problem(.notFound, code: "not_found", detail: "There is nothing at this path."))
    }

    /// Finds the route of a request with a method that this server does not have, such as `REPORT` (RFC 3253). At the routes of
    /// forward authentication the method is that of the proxied request.
    private func findForwardAuthentication(_ path: String) -> Finding {
        let route =
            exactResource(path)?.routes.first(where: \.isForwardAuthentication)
            ?? prefixes.first { path.hasPrefix($0.prefix) }?.route
        if let route, route.isForwardAuthentication { return .route(route, parameter: "") }
        return .refused(Problem(.notImplemented, code: "method_not_implemented", detail: "The method is unknown."))
    }

    private func exactResource(_ path: String) -> Resource? {
        let length = path.utf8.count
        guard length < exact.count else { return nil }
        return exact[length].first { $0.path == path }?.resource
    }

    private func find(_ request: Request, in resource: Resource, parameter: String) -> Finding {
        // HEAD runs the handler of GET, and the serializer omits the content.
        let method: Method = request.method == .head ? .get : request.method
        if let route = resource.route(method) { return .route(route, parameter: parameter) }
        if method == .options { return .options(resource.options) }
        return .refused(
            Problem(.methodNotAllowed, code: "method_not_allowed", detail: "This path does not have the method."),
            allow: resource.options.allow)
    }

    /// The resource of a path with one parameter, and the decoded parameter.
    private func parameterizedResource(_ request: Request) -> (Resource, String)? {
        let segments = request.target.path.split(separator: "/", omittingEmptySubsequences: false)
        for index in segments.indices.reversed() where index > 0 && !segments[index].isEmpty {
            var pattern = segments
            pattern[index] = Self.wildcard[...]
            guard let resource = parameterized[pattern.joined(separator: "/")] else { continue }
            // The split begins with the empty text before the first slash, which the decoded segments do not have.
            guard let decoded = request.pathSegments, decoded.indices.contains(index - 1) else { return nil }
            return (resource, decoded[index - 1])
        }
        return nil
    }
}

extension Route.Listeners: Equatable {}
