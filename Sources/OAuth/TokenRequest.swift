public import HTTP

/// A request to the token endpoint (RFC 6749 section 3.2). Unknown parameters are ignored, as the RFC says.
public struct TokenRequest: Sendable {
    /// `grant_type`, as it was sent.
    public let grantType: String?
    /// What it says of its client.
    public let client: ClientParameters
    /// `refresh_token`.
    public let refreshToken: String?
    /// `assertion` (RFC 7521 section 4.1).
    public let assertion: String?
    /// `scope`.
    public let scope: String?
    /// `username`.
    public let username: String?
    /// `password`.
    public let password: String?
    /// `user_assertion`: that the user is there, signed by the session's presence key.
    public let userAssertion: String?
    /// `authentication_mode`: how the app will guard the session of a login.
    public let authenticationMode: String?
    /// `device_key`: a JWK that can resume the session of a login.
    public let deviceKey: String?
    /// `presence_key`: a JWK that signs while the user is there.
    public let presenceKey: String?
    /// `device_id`: the installation that asks.
    public let deviceID: String?
    /// `device_name`: what people call it.
    public let deviceName: String?

    /// `resource`: the APIs that the token is for (RFC 8707 section 2).
    public let resources: [String]
    private static let resourceName = "resource"

    /// The parameters that may be repeated: `resource`, and at a token exchange `audience`, too (RFC 8693 section 2.1).
    public static func repeatable(in pairs: [FormPair]) -> [String] {
        let isExchange = pairs.contains { $0.name == "grant_type" && $0.value == GrantType.tokenExchange.rawValue }
        return isExchange ? [resourceName, TokenExchangeParameters.audienceName] : [resourceName]
    }

    /// What RFC 8693 section 2.1 has beside these.
    public let exchange: TokenExchangeParameters

    /// The request that the parameters make.
    public init(_ parameters: FormParameters) {
        grantType = parameters["grant_type"]
        client = ClientParameters(parameters)
        refreshToken = parameters["refresh_token"]
        assertion = parameters["assertion"]
        scope = parameters["scope"]
        username = parameters["username"]
        password = parameters["password"]
        userAssertion = parameters["user_assertion"]
        authenticationMode = parameters["authentication_mode"]
        deviceKey = parameters["device_key"]
        presenceKey = parameters["presence_key"]
        deviceID = parameters["device_id"]
        deviceName = parameters["device_name"]
        resources = parameters.all(Self.resourceName)
        exchange = TokenExchangeParameters(parameters)
    }
}
