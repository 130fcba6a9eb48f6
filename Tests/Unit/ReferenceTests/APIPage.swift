import Sessions

@testable import Endpoints

/// The page of the API: what `config/openapi.json` says of every call, with the scopes of the table of routes.
struct APIPage {
    /// A path with a method.
    private struct Call {
        let name: String
        let operation: OrderedJSON
        let route: Route
        var tag: String { operation["tags"]?.elements.first?.string ?? "" }

        /// The scopes of the admin keys that may make it; empty: it takes none.
        var scopes: [AdminKey.Scope] {
            switch route.handler {
            case .admin(let scope, let other, _): [scope, other].compactMap(\.self)
            case .streaming(let scope, _): [scope]
            default: []
            }
        }

        /// The end of the description of a call for admins.
        var scopeSentence: String? {
            guard !scopes.isEmpty else { return nil }
            return "Takes an admin key with the scope \(scopes.map { "`\($0.rawValue)`" }.joined(separator: " or "))."
        }
    }

    private let document: OrderedJSON
    private let calls: [Call]
    /// The statuses that every call can answer with.
    private let commonStatuses: [String]
    private var page: Markdown

    static func text() throws -> String {
        var page = APIPage(try OrderedJSON(file: "config/openapi.json"))
        return page.text()
    }

    /// The calls for admins without the scope that they take in their descriptions.
    static func callsWithoutScope() throws -> [String] {
        APIPage(try OrderedJSON(file: "config/openapi.json")).calls
            .filter { call in
                call.scopeSentence.map { paragraphs(call.operation).last?.hasSuffix($0) != true } ?? false
            }
            .map(\.name)
    }

    private init(_ document: OrderedJSON) {
        self.document = document
        let routes = Dictionary(uniqueKeysWithValues: Route.all.map { (APIDocument.name($0), $0) })
        calls = (document["paths"]?.members ?? []).flatMap { path, item in
            item.members.compactMap { method, operation in
                let name = "\(method.uppercased()) \(path)"
                return routes[name].map { Call(name: name, operation: operation, route: $0) }
            }
        }
        let statuses = calls.map { $0.operation["responses"]?.members.map(\.name) ?? [] }
        commonStatuses = (statuses.first ?? []).filter { status in statuses.allSatisfy { $0.contains(status) } }
        page = Markdown(
            title: "API", abstract: "Every call, with its parameters, members and answers.",
            source: "`config/openapi.json`, which a server gives at `GET /openapi.json`")
    }

    private mutating func text() -> String {
        for paragraph in Self.paragraphs(document["info"]) { page.paragraph(paragraph) }
        page.paragraph(
            "Every call can also answer \(Markdown.codes(commonStatuses)), which the tables below leave out.")
        page.heading(2, "Credentials")
        page.table(
            ["Name", "What it is"],
            (document["components"]?["securitySchemes"]?.members ?? []).map { name, scheme in
                [Markdown.code(name), scheme["description"]?.string ?? ""]
            })
        listener("Public listener", .public)
        listener("Admin listener", .admin)
        page.heading(2, "Errors")
        for (name, response) in document["components"]?["responses"]?.members ?? [] { error(name, response) }
        page.heading(2, "Schemas")
        for (name, schema) in document["components"]?["schemas"]?.members ?? [] where answers.contains(name) {
            describe(schema, name)
        }
        return page.text
    }
}

// Calls.
extension APIPage {
    /// The calls of one listener; those of both stand with the public one.
    private mutating func listener(_ title: String, _ place: Route.Listeners) {
        page.heading(2, title)
        let own = calls.filter { ($0.route.listeners == .admin) == (place == .admin) }
        for tag in document["tags"]?.elements ?? [] {
            let members = own.filter { $0.tag == tag["name"]?.string }
            guard let name = tag["name"]?.string, !members.isEmpty else { continue }
            page.heading(3, name)
            page.paragraph(tag["description"]?.string ?? "")
            for call in members { describe(call) }
        }
    }

    private mutating func describe(_ call: Call) {
        page.heading(4, call.name)
        let summary = call.operation["summary"]?.string ?? ""
        let title = summary + (summary.last.map { "?)".contains($0) } == true ? "" : ".")
        let paragraphs = Self.paragraphs(call.operation)
        var text = ([title] + paragraphs.prefix(1)).joined(separator: " ")
        // The line below says which admin keys the call takes.
        if let sentence = call.scopeSentence, text.hasSuffix(sentence) { text.removeLast(sentence.count) }
        page.paragraph(text)
        for paragraph in paragraphs.dropFirst() { page.paragraph(paragraph) }
        page.paragraph("Credentials: \(credentials(call)).")
        page.table(["Parameter", "In", "Value", "Meaning"], parameters(call) + bodyMembers(call))
        page.table(["Status", "Answer", "Codes"], responses(call))
    }

