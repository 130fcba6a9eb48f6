import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// An authenticator app with the seed that the server gave out.
struct Authenticator: Sendable {
    let id: String
    let seed: [UInt8]
    let server: EndpointsFixture

    init(_ enrolment: Answer, _ server: EndpointsFixture) throws {
        id = try #require(enrolment.string("id"))
        let secret = try #require(enrolment.string("secret"))
        seed = try #require(Base32.decode(secret))
        self.server = server
        server.keepSecret(Base32.encode(seed))
    }

    /// The code that the app shows so many steps from now.
    func code(_ offset: Int64 = 0) -> String {
        TOTP.own.code(seed: seed, step: TOTP.own.step(at: server.context.clock.now) + offset)
    }

    /// A code that is wrong now, and was not right lately.
    var wrongCode: String {
        let near = Set((-30...30).map { code($0) })
        return ["000000", "111111", "222222"].first { !near.contains($0) } ?? "333333"
    }
}

extension EndpointsFixture {
    /// Fails the test if the log has that text at its end.
    func keepSecret(_ text: String) { environment.secrets.withLock { _ = $0.insert(text) } }

    /// A user with a session in which an authenticator was added and confirmed, and the recovery codes.
    func enrolled(device: String = "phone-1") async throws -> (Tokens, Authenticator, codes: [String]) {
        let changed = await admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#)
        #expect(changed.status == 200)
        let tokens = try await logIn(device: device)
        let authenticator = try Authenticator(await call(.post, "/v1/me/totp", "{}", bearer: tokens.access), self)
        let confirmed = await call(
            .post, "/v1/me/totp/\(authenticator.id)/confirm", #"{"code":"\#(authenticator.code())"}"#,
            bearer: tokens.access)
        #expect(confirmed.status == 200)
        let codes = try #require(confirmed.strings("recovery_codes"))
        for code in codes { keepSecret(code) }
        return (tokens, authenticator, codes)
    }

    /// A login by password.
    func logInStep(device: String = "phone-2", _ more: String = "", fields: Fields = Fields()) async -> Answer {
        await call(
            .post, "/v1/login",
            #"{"username":"anna","password":"\#(Self.password)","device":{"id":"\#(device)"}\#(more)}"#, fields: fields)
    }

    /// The second step of a login.
    func continueLogin(
        _ token: String, code: String, device: String = "phone-2", more: String = "", fields: Fields = Fields()
    ) async -> Answer {
        await call(
            .post, "/v1/login",
            #"{"login_token":"\#(token)","code":"\#(code)","device":{"id":"\#(device)"}\#(more)}"#, fields: fields)
    }

    /// Sets the policy of the settings.
    func setPolicy(_ policy: SecondFactorPolicy) async {
        let answer = await admin(
            .put, "/admin/v1/settings/second-factor", #"{"second_factor_policy":"\#(policy.rawValue)"}"#)
        #expect(answer.status == 200)
    }
}
