import Cryptography
import HTTP
import JOSE
import JSON
import Repository
import SQLiteStore
import Testing

@testable import Endpoints
@testable import Sessions

/// RFC 9449 section 11.1: what a proof of possession brings about, it brings about once; and what brings nothing about takes no
/// memory, so that no stranger fills it.
@Suite struct DPoPReplayTests {
    @Test(arguments: ProofUse.once) func whatHadAnEffectHasNoSecond(_ use: ProofUse) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await BoundPhone(server)
            let before = server.context.proofs.remembered
            let proof = phone.proof(use)
            let first = await phone.send(use, proof)
            #expect(first.status < 300, "\(first.text)")
            for seconds in [0, 1, 60] as [Int64] {
                server.moveClock(to: seconds)
                let again = await phone.send(use, proof)
                #expect(again.string("error") ?? again.string("code") == "invalid_dpop_proof", "\(again.text)")
                #expect(again.text.contains("The proof was used before."), "\(again.text)")
            }
            #expect(server.context.proofs.remembered == before + 1)
        }
    }

    @Test(arguments: ProofUse.once) func ofManyAtOnceOneHasAnEffect(_ use: ProofUse) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await BoundPhone(server)
            let proof = phone.proof(use)
            let answers = await withTaskGroup(of: Answer.self) { group in
                for _ in 1...8 { group.addTask { await phone.send(use, proof) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status < 300 } == 1)
            #expect(answers.count { $0.text.contains("The proof was used before.") } == 7)
        }
    }

    /// The token that a first use gave out is not rotated by a second one.
    @Test func aProofRotatesOnce() async throws {
        try await EndpointsFixture.with { server in
            let changed = await server.admin(.put, "/admin/v1/settings/sessions", #"{"rotation_interval":1}"#)
            #expect(changed.status == 200)
            let phone = try await BoundPhone(server)
            let proof = phone.proof(.refresh)
            server.moveClock(to: 20)
            let child = try #require(
                await server.refresh(phone.tokens.refresh, fields: ["DPoP": proof]).string("refresh_token"))
            #expect(child != phone.tokens.refresh)
            let id = try #require(Identifier<Session>(phone.tokens.sessionID))
            let before = try await server.store.session(id)
            server.moveClock(to: 40)
            #expect(await server.refresh(child, fields: ["DPoP": proof]).status == 400)
            let repeated = await server.refresh(phone.tokens.refresh, fields: ["DPoP": proof])
            #expect(repeated.string("refresh_token") == child)
            #expect(try await server.store.session(id) == before)
            #expect(await server.refresh(child, by: phone.key).status == 200)
        }
    }

    /// One key can have many sessions; what is over is revoked already.
    @Test func aProofRevokesOneSession() async throws {
        try await EndpointsFixture.with { server in
            let key = ProvingDevice()
            let login = { (device: String) in
                let fields: Fields = ["DPoP": key.proof(server, .post, "/v1/login")]
                return try Tokens(
                    await server.call(.post, "/v1/login", EndpointsFixture.loginBody(device: device), fields: fields))
            }
            let (first, second) = (try await login("phone"), try await login("tablet"))
            let proof: Fields = ["DPoP": key.proof(server, .post, "/oauth/revoke")]
            let done = await server.form("/oauth/revoke", "client_id=mobile&token=\(first.access)", fields: proof)
            #expect(done.status == 200)
            let again = await server.form("/oauth/revoke", "client_id=mobile&token=\(second.access)", fields: proof)
            #expect(again.string("error") == "invalid_dpop_proof", "\(again.text)")
            #expect(await server.call(.get, "/v1/me", token: second.access, by: key).status == 200)
        }
    }

    /// The password is looked at before the session's row is locked: the proof is used up before that, once for the request.
    @Test func aReplayedProofGuessesNoPassword() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await BoundPhone(server, more: #","authentication_mode":"PASSWORD""#)
            let proof = phone.proof(.refresh)
            let typed = await server.refresh(
                phone.tokens.refresh, more: "&password=correct+horse", fields: ["DPoP": proof])
            #expect(typed.status == 200, "\(typed.text)")
            for password in ["wrong", "correct+horse"] {
                let again = await server.refresh(
                    phone.tokens.refresh, more: "&password=\(password)", fields: ["DPoP": proof])
                #expect(again.string("error") == "invalid_dpop_proof", "\(again.text)")
            }
            #expect(!server.log.contains { $0.contains("invalid_credentials") })
        }
    }

    /// Everything that a stranger without an account, or with copied tokens and not their key, can send: good proofs, dated ahead as
    /// far as may be, many more than are remembered.
    @Test func aStrangerTakesNoMemory() async throws {
        try await EndpointsFixture.with(proofs: DPoPPolicy(memory: 8)) { server in
            let phone = try await BoundPhone(server)
            let free = try await server.logIn(device: "free")
            let before = server.context.proofs.remembered
            for ahead in [14, 14, 14, 0, 0, 0] as [Int64] {
                for use in ProofUse.allCases {
                    for stranger in [phone.stranger(), phone.stranger(access: "x", refresh: "x", own: "x")] {
                        let answer = await stranger.send(use, stranger.proof(use, ahead: ahead))
                        #expect(answer.status >= 400, "\(use): \(answer.text)")
                        #expect(!answer.text.contains("dpop"), "\(use): \(answer.text)")
                    }
                }
                // A session without a key shows nothing by a proof.
                let own = ProvingDevice().proof(server, .post, "/oauth/token") {
                    $0.claims["iat"] = "\(EndpointsFixture.start + ahead)"
                }
                #expect(await server.refresh(free.refresh, fields: ["DPoP": own]).status == 200)
            }
            #expect(server.context.proofs.remembered == before)
            for ahead in [13, 0, -50] as [Int64] {
                #expect(await phone.send(.refresh, phone.proof(.refresh, ahead: ahead)).status == 200)
            }
        }
    }

    /// A proof with a nonce is good for as long as that, and its clock, which the server ignores, gives it no second life.
    @Test(arguments: [DPoPPolicy.NonceRequirement.off, .required], [245, 100, 0, -3600] as [Int64])
    func aProofWithANonceIsTakenOnce(_ demand: DPoPPolicy.NonceRequirement, _ ahead: Int64) async throws {
        try await EndpointsFixture.with(proofs: DPoPPolicy(nonce: demand)) { server in
            let phone = try await BoundPhone(server)
            let proof = phone.proof(.profile, ahead: ahead, hasNonce: true)
            #expect(await phone.send(.profile, proof).status == 200)
            for seconds in stride(from: Int64(0), through: 320, by: 5) {
                server.moveClock(to: seconds)
                #expect(await phone.send(.profile, proof).status == 401, "after \(seconds) s")
            }
            #expect(server.context.proofs.remembered <= 3)
            #expect(await phone.send(.refresh, phone.proof(.refresh)).status == 200)
        }
    }

    /// Phones that use more proofs than are remembered: a proof with a new nonce is served, and nothing passes twice.
    @Test(arguments: [true, false]) func theMemoryHasABound(_ hasNonce: Bool) async throws {
        // `ReplayCacheTests` shows the bound over a longer time, without requests.
        let memory = Lane.rounds(push: 16, full: 64)
        try await EndpointsFixture.with(proofs: DPoPPolicy(memory: memory)) { server in
            let phone = try await BoundPhone(server)
            var proofs: [String] = []
            for second in 0..<Int64(Lane.rounds(push: 24, full: 150)) {
                server.moveClock(to: second)
                for _ in 1...(hasNonce ? 1 : 3) {
                    proofs.append(phone.proof(.profile, ahead: hasNonce ? 1000 : 0, hasNonce: hasNonce))
                    #expect(await phone.send(.profile, proofs[proofs.count - 1]).status == 200)
                }
                #expect(server.context.proofs.remembered <= memory + 2)
            }
            for proof in proofs { #expect(await phone.send(.profile, proof).status == 401) }
        }
    }
}

