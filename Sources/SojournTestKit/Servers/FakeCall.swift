import Foundation
import SojournClient

/// A request to `FakeServer`, read as far as the fake looks at it.
struct FakeCall {
    var method = ""
    var path = ""
    /// The parameters of a form, or the texts and truth values of a JSON object.
    var members: [String: JSONValue] = [:]
    /// The scheme and the token of `Authorization`.
    var authorization: (scheme: String, token: String)?
    /// The key in the header of the proof (RFC 9449 section 4.2).
    var provenKey: String?
    var idempotencyKey: String?

    /// No request.
    static let none = FakeCall()

    private init() {}

    init(_ request: HTTPMessage) {
        func field(_ name: String) -> String? { request.fields.first { $0.name.lowercased() == name }?.value }
        method = request.method
        path = request.url.path
        for item in URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? [] {
            members[item.name] = .string(item.value ?? "")
        }
        if field("content-type")?.hasPrefix("application/x-www-form-urlencoded") ?? false {
            for pair in String(decoding: request.body, as: UTF8.self).split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.plain)
                if parts.count == 2 { members[parts[0]] = .string(parts[1]) }
            }
        } else if !request.body.isEmpty {
            members.merge(JSONValue(parsing: request.body)?.members ?? [:]) { $1 }
        }
        if let words = field("authorization")?.split(separator: " ", maxSplits: 1), words.count == 2 {
            authorization = (words[0].lowercased(), String(words[1]))
        }
        idempotencyKey = field("idempotency-key")
        provenKey = field("dpop").flatMap { Self.json($0, part: 0)?["jwk"]?.members.flatMap(Self.key) }
    }

    func text(_ name: String) -> String? { members.text(name) }

    /// The key in a member: a JWK, which a form has as text.
    func key(_ name: String) -> String? {
        let jwk = members[name]?.members ?? text(name).flatMap { JSONValue(parsing: Array($0.utf8))?.members }
        return jwk.flatMap(Self.key)
    }

    /// A key in an unambiguous form.
    static func key(_ jwk: [String: JSONValue]) -> String? {
        jwk.text("x").map { "\(jwk.text("kty") ?? "") \($0) \(jwk.text("y") ?? "")" }
    }

    /// The header (0) or the claims (1) of a JWT.
    static func json(_ token: String, part: Int) -> [String: JSONValue]? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[part].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).flatMap { JSONValue(parsing: Array($0))?.members }
    }

    private static func plain(_ text: Substring) -> String {
        String(text).replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? String(text)
    }
}

extension HTTPAnswer {
    static func json(_ status: Int, _ members: [String: JSONValue], type: String = "application/json") -> HTTPAnswer {
        HTTPAnswer(
            status: status,
            fields: [HTTPMessageField("Content-Type", type), HTTPMessageField("Cache-Control", "no-store")],
            body: JSONValue.object(members).bytes)
    }

    /// A problem (RFC 9457).
    static func problem(
        _ status: Int, _ code: String, reauthenticate: Bool? = nil, more: [String: JSONValue] = [:]
    ) -> HTTPAnswer {
        var members: [String: JSONValue] = [
            "type": .string("about:blank"), "title": .string("\(status)"), "status": .integer(Int64(status)),
            "detail": .string("A fake answer."), "code": .string(code),
        ]
        if let reauthenticate { members["reauthenticate"] = .bool(reauthenticate) }
        members.merge(more) { $1 }
        return json(status, members, type: "application/problem+json")
    }

    /// The refusal of an access token without the scope `account` (RFC 6750 section 3.1).
    static var insufficientScope: HTTPAnswer {
        var answer = problem(403, "insufficient_scope")
        answer.fields.append(
            HTTPMessageField(
                "WWW-Authenticate", #"Bearer realm="sojourn", error="insufficient_scope", scope="account""#))
        return answer
    }

    /// An error of OAuth (RFC 6749 section 5.2), with the reason beside it.
    static func oauth(_ status: Int, _ error: String, reason: String? = nil, reauthenticate: Bool? = nil) -> HTTPAnswer
    {
        var members: [String: JSONValue] = [
            "error": .string(error), "error_description": .string("A fake answer."),
        ]
        members.set("reason", reason)
        if let reauthenticate { members["reauthenticate"] = .bool(reauthenticate) }
        return json(status, members)
    }
}