    /// Which credentials a call takes.
    private func credentials(_ call: Call) -> String {
        if !call.scopes.isEmpty {
            let scopes = call.scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
            return "`admin_key` with the scope \(scopes) or a wider one, or the admin socket"
        }
        let choices = call.operation["security"]?.elements.map { $0.members.map(\.name) } ?? []
        let names = choices.flatMap { $0 }.map { Markdown.code($0) }
        let body = call.operation["requestBody"] == nil ? [] : ["members of the body"]
        let ways = names + (names.isEmpty || choices.contains([]) ? body : [])
        return ways.isEmpty ? "none" : ways.joined(separator: ", or ") + scopes(call)
    }

    /// The scopes that an access token needs for a call.
    private func scopes(_ call: Call) -> String {
        let scopes = (call.operation["security"]?.elements ?? []).flatMap(\.members).flatMap(\.value.elements)
        let names = Set(scopes.compactMap(\.string)).sorted()
        return names.isEmpty ? "" : "; a token needs the scope \(Markdown.codes(names))"
    }

    private func parameters(_ call: Call) -> [[String]] {
        (call.operation["parameters"]?.elements ?? []).map(resolved).map { parameter in
            [
                Markdown.code(parameter["name"]?.string ?? ""), parameter["in"]?.string ?? "",
                form(parameter["schema"], isRequired: parameter["required"]?.scalar == "true"),
                meaning(parameter),
            ]
        }
    }

    private func bodyMembers(_ call: Call) -> [[String]] {
        guard let content = call.operation["requestBody"]?["content"]?.members.first?.value else { return [] }
        return members(of: resolved(content["schema"] ?? .object([]))).map { [$0[0], "body"] + $0.dropFirst() }
    }

    private func responses(_ call: Call) -> [[String]] {
        (call.operation["responses"]?.members ?? []).filter { !commonStatuses.contains($0.name) }.map {
            status, response in
            guard let reference = Self.referenced(response) else {
                let schemas = (response["content"]?.members ?? []).map { type, content in
                    Self.referenced(content["schema"] ?? .object([])).map { Self.link($0, "schema") }
                        ?? Markdown.code(type)
                }
                let text = [response["description"]?.string ?? ""] + schemas
                return [Markdown.code(status), text.joined(separator: " "), ""]
            }
            let codes = Self.codes(resolved(response))
            return [
                Markdown.code(status), Self.link(reference, "answer"),
                codes.count > 8 ? "[\(codes.count) codes](#\(reference.lowercased())-answer)" : Markdown.codes(codes),
            ]
        }
    }
}

// Components.
extension APIPage {
    /// The schemas that answers name, and that others name; those of requests stand with their calls.
    private var answers: Set<String> {
        let schemas = document["components"]?["schemas"]
        var names: Set<String> = []
        var rest = calls.flatMap { call in (call.operation["responses"]?.members ?? []).map(\.value) }
        rest += (document["components"]?["responses"]?.members ?? []).map(\.value)
        let bodies = calls.compactMap { $0.operation["requestBody"]?["content"]?.members.first?.value["schema"] }
        rest += bodies.flatMap { resolved($0)["properties"]?.members.map(\.value) ?? [] }
        while let value = rest.popLast() {
            if let name = value["$ref"]?.string.flatMap(Self.schemaName), names.insert(name).inserted {
                rest += [schemas?[name]].compactMap { $0 }
            }
            rest += value.members.map(\.value) + value.elements
        }
        return names
    }

    private mutating func error(_ name: String, _ response: OrderedJSON) {
        let schema = response["content"]?.members.first?.value["schema"].flatMap(Self.referenced)
        page.heading(3, "\(name) answer")
        page.paragraph(Self.sentence(response) + (schema.map { " Content: \(Self.link($0, "schema"))." } ?? ""))
        page.table(["Codes"], [[Markdown.codes(Self.codes(response))]])
    }

