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

/// The parts of `config/openapi.json` (OpenAPI 3.1) for one listener. The table of routes decides what belongs to a listener,
/// so that the public document shows nothing of the admin calls.
enum APIDocument {
    /// The document of one listener, without white space and without unused components.
    static func part(for listener: Route.Listeners) throws -> [UInt8] {
        let bytes = UnsafeBufferPointer(start: COpenAPI_document(), count: COpenAPI_length())
        var document = try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes))
        let routes = Set(Route.all.filter { $0.listeners == listener || $0.listeners == .both }.map(name))
        var paths: [String: JSONValue] = [:]
        for (path, item) in members(document["paths"]) {
            let operations = members(item).filter { routes.contains("\($0.key.uppercased()) \(path)") }
            if !operations.isEmpty { paths[path] = .object(operations) }
        }
        document["paths"] = .object(paths)
        document["servers"] = .array([.object(["url": .string("/")])])
        document["components"] = .object(components(members(document["components"]), of: paths))
        let tags = strings(in: .object(paths), at: "tags")
        if case .array(let all)? = document["tags"] {
            document["tags"] = .array(all.filter { members($0)["name"]?.string.map(tags.contains) ?? false })
        }
        return try JSONAnswer.encode(document)
    }

    /// The name of a route, with method and path as in the document, where a path cannot contain `*`.
    static func name(_ route: Route) -> String { route.name.replacing("*", with: "{original_path}") }

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
                    let component = members(all[names[2]])[names[3]]
                else { continue }
                kept[names[2], default: [:]][names[3]] = component
                found.append(component)
            }
        }
        var part = kept.mapValues(JSONValue.object)
        let schemes = schemes(in: paths)
        part["securitySchemes"] = .object(members(all["securitySchemes"]).filter { schemes.contains($0.key) })
        return part
    }

    /// The security schemes of the calls.
    private static func schemes(in paths: [String: JSONValue]) -> Set<String> {
        var names: Set<String> = []
        for item in paths.values {
            for operation in members(item).values {
                guard case .array(let choices)? = members(operation)["security"] else { continue }
                for choice in choices { names.formUnion(members(choice).keys) }
            }
        }
        return names
    }

    private static func members(_ value: JSONValue?) -> [String: JSONValue] {
        if case .object(let members)? = value { members } else { [:] }
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
