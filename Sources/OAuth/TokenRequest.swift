public import HTTP

/// A request to the token endpoint (RFC 6749 section 3.2). Unknown parameters are ignored, as the RFC says.
public struct TokenRequest: Sendable {
    /// `grant_type`, as it was sent.
    public var grantType: String? { parameters["grant_type"] }
    /// What it says of its client.
    public var client: ClientParameters { ClientParameters(parameters) }
    /// `refresh_token`.
    public var refreshToken: String? { parameters["refresh_token"] }
    /// `assertion` (RFC 7521 section 4.1).
    public var assertion: String? { parameters["assertion"] }
    /// `scope`.
    public var scope: String? { parameters["scope"] }
    /// `username`.
    public var username: String? { parameters["username"] }
    /// `password`.
    public var password: String? { parameters["password"] }
    /// `user_assertion`: that the user is there, signed by the session's presence key.
    public var userAssertion: String? { parameters["user_assertion"] }
    /// `authentication_mode`: how the app will guard the session of a login.
    public var authenticationMode: String? { parameters["authentication_mode"] }
    /// `device_key`: a JWK that can resume the session of a login.
    public var deviceKey: String? { parameters["device_key"] }
    /// `presence_key`: a JWK that signs while the user is there.
    public var presenceKey: String? { parameters["presence_key"] }
    /// `device_id`: the installation that asks.
    public var deviceID: String? { parameters["device_id"] }
    /// `device_name`: what people call it.
    public var deviceName: String? { parameters["device_name"] }

    /// `resource`: the APIs that the token is for (RFC 8707 section 2).
    public var resources: [String] { parameters.all(Self.resourceName) }
    private static let resourceName = "resource"

    /// The parameters that may be repeated: `resource`, and at a token exchange `audience`, too (RFC 8693 section 2.1).
    public static func repeatable(in pairs: [FormPair]) -> [String] {
        let isExchange = pairs.contains { $0.name == "grant_type" && $0.value == GrantType.tokenExchange.rawValue }
        return isExchange ? [resourceName, TokenExchangeParameters.audienceName] : [resourceName]
    }

    /// What RFC 8693 section 2.1 has beside these.
    public var exchange: TokenExchangeParameters { TokenExchangeParameters(parameters) }

    private let parameters: FormParameters

    /// The request that the parameters make. What nobody asks for is not looked for.
    public init(_ parameters: FormParameters) { self.parameters = parameters }
}
