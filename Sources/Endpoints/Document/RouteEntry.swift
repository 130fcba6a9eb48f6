internal import JSON
internal import Sessions

/// The entry of one route in the API document: what follows from the row, what the row says, and the parts that it names.
struct RouteEntry {
    /// A row that names a part that `config/openapi` has not, or two errors with one status.
    struct Fault: Error {
        let route: String
        let reason: String
    }

    private let route: Route
    private let operation: Route.Operation
    private let parts: APIDocument.Parts

    init(_ route: Route, _ parts: APIDocument.Parts) {
        self.route = route
        self.parts = parts
        operation = route.operation
    }

    /// What stands at its path and method.
    func json() throws -> JSONValue {
        let parameters = try parameters()
        let security = security
        var entry: [String: JSONValue] = [
            "operationId": .string(operation.id),
            "tags": .array([.string(operation.tag.rawValue)]),
            "summary": .string(operation.summary),
            "description": .string(description),
            "security": .array(security),
            "responses": .object(
                try responses(
                    isGuarded: !security.isEmpty, hasQuery: parameters.contains { $0.place == "query" })),
        ]
        if !parameters.isEmpty { entry["parameters"] = .array(parameters.map(\.entry)) }
        if let body = operation.takes {
            let (isRequired, type, content) = try media(body)
            entry["requestBody"] = .object([
                "required": .bool(isRequired), "content": .object([type: content]),
            ])
        }
        return .object(entry)
    }

    /// The description, with the scopes of an admin's call at its end.
    private var description: String {
        guard let sentence = route.scopeSentence else { return operation.description }
        return operation.description.isEmpty ? sentence : "\(operation.description) \(sentence)"
    }

    /// A reference to a component.
    private static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/\(kind)/\(name)")])
    }

    private func schema(_ name: String) throws -> JSONValue {
        guard parts.schemas[name] != nil else { throw fault("no schema \(name)") }
        return Self.reference("schemas", name)
    }

    private func fault(_ reason: String) -> Fault { Fault(route: route.name, reason: reason) }
}

// What a call takes.
extension RouteEntry {
    private struct Parameter {
        let name: String
        let place: String?
        /// The reference, or the parameter itself.
        let entry: JSONValue
    }

    /// The ways to prove something, each enough alone.
    private var security: [JSONValue] {
        var schemes = operation.security ?? []
        if operation.security == nil {
            switch route.handler {
            case .admin, .streaming: schemes = [.adminKey]
            case .user, .client: schemes = [.bearer, .dpop]
            case .owner: schemes = [.bearer, .dpop, .password]
            case .immediate, .open, .openStreaming: if route.challenge == .basic { schemes = [.nothing, .basic] }
            }
        }
        return schemes.map { scheme in
            let scopes: [JSONValue] = route.demandsAccount ? [.string("account")] : []
            return switch scheme {
            case .nothing: .object([:])
            case .bearer, .dpop: .object([scheme.rawValue: .array(scopes)])
            case .basic, .password, .adminKey, .enrolment: .object([scheme.rawValue: .array([])])
            }
        }
    }

    /// Those of the path, then those of the row, with the proof of possession before other fields.
    private func parameters() throws -> [Parameter] {
        var own = try operation.parameters.map(parameter)
        var all: [Parameter] = []
        for segment in route.pattern.split(separator: "/") where segment.hasPrefix("{") || segment == "*" {
            let name = segment == "*" ? "original_path" : String(segment.dropFirst().dropLast())
            let index = own.firstIndex { $0.name == name && $0.place == "path" }
            all.append(try index.map { own.remove(at: $0) } ?? parameter(name))
        }
        let takesProof = security.contains { $0.members[Route.Scheme.dpop.rawValue] != nil }
        if takesProof, !own.contains(where: { $0.name == "DPoP" }) {
            own.insert(try parameter("DPoP"), at: own.firstIndex { $0.place == "header" } ?? own.endIndex)
        }
        if operation.answers.contains(where: \.isCacheable) { own.append(try parameter("If-None-Match")) }
        return all + own
    }

    private func parameter(_ key: String) throws -> Parameter {
        let shared = parts.parameters[key]
        guard let value = shared ?? parts.ownParameters[key], let name = value.members["name"]?.string else {
            throw fault("no parameter \(key)")
        }
        return Parameter(
            name: name, place: value.members["in"]?.string,
            entry: shared == nil ? value : Self.reference("parameters", key))
    }

    /// The content that a call takes.
    private func media(_ body: Route.Body) throws -> (isRequired: Bool, type: String, JSONValue) {
        switch body {
        case .picture: (true, "image/*", .object([:]))
        case .json(let name, let isOptional):
            (!isOptional, "application/json", .object(["schema": try schema(name)]))
        case .inlineJSON: (true, "application/json", try inlineBody())
        case .form: (true, "application/x-www-form-urlencoded", try inlineBody())
        case .optionalForm: (false, "application/x-www-form-urlencoded", try inlineBody())
        }
    }

    private func inlineBody() throws -> JSONValue {
        guard let body = parts.bodies[operation.id] else { throw fault("no body \(operation.id)") }
        return body
    }
}

// What a call answers.
extension RouteEntry {
    private func responses(isGuarded: Bool, hasQuery: Bool) throws -> [String: JSONValue] {
        var responses: [String: JSONValue] = [:]
        for error in route.sharedErrors(operation, isGuarded: isGuarded, hasQuery: hasQuery) {
            responses["\(error.status)"] = Self.reference("responses", error.rawValue)
        }
        for page in route.sharedPages(operation) { responses["\(page.status)"] = try response(page) }
        if route.answersConditions(operation) {
            let current = Route.Answer.empty("The copy that `If-None-Match` names is current.", status: 304)
            responses["304"] = try response(current)
        }
        for status in operation.omitted where responses.removeValue(forKey: "\(status)") == nil {
            throw fault("there is no \(status) to omit")
        }
        var own: [String: JSONValue] = [:]
        for error in operation.errors { own["\(error.status)"] = Self.reference("responses", error.rawValue) }
        for answer in operation.answers { own["\(answer.status)"] = try response(answer) }
        guard own.count == operation.errors.count + operation.answers.count else {
            throw fault("two answers have one status")
        }
        return responses.merging(own) { $1 }
    }

    private func response(_ answer: Route.Answer) throws -> JSONValue {
        switch answer.content {
        case .inline(let name):
            guard let value = parts.inlineAnswers[name] else { throw fault("no answer \(name)") }
            return value
        case .written(let description, let headers, let type, let name):
            var fields: [String: JSONValue] = [:]
            for header in ["X-Request-Id"] + headers { fields[header] = Self.reference("headers", header) }
            var value: [String: JSONValue] = ["description": .string(description), "headers": .object(fields)]
            if let type {
                let schema = try name.map(schema) ?? .object(["type": .string("string")])
                value["content"] = .object([type: .object(["schema": schema])])
            }
            return .object(value)
        }
    }
}

extension Route {
    /// The end of the description of a call for admins.
    var scopeSentence: String? {
        guard !scopes.isEmpty else { return nil }
        return "Takes an admin key with the scope \(scopes.map { "`\($0.rawValue)`" }.joined(separator: " or "))."
    }
}
