import FoundationEssentials
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A request of a row.
struct Sent: Sendable {
    var method = Method.post
    let target: String
    var content = ""
    var contentType: String? = "application/x-www-form-urlencoded"
    /// `id:secret`.
    var basic: String?
    var authorization: String?
    var fields: [(name: StaticString, value: String)] = []
    /// What stands in fields `DPoP`, each made when the row is played.
    var proofs: [SentProof] = []

    static func token(_ form: String, basic: String? = nil, authorization: String? = nil) -> Sent {
        Sent(target: "/oauth/token", content: form, basic: basic, authorization: authorization)
    }

    static func refresh(_ more: String) -> Sent { token("grant_type=refresh_token&refresh_token={refresh}" + more) }

    static func post(_ target: String, _ form: String, basic: String? = nil) -> Sent {
        Sent(target: target, content: form, basic: basic)
    }

    static func get(_ target: String, authorization: String? = nil) -> Sent {
        Sent(method: .get, target: target, contentType: nil, authorization: authorization)
    }

    static func json(_ method: Method, _ target: String, _ json: String, authorization: String? = nil) -> Sent {
        Sent(
            method: method, target: target, content: json, contentType: "application/json",
            authorization: authorization)
    }

    /// This request with that proof.
    func with(_ proof: SentProof) -> Sent {
        var sent = self
        sent.proofs.append(proof)
        return sent
    }
}

/// A proof of possession of a row: for its request and just now, unless it says otherwise.
struct SentProof: Sendable {
    /// By another key than the one of the scene.
    var isStranger = false
    /// The access token that it goes with.
    var token: String?
    /// The server's, where it has one.
    var nonce: String? = "{nonce}"
    var edit: @Sendable (inout ProofDraft) -> Void = { _ in }
}

/// A server with clients of every kind and a session for two of them.
///
/// - `mobile`: public; anna is logged in: `{access}`, `{refresh}`.
/// - `backend`: `client_secret_basic`, all grants: `{secret}`; a session: `{backend.access}`, `{backend.refresh}`; a token
///   for itself: `{own}`.
/// - `{nonce}`: what proofs have to hold, if they do; `{cure}`: what a proof is told to hold that was made by a wrong clock.
/// - `web`: `client_secret_post`: `{post}`; client credentials alone.
///
/// And after `bind(to:)`, each bound to the key of the device, with the thumbprint `{jkt}`:
/// - `mobile`: `{bound.access}`, `{bound.refresh}`; `backend`: `{bound.backend.refresh}`, `{bound.own}`.
/// - `strict`: public, takes nothing without a proof: `{strict.refresh}`.
struct Scene: Sendable {
    let server: EndpointsFixture
    private(set) var texts: [String: String]
    private var device: ProvingDevice?

    init(_ server: EndpointsFixture) async throws {
        self.server = server
        let tokens = try await server.logIn()
        let secret = try await server.makeClient(
            #"""
            {"client_id":"backend","token_endpoint_auth_method":"client_secret_basic","scope":"read write",
             "grant_types":["client_credentials","refresh_token","password"]}
            """#)
        let post = try await server.makeClient(
            #"""
            {"client_id":"web","token_endpoint_auth_method":"client_secret_post","grant_types":["client_credentials"]}
            """#)
        texts = [
            "access": tokens.access, "refresh": tokens.refresh, "user": tokens.userID, "session": tokens.sessionID,
            "secret": try #require(secret), "post": try #require(post), "issuer": EndpointsFixture.issuer,
            "audience": EndpointsFixture.audience, "password": "correct+horse",
        ]
        texts["basic"] = Data(filled("backend:{secret}").utf8).base64EncodedString()
        let session = await send(
            .token("grant_type=password&username=anna&password={password}&device_id=b", basic: "backend:{secret}"))
        texts["backend.access"] = session.string("access_token")
        texts["backend.refresh"] = session.string("refresh_token")
        let own = await send(.token("grant_type=client_credentials", basic: "backend:{secret}"))
        texts["own"] = own.string("access_token")
        for name in ["backend.access", "backend.refresh", "own"] { try #require(texts[name] != nil) }
        let (proofs, now) = (server.context.proofs, server.context.clock.now)
        texts["nonce"] = proofs.nonce(at: now) ?? ""
        texts["cure"] = proofs.nonce(curing: .nonceMissing, at: now) ?? ""
    }

    mutating func bind(to device: ProvingDevice) async throws {
        self.device = device
        texts["jkt"] = device.thumbprint
        _ = try await server.makeClient(
            #"{"client_id":"strict","dpop":"required","grant_types":["login","password","refresh_token"]}"#)
        func ask(_ form: String, basic: String? = nil) async throws -> Answer {
            let answer = await send(.token(form, basic: basic).with(SentProof()))
            #expect(answer.status == 200, "\(answer.text)")
            return answer
        }
        let login = await send(.json(.post, "/v1/login", EndpointsFixture.loginBody(device: "a")).with(SentProof()))
        let tokens = try Tokens(login)
        texts["bound.access"] = tokens.access
        texts["bound.refresh"] = tokens.refresh
        let password = "grant_type=password&username=anna&password={password}&device_id="
        texts["bound.backend.refresh"] = try await ask(password + "c", basic: "backend:{secret}").string(
            "refresh_token")
        texts["strict.refresh"] = try await ask(password + "d&client_id=strict").string("refresh_token")
        texts["bound.own"] = try await ask("grant_type=client_credentials", basic: "backend:{secret}").string(
            "access_token")
    }

    /// What stands for the names in `text`.
    subscript(_ name: String) -> String { texts[name] ?? "" }

    func filled(_ text: String) -> String {
        guard text.contains("{") else { return text }
        return texts.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    func send(_ sent: Sent) async -> Answer {
        var fields = Fields()
        if let type = sent.contentType { fields.append("Content-Type", type) }
        if let basic = sent.basic {
            fields.append("Authorization", "Basic " + Data(filled(basic).utf8).base64EncodedString())
        }
        if let authorization = sent.authorization { fields.append("Authorization", filled(authorization)) }
        for (name, value) in sent.fields { fields.append(name, filled(value)) }
        for proof in sent.proofs { fields.append("DPoP", written(proof, sent)) }
        return await server.send(
            Request(sent.method, filled(sent.target), fields: fields, body: Array(filled(sent.content).utf8)))
    }

    private func written(_ proof: SentProof, _ sent: Sent) -> String {
        let maker = proof.isStranger ? ProvingDevice() : device ?? ProvingDevice()
        let path = sent.target.prefix { $0 != "?" }
        let nonce = proof.nonce.map(filled).flatMap { $0.isEmpty ? nil : $0 }
        return maker.proof(
            server, sent.method, filled(String(path)), token: proof.token.map(filled), nonce: nonce, edit: proof.edit)
    }
}

extension Answer {
    /// What stands at that path, with steps that are parted by dots, as text: a string as it is, an array with blanks between.
    func text(at path: String) -> String? {
        Self.text(value(path.split(separator: ".").map(String.init)))
    }

    private static func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: text
        case .bool(let truth)?: "\(truth)"
        case .integer(let number)?: "\(number)"
        case .array(let elements)?: elements.compactMap(text).joined(separator: " ")
        case .object?: "{}"
        default: nil
        }
    }
}
