/// The parameters that name and authenticate the client in the form (RFC 6749 §2.3.1, RFC 7521 §4.2).
public struct ClientParameters: Sendable {
    /// The value of `client_assertion_type` for a JWT (RFC 7523 §2.2).
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

    /// Reads the client's parameters of a request.
    public init(_ parameters: FormParameters) { self.parameters = parameters }
}
