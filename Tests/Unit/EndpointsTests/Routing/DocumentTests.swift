import FoundationEssentials
import HTTP
import JOSE
import JSON
import OAuth
import Repository
import Sessions
import Testing

@testable import Endpoints

/// `config/openapi.json` says of every call what is true of it: compared with the table of routes, with what the calls say
/// that they take, and with the words that the program can answer, always in both directions. `ClientLifeTests` compare it
/// with the answers of a running server.
@Suite struct DocumentTests {
    /// The document as it lies there, or a part of it.
    private static func document() throws -> JSONValue {
        let data = try #require(FileManager.default.contents(atPath: Repository.path("config/openapi.json")))
        return try JSONDecoder().decode(JSONValue.self, from: data)
    }

    private static func calls(_ document: JSONValue) -> Set<String> {
        Set(
            document["paths"].members.flatMap { path, item in
                item.members.keys.filter { $0 != "servers" }.map { "\($0.uppercased()) \(path)" }
            })
    }

    @Test func everyRouteIsDescribed_andNothingElse() async throws {
        #expect(Self.calls(try Self.document()) == Set(Route.all.map(APIDocument.name)))
    }

    @Test("no two calls have one id, each part in `config/openapi` is used, and each shared error has its answer")
    func everyPartIsUsed() throws {
        let parts = try APIDocument.Parts()
        let operations = Route.all.map(\.operation)
        #expect(Set(operations.map(\.id)).count == operations.count)
        #expect(Set(Route.Refusal.allCases.map(\.rawValue)) == Set(parts.answers.keys))
        let bodies = operations.filter { operation in
            switch operation.takes {
            case .inlineJSON, .form, .optionalForm: true
            case .json, .picture, nil: false
            }
        }
        #expect(Set(bodies.map(\.id)) == Set(parts.bodies.keys))
        let answers = operations.flatMap(\.answers).compactMap { answer in
            if case .inline(let name) = answer.content { name } else { nil }
        }
        #expect(Set(answers) == Set(parts.inlineAnswers.keys))
        let segments = Route.all.flatMap { $0.pattern.split(separator: "/") }.filter { $0.hasPrefix("{") }
        let parameters = operations.flatMap(\.parameters) + segments.map { String($0.dropFirst().dropLast()) }
        #expect(Set(parts.ownParameters.keys).subtracting(parameters) == [])
        let document = JSONValue.object(try APIDocument.whole())
        let references = Set(document.strings(at: "$ref"))
        for kind in ["schemas", "responses", "parameters", "headers"] {
            let names: JSONValue = document["components"][kind]
            for name in names.members.keys { #expect(references.contains("#/components/\(kind)/\(name)"), "\(name)") }
        }
    }

    @Test func eachListenerTellsOfItsOwnCalls() async throws {
        try await EndpointsFixture.with { server in
            for (listener, place) in [(Caller.Listener.public, Route.Listeners.public), (.admin, .admin)] {
                let answer = await server.send(Request(.get, "/openapi.json"), on: listener)
                #expect(answer.status == 200)
                #expect(answer.field("Content-Type") == "application/json")
                let part = try JSONDecoder().decode(JSONValue.self, from: Data(answer.response.body))
                let routes = Route.all.filter { $0.listeners == place || $0.listeners == .both }
                #expect(Self.calls(part) == Set(routes.map(APIDocument.name)))
                #expect(part["openapi"].string == "3.1.1")
                #expect(answer.text.contains("/admin/") == (listener == .admin))
                #expect(answer.text.contains("AdminKey") == (listener == .admin))
                // Nothing is mentioned that is not there.
                for reference in part.strings(at: "$ref") {
                    let names = reference.split(separator: "/").map(String.init)
                    #expect(part[names[1]][names[2]][names[3]].members.isEmpty == false, "\(reference)")
                }
                let tag = try #require(answer.field("ETag"))
                let again = Request(.get, "/openapi.json", fields: ["If-None-Match": tag])
                #expect(await server.send(again, on: listener).status == 304)
            }
        }
    }

    /// What a call says of the members that it knows, when it gets one that it does not.
    private static func known(_ answer: Answer) throws -> Set<String> {
        #expect(answer.status == 400, "\(answer.text)")
        let detail = try #require(answer.string("detail"))
        let list = try #require(
            detail.split(separator: " that this call knows: ", maxSplits: 1).dropFirst().first, "\(answer.text)")
        return list == "it has none." ? [] : Set(list.dropLast().split(separator: ", ").map(String.init))
    }

