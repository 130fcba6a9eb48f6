/// What a request says of its client in the form (RFC 6749 section 2.3.1, RFC 7521 section 4.2).
public struct ClientParameters: Hashable, Sendable {
    /// The value of `client_assertion_type` for a JWT (RFC 7523 section 2.2).
    public static let jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// `client_id`.
    public let id: String?
    /// `client_secret`.
    public let secret: String?
    /// `client_assertion_type`.
    public let assertionType: String?
    /// `client_assertion`.
    public let assertion: String?

    /// The client that the parameters name.
    public init(_ parameters: FormParameters) {
        id = parameters["client_id"]
        secret = parameters["client_secret"]
        assertionType = parameters["client_assertion_type"]
        assertion = parameters["client_assertion"]
    }
}
