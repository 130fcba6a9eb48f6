/// What a request says of its client in the form (RFC 6749 section 2.3.1, RFC 7521 section 4.2).
public struct ClientParameters: Sendable {
    /// The value of `client_assertion_type` for a JWT (RFC 7523 section 2.2).
    public static let jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// `client_id`.
    public var id: String? { parameters["client_id"] }
    /// `client_secret`.
    public var secret: String? { parameters["client_secret"] }
    /// `client_assertion_type`.
    public var assertionType: String? { parameters["client_assertion_type"] }
    /// `client_assertion`.
    public var assertion: String? { parameters["client_assertion"] }

    private let parameters: FormParameters

    /// The client that the parameters name.
    public init(_ parameters: FormParameters) { self.parameters = parameters }
}
