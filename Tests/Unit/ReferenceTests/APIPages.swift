import Sessions

@testable import Endpoints

/// The pages of the API: an index, a page for each tag, the errors and the schemas. They say what the document says of every call,
/// with the scopes of the table of routes.
struct APIPages {
    struct Page {
        /// The path in the folder of references, without its ending.
        let name: String
        let text: String
    }

    /// A path with a method.
    private struct Call {
        let name: String
        let operation: OrderedJSON
        let route: Route

        /// The statuses that its row names itself.
        var ownStatuses: Set<String> {
            let (answers, errors) = (route.operation.answers, route.operation.errors)
            return Set((answers.map(\.status) + errors.map(\.status)).map { "\($0)" })
        }
    }

    private static let source = "the rows of the routes and the files of `config/openapi`"

    private let document: OrderedJSON
    private let calls: [Call]
    /// The statuses that every call can answer with.
    private let commonStatuses: [String]

    static func all() throws -> [Page] { APIPages(try APIDocumentFile.made()).all() }

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
    }

    private func all() -> [Page] {
        let components = document["components"]
        var errors = Markdown(title: "API: errors", abstract: "The answers that calls share.", source: Self.source)
        for (name, response) in components?["responses"]?.members ?? [] { describe(response, name, in: &errors) }
        var schemas = Markdown(
            title: "API: schemas", abstract: "The values in answers, and in bodies.", source: Self.source)
        for (name, schema) in components?["schemas"]?.members ?? [] where answers.contains(name) {
            describe(schema: schema, name, in: &schemas)
        }
        return [Page(name: "API", text: index())]
            + Route.Tag.allCases.map { Page(name: "API/\(Self.file($0))", text: page(of: $0)) } + [
                Page(name: "API/API-Errors", text: errors.text), Page(name: "API/API-Schemas", text: schemas.text),
            ]
    }

    /// The name of a tag's page: `API-LoginPage`.
    private static func file(_ tag: Route.Tag) -> String {
        "API-" + tag.rawValue.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private func description(_ tag: Route.Tag) -> String {
        (document["tags"]?.elements ?? []).first { $0["name"]?.string == tag.rawValue }?["description"]?.string ?? ""
    }

    private func calls(of tag: Route.Tag) -> [Call] { calls.filter { $0.route.operation.tag == tag } }

    private func index() -> String {
        var page = Markdown(
            title: "API", abstract: "Every call, on one page for each group of calls.",
            source: Self.source + ", as `config/openapi.json`, of which a server gives its part at `GET /openapi.json`")
        for paragraph in Self.paragraphs(document["info"]) { page.paragraph(paragraph) }
        page.paragraph(
            "Every call can also answer \(Markdown.codes(commonStatuses)). The tables of the calls leave these out.")
        page.heading(2, "Credentials")
        page.table(
            ["Name", "What it is"],
            (document["components"]?["securitySchemes"]?.members ?? []).map { name, scheme in
                [Markdown.code(name), scheme["description"]?.string ?? ""]
            })
        for tag in Route.Tag.allCases {
            page.heading(2, tag.rawValue)
            page.paragraph(description(tag))
            page.table(
                ["Call", "What it does"],
                calls(of: tag).map { call in
                    let link = "[\(call.name)](API/\(Self.file(tag)).md#\(Self.anchor(call.name)))"
                    return [link, call.operation["summary"]?.string ?? ""]
                })
        }
        page.heading(2, "Errors and schemas")
        page.list(["[Errors](API/API-Errors.md)", "[Schemas](API/API-Schemas.md)"])
        return page.text
    }

    /// The anchor of a heading.
    private static func anchor(_ heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
    }

    private func page(of tag: Route.Tag) -> String {
        var page = Markdown(title: "API: \(tag.rawValue)", abstract: description(tag), source: Self.source)
        // Those of both listeners stand with the public ones.
        for (title, isAdmin) in [("Public listener", false), ("Admin listener", true)] {
            let members = calls(of: tag).filter { ($0.route.listeners == .admin) == isAdmin }
            if members.isEmpty { continue }
            page.heading(2, title)
            for call in members { describe(call, in: &page) }
        }
        return page.text
    }
}

// Calls.
extension APIPages {
    private func describe(_ call: Call, in page: inout Markdown) {
        page.heading(3, call.name)
        let summary = call.operation["summary"]?.string ?? ""
        let title = summary + (summary.last.map { "?)".contains($0) } == true ? "" : ".")
        let paragraphs = Self.paragraphs(call.operation)
        var text = ([title] + paragraphs.prefix(1)).joined(separator: " ")
        // The line below says which admin keys the call takes.
        if let sentence = call.route.scopeSentence, text.hasSuffix(sentence) { text.removeLast(sentence.count) }
        page.paragraph(text)
        for paragraph in paragraphs.dropFirst() { page.paragraph(paragraph) }
        page.paragraph("Credentials: \(credentials(call)).")
        page.table(["Parameter", "In", "Value", "Meaning"], parameters(call) + bodyMembers(call))
        page.table(["Status", "Answer", "Codes"], responses(call))
    }

    /// Which credentials a call takes.
    private func credentials(_ call: Call) -> String {
        if !call.route.scopes.isEmpty {
            let scopes = call.route.scopes.map { "`\($0.rawValue)`" }.joined(separator: " or ")
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
        let left = Set(commonStatuses).subtracting(call.ownStatuses)
        return (call.operation["responses"]?.members ?? []).filter { !left.contains($0.name) }.map { status, response in
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
                codes.count > 8
                    ? "[\(codes.count) codes](API-Errors.md#\(reference.lowercased())-answer)" : Markdown.codes(codes),
            ]
        }
    }
}

// Components.
extension APIPages {
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

    private func describe(_ response: OrderedJSON, _ name: String, in page: inout Markdown) {
        let schema = response["content"]?.members.first?.value["schema"].flatMap(Self.referenced)
        page.heading(2, "\(name) answer")
        page.paragraph(Self.sentence(response) + (schema.map { " Content: \(Self.link($0, "schema"))." } ?? ""))
        page.table(["Codes"], [[Markdown.codes(Self.codes(response))]])
    }

    private func describe(schema: OrderedJSON, _ name: String, in page: inout Markdown) {
        page.heading(2, "\(name) schema")
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

    private static func link(_ name: String, _ kind: String) -> String {
        "[\(name)](API-\(kind == "answer" ? "Errors" : "Schemas").md#\(name.lowercased())-\(kind))"
    }

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
