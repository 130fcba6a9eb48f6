internal import COpenAPI
internal import FoundationEssentials
internal import HTTP
internal import JSON

extension Endpoints {
    /// `GET /openapi.json`: describes the calls of the listener that received the request.
    func document(_ call: Call) throws -> Response {
        try (call.caller.listener == .public ? Self.publicDocument : Self.adminDocument).get()
    }

    // Each document is made at its first request.
    private static let publicDocument = Result { cacheable(try APIDocument.part(for: .public)) }
    private static let adminDocument = Result { cacheable(try APIDocument.part(for: .admin)) }
}

/// The API document (OpenAPI 3.1). The rows of the routes say what each call is, and `config/openapi` has what no row says:
/// schemas, parameters, shared answers, bodies. `config/openapi.json` is the whole document, as a test makes it.
enum APIDocument {
    /// What no row says, from the files of `config/openapi`.
    struct Parts {
        /// The members of the document beside `paths`; its components lack what the files below have.
        let document: [String: JSONValue]
        /// The `servers` of a path that only the admin listener has.
        let adminServers: JSONValue
        let schemas: [String: JSONValue]
        let parameters: [String: JSONValue]
        /// Parameters that stand with the calls, by the names that rows use.
        let ownParameters: [String: JSONValue]
        let answers: [String: JSONValue]
        /// Answers that stand with the calls, by the names that rows use.
        let inlineAnswers: [String: JSONValue]
        /// The content of requests by operation id.
        let bodies: [String: JSONValue]

        init() throws {
            let head = try Self.read(COpenAPI_document())
            let parameters = try Self.read(COpenAPI_parameters())
            let answers = try Self.read(COpenAPI_answers())
            document = head["document"]?.members ?? [:]
            adminServers = head["admin_servers"] ?? .null
            schemas = try Self.read(COpenAPI_schemas())
            self.parameters = parameters["shared"]?.members ?? [:]
            ownParameters = parameters["own"]?.members ?? [:]
            self.answers = answers["shared"]?.members ?? [:]
            inlineAnswers = answers["inline"]?.members ?? [:]
            bodies = try Self.read(COpenAPI_bodies())
        }

        private static func read(_ file: COpenAPIFile) throws -> [String: JSONValue] {
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.length)
            return try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes))
        }
    }

    /// The document of both listeners.
    static func whole() throws -> [String: JSONValue] {
        let parts = try Parts()
        var paths: [String: [String: JSONValue]] = [:]
        for route in Route.all {
            paths[path(route), default: [:]][route.method.rawValue.lowercased()] = try RouteEntry(route, parts).json()
            if route.listeners == .admin { paths[path(route)]?["servers"] = parts.adminServers }
        }
        var components = parts.document["components"]?.members ?? [:]
        components["schemas"] = .object(parts.schemas)
        components["parameters"] = .object(parts.parameters)
        components["responses"] = .object(parts.answers)
        var document = parts.document
        document["paths"] = .object(paths.mapValues(JSONValue.object))
        document["components"] = .object(components)
        return document
    }

    /// The document of one listener, without white space and without unused components. The table of routes decides what
    /// belongs to a listener, so that the public document shows nothing of the admin calls.
    static func part(for listener: Route.Listeners) throws -> [UInt8] {
        var document = try whole()
        let routes = Set(Route.all.filter { $0.listeners == listener || $0.listeners == .both }.map(name))
        var paths: [String: JSONValue] = [:]
        for (path, item) in document["paths"]?.members ?? [:] {
            let operations = item.members.filter { routes.contains("\($0.key.uppercased()) \(path)") }
            if !operations.isEmpty { paths[path] = .object(operations) }
        }
        document["paths"] = .object(paths)
        document["servers"] = .array([.object(["url": .string("/")])])
        document["components"] = .object(components(document["components"]?.members ?? [:], of: paths))
        let tags = strings(in: .object(paths), at: "tags")
        if case .array(let all)? = document["tags"] {
            document["tags"] = .array(all.filter { $0.members["name"]?.string.map(tags.contains) ?? false })
        }
        return try JSONAnswer.encode(document)
    }

    /// The path of a route in the document, where it cannot contain `*`.
    private static func path(_ route: Route) -> String { route.pattern.replacing("*", with: "{original_path}") }

    /// The name of a route, with method and path as in the document.
    static func name(_ route: Route) -> String { "\(route.method.rawValue) \(path(route))" }

    /// The components that `paths` refers to, directly or through other components.
    private static func components(
        _ all: [String: JSONValue], of paths: [String: JSONValue]
    ) -> [String: JSONValue] {
        var kept: [String: [String: JSONValue]] = [:]
        var found: [JSONValue] = [.object(paths)]
        while let value = found.popLast() {
            for reference in strings(in: value, at: "$ref") {
                let names = reference.split(separator: "/").map(String.init)
                guard names.count == 4, kept[names[2]]?[names[3]] == nil,
                    let component = all[names[2]]?.members[names[3]]
                else { continue }
                kept[names[2], default: [:]][names[3]] = component
                found.append(component)
            }
        }
        var part = kept.mapValues(JSONValue.object)
        let schemes = schemes(in: paths)
        part["securitySchemes"] = .object(
            (all["securitySchemes"]?.members ?? [:]).filter { schemes.contains($0.key) })
        return part
    }

    /// The security schemes of the calls.
    private static func schemes(in paths: [String: JSONValue]) -> Set<String> {
        var names: Set<String> = []
        for item in paths.values {
            for operation in item.members.values {
                guard case .array(let choices)? = operation.members["security"] else { continue }
                for choice in choices { names.formUnion(choice.members.keys) }
            }
        }
        return names
    }

    /// All strings in members called `name`, at any depth.
    private static func strings(in value: JSONValue, at name: String) -> Set<String> {
        switch value {
        case .object(let members):
            members.reduce(into: []) { found, member in
                if member.key == name { found.formUnion(texts(member.value)) }
                found.formUnion(strings(in: member.value, at: name))
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(strings(in: $1, at: name)) }
        default: []
        }
    }

    private static func texts(_ value: JSONValue) -> [String] {
        if case .array(let elements) = value { elements.compactMap(\.string) } else { value.string.map { [$0] } ?? [] }
    }
}

extension JSONValue {
    /// The members of an object; none for any other value.
    var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }
}

extension Route {
    static let document = Route(
        .get, "/openapi.json", on: .both, cors: .everyOrigin, .open { endpoints, call in try endpoints.document(call) },
        Operation(
            "openapi", .operation, "This document",
            "OpenAPI 3.1, with the calls of the listener that is asked.",
            parameters: ["If-None-Match"], answers: [.inline(200, "Document")]))
}
