import Foundation
import SojournClient

/// A request as the proxy saw it.
struct SeenRequest: Sendable {
    enum Kind: Hashable, Sendable {
        /// `POST /oauth/token` or `POST /v1/refresh`.
        case renewal
        /// `POST /v1/login`.
        case login
        /// `POST /v1/logout`.
        case logout
        /// A path that begins with `/api/`: the proxy stands for an API of the app.
        case api
        case other
    }

    let kind: Kind
    private let message: HTTPMessage
    /// The members of the content, from JSON or from a form.
    private let members: [String: String]

    init(_ message: HTTPMessage) {
        self.message = message
        kind =
            switch message.url.path {
            case "/oauth/token", "/v1/refresh": .renewal
            case "/v1/login": .login
            case "/v1/logout": .logout
            case let path: path.hasPrefix("/api/") ? .api : .other
            }
        if let json = JSONValue(parsing: message.body)?.members {
            members = json.mapValues { $0.text ?? $0.integer.map(String.init) ?? "" }
        } else {
            var parts = URLComponents()
            parts.percentEncodedQuery = String(decoding: message.body, as: UTF8.self)
            members = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        }
    }

    private func field(_ name: String) -> String? {
        message.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The token that is presented.
    var refreshToken: String { members["refresh_token"] ?? "" }
    /// Unix seconds.
    var sentAt: Int64? { members["sent_at"].flatMap { Int64($0) } }
    /// Whether the answer can have an ID token.
    var takesIDToken: Bool { members["id_token"] != "false" }
    var idempotencyKey: String? { field("Idempotency-Key") }
    var authorization: String? { field("Authorization") }
    var proof: String? { field("DPoP") }

    /// The key of the proof, as its JSON.
    var proofKey: JSONValue? { part(0)?["jwk"] }
    var proofNonce: String? { part(1)?.text("nonce") }

    private func part(_ index: Int) -> [String: JSONValue]? {
        guard let parts = proof?.split(separator: "."), parts.count == 3 else { return nil }
        return Base64URL.decode(String(parts[index])).flatMap { JSONValue(parsing: $0)?.members }
    }
}