    @Test func bodiesHaveTheMembersThatTheCallsKnow() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.routeCredentials()
            let document = try Self.document()
            var count = 0
            for route in Route.all {
                let path = APIDocument.name(route).split(separator: " ")[1]
                let operation: JSONValue = document["paths"][String(path)][route.method.rawValue.lowercased()]
                let content: JSONValue = operation["requestBody"]["content"]["application/json"]
                guard !content.members.isEmpty else { continue }
                count += 1
                let schema: JSONValue = document.resolved(content["schema"])
                // The document says that others are refused, and they are.
                #expect(schema["additionalProperties"].bool == false, "\(route.name)")
                let answer = await server.ask(route, #"{"zz":1}"#, tokens)
                #expect(try Self.known(answer) == Set(schema["properties"].members.keys), "\(route.name)")
                for (name, property) in schema["properties"].members {
                    let inner = document.resolved(property)
                    guard inner["additionalProperties"].bool == false else { continue }
                    var example = schema["examples"].elements.first?.members ?? [:]
                    example[name] = .object(["zz": .null])
                    let answer = await server.ask(
                        route, String(decoding: try JSONEncoder().encode(example), as: UTF8.self), tokens)
                    #expect(
                        try Self.known(answer) == Set(inner["properties"].members.keys), "\(route.name) \(name)")
                }
            }
            #expect(count > 20)
        }
    }

    /// Which members a login needs together, and which it refuses together, is said as it is.
    @Test func aLoginNeedsTheMembersThatItsSchemaNeeds() async throws {
        let schema: JSONValue = try Self.document()["components"]["schemas"]["Login"]
        try await ProviderFixture.with { world in
            let names = ["username", "password", "provider", "id_token", "nonce", "provider_refresh_token"]
            for set in 0..<(1 << names.count) {
                let chosen = names.enumerated().filter { set >> $0.offset & 1 == 1 }.map(\.element)
                let body = chosen.map { #""\#($0)":"acme""# } + [#""device":{"id":"d"}"#]
                let answer = await world.server.call(.post, "/v1/login", "{\(body.joined(separator: ","))}")
                // What is whole is a wrong password, or no good token.
                let isWhole = schema.allows(members: Set(chosen + ["device"]))
                #expect(answer.status == (isWhole ? 401 : 400), "\(chosen): \(answer.text)")
            }
        }
    }

    @Test func queriesHaveTheParametersThatTheCallsKnow() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.routeCredentials()
            let document = try Self.document()
            // Pages read their own query, and ignore what they do not know.
            for route in Route.all where route.method == .get && route.errorFormat != .page {
                let operation: JSONValue = document["paths"][String(APIDocument.name(route).split(separator: " ")[1])][
                    "get"]
                let documented: [String] = operation["parameters"].elements.map(document.resolved)
                    .filter { $0["in"].string == "query" }.compactMap(\.["name"].string)
                let detail = await server.ask(route, nil, tokens, query: "?zz=1").string("detail") ?? ""
                let parts = detail.split(separator: " that this call does not know: ")
                let known = parts.count == 2 ? parts[1].dropLast().split(separator: ", ").map(String.init) : []
                #expect(Set(known) == Set(documented), "\(route.name)")
            }
        }
    }

    /// What a number can be, a cursor can have; what no number has so many digits of is none.
    @Test(arguments: ["/admin/v1/events", "/admin/v1/revocations"])
    func aCursorOfANumberIsWhatItsCallTakes(_ path: String) async throws {
        let parameters = try Self.document()["paths"][path]["get"]["parameters"].elements
        let schema: JSONValue = try #require(parameters.first { $0["name"].string == "cursor" })["schema"]
        let pattern = try Regex(try #require(schema["pattern"].string))
        guard case .integer(let lengthMax) = schema["maxLength"] else { throw RequestProblem.unauthenticated }
        let number = String(Int64.max)
        let texts = [
            "0", "7", number, "0" + number, "00000000000000000007", "x", "-1", "7-", "7-1800000000", "7-1800000000-1",
            "\(number)-\(number)-\(number)", "7-1800000000-00000000000000000001", "1-2-3-4",
        ]
        try await EndpointsFixture.with { server in
            for text in texts {
                let status = await server.admin(.get, path + "?cursor=" + text).status
                let isAllowed = try pattern.wholeMatch(in: text) != nil && text.utf8.count <= Int(lengthMax)
                #expect(isAllowed == (status != 400), "\(text)")
            }
        }
    }

    @Test func theFormOfTheTokenEndpointIsWhatIsReadOfIt() throws {
        let operation: JSONValue = try Self.document()["paths"]["/oauth/token"]["post"]
        let names = operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]["properties"]
            .members.keys
        // What is read stands in the sources as it is.
        var read: Set<String> = []
        for file in ["TokenRequest", "ClientParameters", "TokenExchangeParameters"] {
            let path = Repository.path("Sources/OAuth/\(file).swift")
            let source = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
            for mark in ["parameters[\"", "Name = \""] {
                let names = source.split(separator: mark).dropFirst().map { $0.prefix { $0 != "\"" } }
                read.formUnion(names.map(String.init))
            }
        }
        #expect(Set(names) == read)
        let request = TokenRequest(try FormParameters(names.map { FormPair(name: $0, value: "<\($0)>") }))
        #expect(request.refreshToken == "<refresh_token>" && request.exchange.audiences == ["<audience>"])
    }

    /// Every word that a program may have to know is in the document, and no other.
    @Test func wordsAreThoseOfTheProgram() throws {
        let schemas: JSONValue = try Self.document()["components"]["schemas"]
        func words(_ schema: JSONValue) -> Set<String> { Set(schema["enum"].elements.compactMap(\.string)) }
        let reasons = Set(RefusalReason.allCases.map(\.rawValue))
        #expect(words(schemas["RefusalReason"]) == reasons)
        #expect(words(schemas["EndReason"]) == Set(EndReason.allCases.map(\.rawValue)))
        #expect(words(schemas["Event"]["properties"]["event"]) == Set(AuditEvent.Kind.allCases.map(\.rawValue)))
        #expect(words(schemas["OAuthError"]["properties"]["error"]) == Set(ErrorCode.allCases.map(\.rawValue)))
        // The grants of a client, and those of the token endpoint, which has no `login`.
        let grants = Set(Client.GrantType.allCases.map(\.rawValue))
        for name in ["Client", "NewClient", "ClientChange"] {
            let items: JSONValue = schemas[name]["properties"]["grant_types"]["items"]
            #expect(words(items) == grants, "\(name)")
        }
        let form: JSONValue = try Self.document()["paths"]["/oauth/token"]["post"]["requestBody"]["content"]
        let properties: JSONValue = form["application/x-www-form-urlencoded"]["schema"]["properties"]
        #expect(words(properties["grant_type"]) == grants.subtracting(["login"]))
        // The codes of problems stand in the sources as they are.
        let sources = Repository.path("Sources")
        var codes = reasons.union(ErrorCode.proofCodes).union(PhoneLogin.Refusal.words)
        for folder in ["Endpoints", "Sessions"] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: "\(sources)/\(folder)")
            for name in names where name.hasSuffix(".swift") {
                let data = try #require(FileManager.default.contents(atPath: "\(sources)/\(folder)/\(name)"))
                // A piece of code in a page of the console is an interpolation, and no code of a problem.
                for match in String(decoding: data, as: UTF8.self).matches(of: #/(\\\()?code: "([^"]*)"/#)
                where match.1 == nil {
                    codes.insert(String(match.2))
                }
            }
        }
        #expect(words(schemas["ProblemCode"]) == codes)
    }
}

