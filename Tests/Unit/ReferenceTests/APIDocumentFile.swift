import JSON

@testable import Endpoints

/// `config/openapi.json`: the document of the API as rows and `config/openapi` make it, in an order for readers. Members keep the
/// order that they have in the file, and components that of `config/openapi`, so that a change shows as such; a new path comes at
/// the end.
enum APIDocumentFile {
    static let path = "config/openapi.json"

    /// The order of members that no file has yet.
    private static let order = [
        "servers", "url", "operationId", "tags", "summary", "name", "in", "required", "description", "parameters",
        "requestBody",
        "responses", "headers", "content", "schema", "type", "enum", "items", "properties", "additionalProperties",
        "example", "examples", "security",
    ]

    static func made() throws -> OrderedJSON { ordered(.object(try APIDocument.whole()), like: try template()) }

    /// The file, with the components of the files of `config/openapi`.
    private static func template() throws -> OrderedJSON {
        let parts = [
            "schemas": try OrderedJSON(file: "config/openapi/schemas.json"),
            "responses": try OrderedJSON(file: "config/openapi/answers.json")["shared"],
            "parameters": try OrderedJSON(file: "config/openapi/parameters.json")["shared"],
        ]
        return .object(
            try OrderedJSON(file: path).members.map { name, value in
                guard name == "components" else { return (name: name, value: value) }
                let components = value.members.map { kind, old in
                    (name: kind, value: parts[kind].flatMap(\.self) ?? old)
                }
                return (name: name, value: .object(components))
            })
    }

    /// A value with its members in the order of a template.
    private static func ordered(_ value: JSONValue, like template: OrderedJSON?) -> OrderedJSON {
        switch value {
        case .object(let members):
            let known = (template?.members.map(\.name) ?? []) + order + members.keys.sorted()
            var seen: Set<String> = []
            return .object(
                known.filter { members[$0] != nil && seen.insert($0).inserted }.map { name in
                    (name: name, value: ordered(members[name] ?? .null, like: template?[name]))
                })
        case .array(let elements):
            let templates = template?.elements ?? []
            return .array(
                elements.enumerated().map { index, element in
                    ordered(element, like: templates.indices.contains(index) ? templates[index] : nil)
                })
        case .string(let text): return .string(text)
        case .bool(let truth): return .word("\(truth)")
        case .integer(let number): return .word("\(number)")
        case .number(let number): return .word("\(number)")
        case .null: return .word("null")
        }
    }
}
