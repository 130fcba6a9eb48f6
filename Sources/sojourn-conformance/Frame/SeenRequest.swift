import Foundation
import SojournClient

/// A request as the proxy saw it.
struct SeenRequest: Sendable {
    enum Kind: Hashable, Sendable {
        /// `POST /oauth/token` or `POST /v1/refresh`.
        case renewal
        /// `POST /oauth/token` for the tokens of a login that a phone has approved (RFC 8628).
        case collection
        /// What the phone does about the login of another device.
        case approval
        /// `POST /v1/me/presence`.
        case presence
        /// `POST /v1/login`.
        case login
        /// `POST /v1/logout`.
        case logout
        /// A path that begins with `/api/`: the proxy stands for an API of the app.
        case api
        /// The question of a browser whether it may send a request to another origin.
        case preflight
        case other
    }

    let kind: Kind
    private let message: HTTPMessage
    /// The members of the content, from JSON or from a form.
    private let members: [String: String]

    init(_ message: HTTPMessage) {
        self.message = message
        if let json = JSONValue(parsing: message.body)?.members {
            members = json.mapValues { $0.text ?? $0.integer.map(String.init) ?? "" }
        } else {
            var parts = URLComponents()
            parts.percentEncodedQuery = String(decoding: message.body, as: UTF8.self)
            members = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        }
        kind = Self.kind(of: message, grant: members["grant_type"])
    }

    private static func kind(of message: HTTPMessage, grant: String?) -> Kind {
        guard message.method != "OPTIONS" else { return .preflight }
        switch message.url.path {
        case "/oauth/token": return grant == deviceGrant ? .collection : .renewal
        case "/v1/refresh": return .renewal
        case "/v1/login": return .login
        case "/v1/logout": return .logout
        case "/v1/me/presence": return .presence
        case let path where path.hasPrefix("/v1/me/logins/") && message.method == "POST": return .approval
        case let path: return path.hasPrefix("/api/") ? .api : .other
        }
    }

    /// The grant of a device that a phone lets in.
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// The origin of the page that has sent it; nil if no browser has.
    var origin: String? { field("Origin") }
    var isOfAPI: Bool { message.url.path.hasPrefix("/api/") }

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