extension ErrorCode {
    /// Those that a problem can have as well.
    fileprivate static let proofCodes = [ErrorCode.invalidDPoPProof, .useDPoPNonce].map(\.rawValue)
}

/// Looking into JSON, where what is not there is null.
extension JSONValue {
    fileprivate subscript(_ name: String) -> JSONValue { members[name] ?? .null }

    /// Whether this schema of an object allows an object with those members, as far as only that counts.
    fileprivate func allows(members names: Set<String>) -> Bool {
        let choices = self["oneOf"].elements
        return self["required"].elements.compactMap(\.string).allSatisfy(names.contains)
            && (choices.isEmpty || choices.count { $0.allows(members: names) } == 1)
            && self["dependentRequired"].members.allSatisfy { name, needed in
                !names.contains(name) || needed.elements.compactMap(\.string).allSatisfy(names.contains)
            }
    }

    /// What a reference in this document stands for, or the one beside null.
    fileprivate func resolved(_ value: JSONValue) -> JSONValue {
        if let choice = value["anyOf"].elements.first { return resolved(choice) }
        guard let reference = value["$ref"].string else { return value }
        return reference.split(separator: "/").dropFirst().reduce(self) { $0[String($1)] }
    }

    /// All strings in members of that name, at any depth.
    fileprivate func strings(at name: String) -> [String] {
        members.flatMap { ($0.key == name ? $0.value.string.map { [$0] } ?? [] : []) + $0.value.strings(at: name) }
            + elements.flatMap { $0.strings(at: name) }
    }
}