/// What a proof can bring about.
enum ProofUse: CaseIterable {
    case refresh, jsonRefresh, resumption, login, password, clientToken, profile, verify, ownVerify, logout

    /// What is refused when it is repeated. `RepeatedRequestTests` has the others.
    static let once = allCases.filter { $0 != .refresh && $0 != .jsonRefresh }

    /// The method and the path.
    var occasion: (HTTP.Method, String) {
        switch self {
        case .refresh, .resumption, .password, .clientToken: (.post, "/oauth/token")
        case .jsonRefresh: (.post, "/v1/refresh")
        case .login: (.post, "/v1/login")
        case .profile: (.get, "/v1/me")
        case .verify, .ownVerify: (.get, "/v1/verify")
        case .logout: (.post, "/v1/logout")
        }
    }

}

/// anna's phone with a session that is bound to its key, and can be resumed by another one; and the same without the keys.
struct BoundPhone: Sendable {
    let server: EndpointsFixture
    private(set) var key = ProvingDevice()
    private(set) var deviceKey = ProvingDevice(.eddsa)
    let tokens: Tokens
    private var access: String
    private var refresh: String
    /// The token of a client for itself.
    private var own = ""
    private var basic: String
    private var password = "correct horse"

    init(_ server: EndpointsFixture, more: String = "") async throws {
        self.server = server
        let grants = #""grant_types":["refresh_token","login","\#(GuardedPhone.jwtBearer)"]"#
        _ = await server.admin(.patch, "/admin/v1/clients/mobile", "{\(grants)}")
        let secret = try await server.makeClient(
            #"""
            {"client_id":"backend","token_endpoint_auth_method":"client_secret_basic",
             "grant_types":["client_credentials","refresh_token","password"]}
            """#)
        basic = "backend:\(secret ?? "")"
        let body = EndpointsFixture.loginBody().dropLast() + #","device_key":\#(deviceKey.jwk)\#(more)}"#
        let nonce = server.context.proofs.nonce(at: server.context.clock.now)
        tokens = try Tokens(
            await server.call(
                .post, "/v1/login", String(body),
                fields: ["DPoP": key.proof(server, .post, "/v1/login", nonce: nonce)]))
        (access, refresh) = (tokens.access, tokens.refresh)
        own = try #require(await send(.clientToken, proof(.clientToken)).string("access_token"))
    }

    /// The token that stands beside the proof, if one does.
    private func access(_ use: ProofUse) -> String? {
        switch use {
        case .profile, .verify: access
        case .ownVerify: own
        default: nil
        }
    }

    /// A thief with copies of the tokens, or those, and no key or password.
    func stranger(access: String? = nil, refresh: String? = nil, own: String? = nil) -> BoundPhone {
        var stranger = self
        (stranger.key, stranger.deviceKey) = (ProvingDevice(), ProvingDevice(.eddsa))
        stranger.access = access ?? self.access
        stranger.refresh = refresh ?? self.refresh
        stranger.own = own ?? self.own
        (stranger.basic, stranger.password) = ("backend:wrong", "wrong")
        return stranger
    }

    /// A proof made now, by a clock that is so many seconds ahead.
    func proof(_ use: ProofUse, ahead: Int64 = 0, hasNonce: Bool? = nil) -> String {
        let now = server.context.clock.now
        let proofs = server.context.proofs
        let isCured = hasNonce ?? (proofs.policy.nonce == .required || !(-60...15).contains(ahead))
        return key.proof(
            server, use.occasion.0, use.occasion.1, token: access(use),
            nonce: isCured ? proofs.nonce(curing: .nonceMissing, at: now) : nil
        ) { $0.claims["iat"] = "\(now.secondsSinceEpoch + ahead)" }
    }

    /// A request that is new but for its proof.
    func send(_ use: ProofUse, _ proof: String) async -> Answer {
        var fields: Fields = ["DPoP": proof]
        let (method, path) = use.occasion
        switch use {
        case .refresh: return await server.refresh(refresh, fields: fields)
        case .jsonRefresh, .logout:
            return await server.call(method, path, #"{"refresh_token":"\#(refresh)"}"#, fields: fields)
        case .resumption:
            let assertion = deviceKey.assertion(server, tokens)
            return await server.form(
                path, "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion=\(assertion)", fields: fields)
        case .login:
            let body = EndpointsFixture.loginBody(device: "new").replacing("correct horse", with: password)
            return await server.call(method, path, body, fields: fields)
        case .password:
            let form = "grant_type=password&username=anna&device_id=b&password=\(password.replacing(" ", with: "+"))"
            return await server.form(path, form, basic: basic, fields: fields)
        case .clientToken:
            return await server.form(path, "grant_type=client_credentials", basic: basic, fields: fields)
        case .profile, .verify, .ownVerify:
            fields.append("Authorization", "DPoP \(access(use) ?? "")")
            return await server.call(method, path, fields: fields)
        }
    }
}
