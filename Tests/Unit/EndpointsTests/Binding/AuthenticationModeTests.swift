import Cryptography
import HTTP
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// The three modes of "Stay Logged In", and the ways between them.
@Suite struct AuthenticationModeTests {
    /// From, to, what the request brings, how long after the login, the status.
    static let changes: [(AuthenticationMode, String, Proof, Int64, Int)] = [
        // What guards more takes nothing; the same is no change.
        (.no, "NO", .none, 9000, 200), (.no, "BIOMETRIC", .none, 9000, 200), (.no, "PASSWORD", .none, 9000, 200),
        (.biometric, "BIOMETRIC", .none, 9000, 200), (.biometric, "PASSWORD", .none, 9000, 200),
        (.password, "PASSWORD", .none, 9000, 200),
        // What guards less takes the user, at most five minutes ago; the login counts.
        (.biometric, "NO", .none, 299, 200), (.biometric, "NO", .none, 300, 401),
        (.biometric, "NO", .finger, 9000, 200), (.biometric, "NO", .password, 9000, 200),
        (.password, "NO", .none, 299, 200), (.password, "NO", .none, 300, 401),
        (.password, "NO", .password, 9000, 200), (.password, "NO", .wrongPassword, 9000, 401),
        (.password, "BIOMETRIC", .none, 299, 200), (.password, "BIOMETRIC", .none, 300, 401),
        (.password, "BIOMETRIC", .password, 9000, 200),
        // What is no mode.
        (.no, "FACE", .none, 0, 400), (.no, "no", .none, 0, 400), (.no, "", .none, 0, 400),
    ]

    enum Proof { case none, finger, password, wrongPassword }

    @Test(arguments: changes)
    func aChange(_ from: AuthenticationMode, to: String, by proof: Proof, after: Int64, status: Int) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, from)
            if from == .biometric { #expect(await phone.refresh("&user_assertion=\(phone.touch())").status == 200) }
            server.moveClock(to: after)
            let more =
                switch proof {
                case .none: ""
                case .finger: #","user_assertion":"\#(phone.touch())""#
                case .password: #","password":"\#(EndpointsFixture.password)""#
                case .wrongPassword: #","password":"wrong""#
                }
            let answer = await phone.setMode(to, more)
            #expect(answer.status == status, "\(answer.text)")
            if status == 200 { #expect(answer.string("authentication_mode") == to) }
            // Whatever it came to, no session has ended.
            let session = await server.admin(.get, "/admin/v1/sessions/\(phone.tokens.sessionID)")
            #expect(session.string("authentication_mode") == (status == 200 ? to : from.rawValue))
            #expect(session.string("ended_reason") == nil)
        }
    }

    @Test func aModeCannotBeChangedWhileActivationIsPending() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric)
            let path = "/admin/v1/sessions/\(phone.tokens.sessionID)"
            #expect(await server.admin(.get, path).bool("activation_pending") == true)
            for mode in ["NO", "PASSWORD"] {
                let answer = await phone.setMode(mode, #","password":"\#(EndpointsFixture.password)""#)
                #expect(answer.status == 409)
                #expect(answer.string("code") == "activation_pending")
            }
            #expect(await phone.register(ProvingDevice()).status == 409)
            // It goes on meanwhile, and the first signature ends it.
            #expect(await phone.refresh().status == 200)
            #expect(await phone.show(#"{"user_assertion":"\#(phone.touch())"}"#).bool("activation_pending") == false)
            #expect(await server.admin(.get, path).bool("activation_pending") == nil)
            #expect(await phone.setMode("PASSWORD").status == 200)
        }
    }

    @Test func biometryCanBeLeftForAWhile_andTheKeyIsStillThere() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric, ageMax: 600)
            #expect(await phone.show(#"{"user_assertion":"\#(phone.touch())"}"#).status == 200)
            server.moveClock(to: 700)
            #expect(await phone.setMode("PASSWORD").status == 200)
            // The finger is not enough now, the password is.
            let refused = await phone.refresh("&user_assertion=\(phone.touch())")
            #expect(refused.string("error") == "insufficient_user_authentication")
            #expect(refused.string("acr_values") == "password")
            #expect(await phone.refresh("&password=correct+horse").status == 200)
            server.moveClock(to: 5000)
            #expect(await phone.setMode("BIOMETRIC").status == 401)
            #expect(await phone.setMode("BIOMETRIC", #","user_assertion":"\#(phone.touch())""#).status == 200)
            server.moveClock(to: 9000)
            #expect(await phone.refresh().status == 400)
            #expect(await phone.refresh("&user_assertion=\(phone.touch())").status == 200)
            #expect(await phone.resume().status == 200)
        }
    }

    @Test func aKeyCanBeRegisteredLater_byAPresentHolder() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .no, ageMax: 600)
            server.moveClock(to: 1000)
            #expect(await phone.register(phone.finger).string("code") == "insufficient_user_authentication")
            let password = #","password":"\#(EndpointsFixture.password)""#
            let stranger = ProvingDevice()
            let forged = stranger.assertion(server, phone.tokens)
            for (body, member) in [
                (#","presence_key":\#(phone.finger.jwk)"#, "user_assertion"),
                (#","presence_key":\#(phone.finger.jwk),"user_assertion":"\#(forged)""#, "user_assertion"),
                (#","presence_key":{"kty":"RSA"}"#, "presence_key"),
                (#","presence_key":\#(phone.device.jwk)"#, "presence_key"),
            ] {
                let answer = await phone.setMode("BIOMETRIC", body + password)
                #expect(answer.status == 400)
                #expect(answer.string("member") == member, "\(answer.text)")
            }
            let elsewhere = #","presence_key":\#(phone.finger.jwk),"user_assertion":"\#(phone.touch())""#
            #expect(await phone.setMode("NO", elsewhere + password).string("member") == "presence_key")
            #expect(await phone.register(phone.finger, more: password).status == 200)
            // Another one, later: the first one vouches for nothing any more.
            server.moveClock(to: 2000)
            #expect(await phone.register(stranger).status == 401)
            #expect(await phone.show(#"{"user_assertion":"\#(phone.touch())"}"#).status == 200)
            #expect(await phone.register(stranger).status == 200)
            server.moveClock(to: 3000)
            #expect(await phone.refresh("&user_assertion=\(phone.touch())").status == 400)
            #expect(await phone.refresh("&user_assertion=\(stranger.assertion(server, phone.tokens))").status == 200)
        }
    }

    @Test func aLoginTellsOfImpossibleKeys() async throws {
        try await EndpointsFixture.with { server in
            let device = ProvingDevice()
            let login = { (more: String) in
                await server.call(
                    .post, "/v1/login", String(EndpointsFixture.loginBody().dropLast()) + "," + more + "}")
            }
            #expect(await login(#""presence_key":\#(device.jwk)"#).string("member") == "presence_key")
            #expect(
                await login(#""authentication_mode":"PASSWORD","presence_key":\#(device.jwk)"#).string("member")
                    == "presence_key")
            _ = try await GuardedPhone(server, .no)
            let both = #""authentication_mode":"BIOMETRIC","presence_key":\#(device.jwk),"device_key":\#(device.jwk)"#
            #expect(await login(both).string("member") == "presence_key")
        }
    }
}
