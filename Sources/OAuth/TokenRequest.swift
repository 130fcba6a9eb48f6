public import HTTP

/// A request to the token endpoint (RFC 6749 §3.2). Unknown parameters are ignored, as the RFC says.
public struct TokenRequest: Sendable {
    /// `grant_type`, unchecked.
    public var grantType: String? { parameters["grant_type"] }
    /// The parameters that name and authenticate the client.
    public var client: ClientParameters { ClientParameters(parameters) }
    /// `code` (RFC 6749 §4.1.3).
    public var code: String? { parameters["code"] }
    /// `redirect_uri`, that of the authorization request.
    public var redirectURI: String? { parameters["redirect_uri"] }
    /// `device_code` (RFC 8628 §3.4).
    public var deviceCode: String? { parameters["device_code"] }
    /// `return_token`, which a phone has handed to the app that waits for a login by a link.
    public var returnToken: String? { parameters["return_token"] }
    /// `auth_req_id` (OpenID Connect CIBA §10.1).
    public var authRequestID: String? { parameters["auth_req_id"] }
    /// `code_verifier` (RFC 7636 §4.5).
    public var codeVerifier: String? { parameters["code_verifier"] }
    /// `refresh_token`.
    public var refreshToken: String? { parameters["refresh_token"] }
    /// `assertion` (RFC 7521 §4.1).
    public var assertion: String? { parameters["assertion"] }
    /// `sent_at`, when the client sent a refresh, in Unix seconds.
    public var sentAt: String? { parameters["sent_at"] }
    /// `scope`.
    public var scope: String? { parameters["scope"] }
    /// `username`.
    public var username: String? { parameters["username"] }
    /// `password`.
    public var password: String? { parameters["password"] }
    /// `user_assertion`, the proof of the user's presence, signed with the session's presence key.
    public var userAssertion: String? { parameters["user_assertion"] }
    /// `otp`, the code of the second factor beside the password.
    public var otp: String? { parameters["otp"] }
    /// `id_token`, the proof of the user's presence by a login at an identity provider.
    public var idToken: String? { parameters["id_token"].flatMap { $0 == Self.noIDToken ? nil : $0 } }
    /// Whether the answer can have an ID token. `id_token=false` declines it, and a request that proves presence by one needs none.
    public var takesIDToken: Bool { parameters["id_token"] == nil }
    private static let noIDToken = "false"
    /// `provider`, the identity provider of `id_token`.
    public var provider: String? { parameters["provider"] }
    /// `authentication_mode`, how the app guards the session of a login.
    public var authenticationMode: String? { parameters["authentication_mode"] }
    /// `session_id`, the session that the app still has on the device of a login.
    public var sessionID: String? { parameters["session_id"] }
    /// `device_key`, a JWK that can resume the session of a login.
    public var deviceKey: String? { parameters["device_key"] }
    /// `presence_key`, a JWK that signs proofs of the user's presence.
    public var presenceKey: String? { parameters["presence_key"] }
    /// `device_id`, the app's installation.
    public var deviceID: String? { parameters["device_id"] }
    /// `device_name`, the name of the device for people.
    public var deviceName: String? { parameters["device_name"] }
    /// `device_platform`, the platform of the device.
    public var devicePlatform: String? { parameters["device_platform"] }
    /// `device_app_version`, the version of the app.
    public var deviceAppVersion: String? { parameters["device_app_version"] }
    /// Whether the request says anything of its device beside the id.
    public var saysDevice: Bool { deviceName != nil || devicePlatform != nil || deviceAppVersion != nil }

    /// `resource`, the APIs that the token is for (RFC 8707 §2).
    public var resources: [String] { parameters.all(Self.resourceName) }
    private static let resourceName = "resource"

    /// Returns the parameters that may repeat: `resource`, and with the grant `tokenExchange` also `audience` (RFC 8693 §2.1).
    public static func repeatable(in pairs: [FormPair], tokenExchange: String) -> [String] {
        let isExchange = pairs.contains { $0.name == "grant_type" && $0.value == tokenExchange }
        return isExchange ? [resourceName, TokenExchangeParameters.audienceName] : [resourceName]
    }

    /// The additional parameters of RFC 8693 §2.1.
    public var exchange: TokenExchangeParameters { TokenExchangeParameters(parameters) }

    private let parameters: FormParameters

    /// Creates a request from its parameters. They are looked up when they are read.
    public init(_ parameters: FormParameters) { self.parameters = parameters }
}
