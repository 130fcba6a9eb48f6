import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// anna's phone with a device key and a presence key, in one mode.
struct GuardedPhone: Sendable {
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    let server: EndpointsFixture
    let device = ProvingDevice()
    let finger = ProvingDevice(.eddsa)
    let tokens: Tokens

    /// Logs in; the client asks for the user every `ageMax` seconds, if it says so.
    init(_ server: EndpointsFixture, _ mode: AuthenticationMode, ageMax: Int64? = nil, key: Bool = true) async throws {
        self.server = server
        let changed = await server.admin(
            .patch, "/admin/v1/clients/mobile",
            #"{"grant_types":["refresh_token","login","\#(Self.jwtBearer)"],"user_presence_max_age":\#(ageMax.map(String.init) ?? "null")}"#
        )
        #expect(changed.status == 200)
        let presence = mode == .biometric && key ? #","presence_key":\#(finger.jwk)"# : ""
        tokens = try await server.logIn(
            more: #","authentication_mode":"\#(mode.rawValue)","device_key":\#(device.jwk)\#(presence)"#)
    }

    /// What the presence key signs now.
    func touch() -> String { finger.assertion(server, tokens) }

    func refresh(_ more: String = "") async -> Answer { await server.refresh(tokens.refresh, more: more) }

    func resume(_ more: String = "") async -> Answer {
        await server.form(
            "/oauth/token",
            "grant_type=\(Self.jwtBearer)&client_id=mobile&assertion=\(device.assertion(server, tokens))\(more)")
    }

    func show(_ json: String) async -> Answer {
        await server.call(.post, "/v1/me/presence", json, bearer: tokens.access)
    }

    func setMode(_ mode: String, _ more: String = "") async -> Answer {
        await server.call(
            .put, "/v1/me/authentication-mode", #"{"authentication_mode":"\#(mode)"\#(more)}"#, bearer: tokens.access)
    }

    /// Registers a presence key later.
    func register(_ key: ProvingDevice, more: String = "") async -> Answer {
        await setMode(
            "BIOMETRIC", #","presence_key":\#(key.jwk),"user_assertion":"\#(key.assertion(server, tokens))"\#(more)"#)
    }
}
