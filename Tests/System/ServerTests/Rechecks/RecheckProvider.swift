import Cryptography
import FoundationEssentials
import HTTPClient
import HostileServer
import JOSE
import JSON
import Locks
import Sessions
@testable import Federation

/// An identity provider on a real socket, with a token endpoint that does what a test says.
final class RecheckProvider: Sendable {
    /// What the token endpoint is asked, as it came.
    struct Question: Sendable {
        let head: String
        let form: [String: String]
        var refreshToken: String { form["refresh_token"] ?? "" }
    }

    typealias Answer = @Sendable (RecheckProvider, Question) -> [HostileServer.Step]

    let key = SigningKey.generate(.es256)
    private let clock: WallClock
    private let answer: Locked<Answer>
    private let asked = Locked<[Question]>([])
    private let hidesDocument = Locked(false)
    private let origin: Locked<String>
    private let server: Locked<HostileServer?> = Locked(nil)

    init(_ clock: WallClock) {
        self.clock = clock
        answer = Locked { provider, _ in provider.confirm() }
        origin = Locked("")
        let server = HostileServer { [weak self] request in self?.serve(request) ?? [] }
        origin.withLock { $0 = server.origin }
        self.server.withLock { $0 = server }
    }

    var issuer: String { origin.withLock { $0 } }
    /// Every question to the token endpoint.
    var questions: [Question] { asked.withLock { $0 } }
    /// With which tokens it was asked.
    var presented: [String] { questions.map(\.refreshToken) }

    func stop() { server.withLock { $0 }?.stop() }

    /// Has the token endpoint do this from now on.
    func now(_ behaviour: @escaping Answer) { answer.withLock { $0 = behaviour } }

    /// Whether the token endpoint is hidden from callers that have not found it before.
    func hideDocument(_ hides: Bool) { hidesDocument.withLock { $0 = hides } }

    private func serve(_ request: String) -> [HostileServer.Step] {
        if request.hasPrefix("GET /keys") {
            let set = JWKSet([JWK(publishing: key.publicKey, kid: "k1")])
            return Self.json((try? JSONEncoder().encode(set)).map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
        guard request.hasPrefix("POST /token") else {
            if hidesDocument.withLock({ $0 }) { return Self.error("server_error", status: "503 Later") }
            let base = issuer
            return Self.json(
                #"{"issuer":"\#(base)","jwks_uri":"\#(base)/keys","token_endpoint":"\#(base)/token"}"#)
        }
        let parts = request.split(separator: "\r\n\r\n", maxSplits: 1)
        let pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&").map {
            $0.split(separator: "=", maxSplits: 1)
        }
        let form = Dictionary(
            pairs.map { (String($0[0]), Self.decoded($0.count > 1 ? $0[1] : "")) }
        ) { first, _ in first }
        let question = Question(head: String(parts[0]), form: form)
        asked.withLock { $0.append(question) }
        let behaviour = answer.withLock { $0 }
        return behaviour(self, question)
    }

    /// A value of a form, with `%` and two digits for what is not plain.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An ID token, with those members over the usual ones.
    func idToken(_ more: [String: JSONValue] = [:], key: SigningKey? = nil) -> String {
        let now = clock.now.secondsSinceEpoch
        let claims: [String: JSONValue] = [
            "iss": .string(issuer), "aud": .string("app"), "sub": .string("u1"), "iat": .integer(now),
            "exp": .integer(now + 300), "jti": .string(Hex.encode(RandomSource.system.bytes(8))),
        ].merging(more) { $1 }
        return (try? JWT.sign(claims: claims, typ: "JWT", key: key ?? self.key, kid: "k1")) ?? ""
    }

    /// What a good provider answers.
    func confirm(newToken: String? = nil, idToken: String? = nil) -> [HostileServer.Step] {
        let rotated = newToken.map { #","refresh_token":"\#($0)""# } ?? ""
        return Self.json(
            #"{"access_token":"at","token_type":"Bearer","expires_in":300,"id_token":"\#(idToken ?? self.idToken())"\#(rotated)}"#
        )
    }

    /// An error as RFC 6749 section 5.2 has it.
    static func error(_ code: String, status: String = "400 Bad Request") -> [HostileServer.Step] {
        json(#"{"error":"\#(code)"}"#, status: status)
    }

    static func json(_ text: String, status: String = "200 OK") -> [HostileServer.Step] {
        [
            .say(
                "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
            )
        ]
    }
}