    private mutating func describe(_ schema: OrderedJSON, _ name: String) {
        page.heading(3, "\(name) schema")
        page.paragraph(schema["description"]?.string ?? "")
        if schema["enum"] != nil { page.table(["Values"], [[form(schema, isRequired: false)]]) }
        page.table(["Member", "Value", "Meaning"], members(of: schema))
    }

    /// A row for each member of an object.
    private func members(of schema: OrderedJSON) -> [[String]] {
        let required = schema["required"]?.elements.compactMap(\.string) ?? []
        return (schema["properties"]?.members ?? []).map { name, property in
            [Markdown.code(name), form(property, isRequired: required.contains(name)), meaning(property)]
        }
    }

    /// What a value says of itself, or else the component that it names.
    private func meaning(_ value: OrderedJSON) -> String {
        value["description"]?.string ?? resolved(value["anyOf"]?.elements.first ?? value)["description"]?.string ?? ""
    }

    /// What a schema allows, in a few words.
    private func form(_ schema: OrderedJSON?, isRequired: Bool) -> String {
        ((schema.map(form) ?? []) + (isRequired ? ["required"] : [])).joined(separator: ", ")
    }

    private func form(_ schema: OrderedJSON) -> [String] {
        if let name = Self.referenced(schema) { return [Self.link(name, "schema")] }
        for choice in ["anyOf", "oneOf"] {
            let choices = schema[choice]?.elements ?? []
            if !choices.isEmpty { return [choices.map { form($0).joined(separator: ", ") }.joined(separator: ", or ")] }
        }
        if let value = schema["const"]?.scalar { return [Markdown.code(value)] }
        if let values = schema["enum"]?.elements { return [Markdown.codes(values.compactMap(\.scalar))] }
        let types = schema["type"].map { $0.string.map { [$0] } ?? $0.elements.compactMap(\.string) } ?? []
        var words = types.isEmpty ? [] : [types.joined(separator: " or ")]
        if let items = schema["items"] { words[0] += " of \(form(items).joined(separator: ", "))" }
        words += Self.bounds(schema, "minimum", "maximum", "")
        words += Self.bounds(schema, "minLength", "maxLength", " characters")
        return words + Self.bounds(schema, "minItems", "maxItems", " items")
    }

    private static func bounds(_ schema: OrderedJSON, _ least: String, _ most: String, _ unit: String) -> [String] {
        switch (schema[least]?.scalar, schema[most]?.scalar) {
        case (let least?, let most?): ["\(least) to \(most)\(unit)"]
        case (let least?, nil): ["\(least) or more\(unit)"]
        case (nil, let most?): ["at most \(most)\(unit)"]
        case (nil, nil): []
        }
    }

    /// The value that a reference names, or the value itself.
    private func resolved(_ value: OrderedJSON) -> OrderedJSON {
        guard let reference = value["$ref"]?.string else { return value }
        let names = reference.split(separator: "/").dropFirst()
        return names.reduce(Optional(document)) { $0?[String($1)] } ?? value
    }

    /// The name of the component that a reference names.
    private static func referenced(_ value: OrderedJSON) -> String? {
        value["$ref"]?.string.flatMap { $0.split(separator: "/").last }.map(String.init)
    }

    private static func schemaName(_ reference: String) -> String? {
        reference.contains("/schemas/") ? reference.split(separator: "/").last.map(String.init) : nil
    }

    private static func link(_ name: String, _ kind: String) -> String { "[\(name)](#\(name.lowercased())-\(kind))" }

    private static func paragraphs(_ value: OrderedJSON?) -> [String] {
        (value?["description"]?.string ?? "").split(separator: "\n\n").map(String.init)
    }

    /// The text of an error before its codes, which stand in backticks behind a colon at the end.
    private static func sentence(_ response: OrderedJSON) -> String {
        let text = response["description"]?.string ?? ""
        return String(text.prefix(upTo: codeRange(text)?.lowerBound ?? text.endIndex)).trimmingSpaces
    }

    private static func codes(_ response: OrderedJSON) -> [String] {
        let text = response["description"]?.string ?? ""
        guard let range = codeRange(text) else { return [] }
        return text[range.upperBound...].matches(of: #/`([^`]+)`/#).map { String($0.1) }
    }

    private static func codeRange(_ text: String) -> Range<String.Index>? {
        text.firstRange(of: "`code`: ") ?? text.firstRange(of: "`error`: ")
    }
}

extension String {
    /// Without the blanks at the end.
    fileprivate var trimmingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
