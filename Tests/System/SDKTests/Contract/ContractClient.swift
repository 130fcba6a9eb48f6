import Foundation
import SojournClient
import SojournTestKit

/// An answer, as a contract case looks at it.
struct ContractAnswer {
    let status: Int
    let fields: HTTPAnswer
    let json: [String: JSONValue]

    init(_ answer: HTTPAnswer) {
        (status, fields) = (answer.status, answer)
        json = JSONValue(parsing: answer.body)?.members ?? [:]
    }

    func text(_ name: String) -> String? { json.text(name) }
    func integer(_ name: String) -> Int64? { json.integer(name) }
    func bool(_ name: String) -> Bool? { json[name]?.bool }

    /// Status, word and `reauthenticate`, in one line.
    var summary: String {
        let word = text("reason") ?? text("code") ?? text("error")
        let help = bool("reauthenticate").map { $0 ? "log in again" : "kept" }
        return ["\(status)", word, help].compactMap(\.self).joined(separator: " ")
    }

    var refreshToken: String { text("refresh_token") ?? "" }
    var accessToken: String { text("access_token") ?? "" }
}

/// Raw calls to a server, below the SDK.
struct ContractClient {
    let server: any TestServer

    func send(
        _ method: String, _ path: String, json: [String: JSONValue]? = nil, form: [String: String]? = nil,
        bearer: String? = nil, fields: [HTTPMessageField] = []
    ) async throws -> ContractAnswer {
        var fields = fields
        var body: [UInt8] = []
        if let bearer { fields.append(HTTPMessageField("Authorization", "Bearer \(bearer)")) }
        if let json {
            fields.append(HTTPMessageField("Content-Type", "application/json"))
            body = JSONValue.object(json).bytes
        }
        if let form {
            fields.append(HTTPMessageField("Content-Type", "application/x-www-form-urlencoded"))
            let allowed = CharacterSet.alphanumerics
            body = Array(
                form.sorted { $0.key < $1.key }.map { name, value in
                    "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
                }.joined(separator: "&").utf8)
        }
        let url = server.url.appendingPathComponent(path)
        let message = HTTPMessage(method: method, url: url, fields: fields, body: body)
        return ContractAnswer(try await server.transport.send(message, within: .seconds(60)))
    }

    /// A login by password at `/v1/login`.
    func logIn(
        _ username: String, _ password: String, device: String? = "phone", scope: String? = nil, key: String? = nil
    ) async throws -> ContractAnswer {
        var members: [String: JSONValue] = ["username": .string(username), "password": .string(password)]
        members.set("scope", scope)
        if let device { members["device"] = .object(["id": .string(device)]) }
        let fields = key.map { [HTTPMessageField("Idempotency-Key", $0)] } ?? []
        return try await send("POST", "/v1/login", json: members, fields: fields)
    }

    /// A session that a backend opens.
    func open(_ username: String, device: String = "phone") async throws -> ContractAnswer {
        let data = try await server.openSession(for: username, device: device)
        return ContractAnswer(HTTPAnswer(status: 200, body: Array(data)))
    }

    /// A renewal at `/oauth/token`.
    func renew(_ token: String, key: String? = nil, more: [String: String] = [:]) async throws -> ContractAnswer {
        let form = ["grant_type": "refresh_token", "refresh_token": token, "client_id": "mobile"]
        let fields = key.map { [HTTPMessageField("Idempotency-Key", $0)] } ?? []
        return try await send("POST", "/oauth/token", form: form.merging(more) { $1 }, fields: fields)
    }
}
