internal import HTTP

/// Finds the route of a request on one listener: a comparison or two for most, a few look-ups for paths with a parameter.
///
/// Paths are compared as they were sent. An escaped letter in a fixed segment makes it an unknown path, so that what a
/// proxy in front has let pass is what is found here. A class, so that choosing one copies nothing.
final class RouteTable: Sendable {
    /// What a request has met.
    enum Finding: Sendable {
        /// A route, and what stands in the place of its `{name}`; empty where there is none.
        case route(Route, parameter: String)
        /// No handler is needed for the answer.
        case fixed(Response)

        /// The route, if there is one.
        var route: Route? {
            guard case .route(let route, _) = self else { return nil }
            return route
        }
    }

    /// All routes of one pattern.
    private struct Resource: Sendable {
        /// A few: looking at each is faster than hashing.
        private(set) var routes: [Route] = []

        mutating func add(_ route: Route) { routes.append(route) }

        /// Whatever the method: a proxy that asks with its client's one takes every 2xx for leave.
        func route(_ method: Method) -> Route? {
            routes.first { $0.method == method || $0.isForwardAuthentication }
        }

        /// The methods, as `Allow` lists them (RFC 9110 section 10.2.1).
        var allow: String {
            var methods = Set(routes.map(\.method.rawValue)).union(["OPTIONS"])
            if methods.contains("GET") { methods.insert("HEAD") }
            return methods.sorted().joined(separator: ", ")
        }
    }

    private static let wildcard = "{}"

    /// By the length of the path: comparing with the few of one length is faster than hashing.
    private let exact: [[(path: String, resource: Resource)]]
    /// By pattern with `{}` in the place of the parameter.
    private let parameterized: [String: Resource]
    /// Path prefixes under which every path and every method is one route's.
    private let prefixes: [(prefix: String, route: Route)]
    private let allMethods: String

    init(_ routes: [Route], on place: Route.Place) {
        var everything = Resource()
        var exact: [String: Resource] = [:]
        var parameterized: [String: Resource] = [:]
        var prefixes: [(prefix: String, route: Route)] = []
        for route in routes where route.place == place || route.place == .both {
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
        allMethods = everything.allow
    }

    /// What `request` meets.
    func find(_ request: Request) -> Finding {
        guard request.method.isKnown else {
            return .fixed(
                Problem(.notImplemented, code: "method_not_implemented", detail: "The method is unknown.").response)
        }
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
        return .fixed(Problem(.notFound, code: "not_found", detail: "There is nothing at this path.").response)
    }

    private func exactResource(_ path: String) -> Resource? {
        let length = path.utf8.count
        guard length < exact.count else { return nil }
        return exact[length].first { $0.path == path }?.resource
    }

    private func find(_ request: Request, in resource: Resource, parameter: String) -> Finding {
        // The answer to HEAD is that to GET; the serializer leaves its content out.
        let method: Method = request.method == .head ? .get : request.method
        if let route = resource.route(method) { return .route(route, parameter: parameter) }
        let allow = resource.allow
        if method == .options { return .fixed(Response(status: .noContent, fields: ["Allow": allow])) }
        var response = Problem(
            .methodNotAllowed, code: "method_not_allowed", detail: "This path does not have the method."
        ).response
        response.fields.append("Allow", allow)
        return .fixed(response)
    }

    /// The resource for a path with one variable segment, and that segment, decoded.
    private func parameterizedResource(_ request: Request) -> (Resource, String)? {
        let segments = request.target.path.split(separator: "/", omittingEmptySubsequences: false)
        for index in segments.indices.reversed() where index > 0 && !segments[index].isEmpty {
            var pattern = segments
            pattern[index] = Self.wildcard[...]
            guard let resource = parameterized[pattern.joined(separator: "/")] else { continue }
            // The first segment of the split is what stands before the first slash: nothing.
            guard let decoded = request.pathSegments, decoded.indices.contains(index - 1) else { return nil }
            return (resource, decoded[index - 1])
        }
        return nil
    }
}

extension Route.Place: Equatable {}
