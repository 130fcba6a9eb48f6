internal import HTTP
internal import HTTPClient
internal import JOSE
internal import JSON

/// The reason for which a provider's documents could not be fetched.
enum FetchError: Error, Hashable, Sendable {
    /// There is no response.
    case outbound(OutboundError)
    /// The response has a status other than 200.
    case status(Int)
    /// The document is malformed.
    case unreadable
    /// The discovery document belongs to another issuer.
    case otherIssuer
    /// The keys are at another origin than the configuration allows.
    case otherOrigin

    static let words =
        ["fetched", "status", "unreadable", "other_issuer", "other_origin"] + OutboundError.allCases.map(\.word)

    /// A stable word for metrics.
    var word: String {
        switch self {
        case .outbound(let error): error.word
        case .status: "status"
        case .unreadable: "unreadable"
        case .otherIssuer: "other_issuer"
        case .otherOrigin: "other_origin"
        }
    }

    /// A description for the log.
    var sentence: String {
        switch self {
        case .outbound(let error): "no answer: \(error.word)"
        case .status(let status): "the status is \(status), not 200"
        case .unreadable: "the document is no JSON of its kind"
        case .otherIssuer: "the discovery document is of another issuer"
        case .otherOrigin: "the keys are at another origin than the discovery document: set jwks_uri if that is meant"
        }
    }
}

/// Fetches the documents of a provider (OpenID Connect Discovery §4, RFC 7517 §5).
struct ProviderDocuments {
    private let provider: IdentityProvider
    private let client: HTTPClient

    /// A login waits for the fetch, so it is short.
    private static let deadline = Duration.seconds(5)

    init(_ provider: IdentityProvider, _ client: HTTPClient) {
        self.provider = provider
        self.client = client
    }

    /// Returns the keys from the URL of the configuration or of the discovery document.
    func keys() async throws(FetchError) -> JWKSet {
        let url: OutboundURL
        if let configured = provider.keysURL { url = configured } else { url = try await discoveredURL("jwks_uri") }
        let text = try await get(url)
        guard let keys = try? JWKSet(strictly: text) else { throw .unreadable }
        return keys
    }

    /// Returns the endpoints for logins by redirect of the discovery document. An endpoint at another origin is left out, because
    /// codes and secrets would go there.
    func endpoints() async throws(FetchError) -> (authorization: OutboundURL?, token: OutboundURL?, namesIssuer: Bool) {
        let (members, source) = try await discovery()
        func url(_ member: String) -> OutboundURL? {
            let url = members[member]?.string.flatMap {
                OutboundURL($0, plainLoopback: source.origin.hasPrefix("http://"))
            }
            return url?.origin == source.origin ? url : nil
        }
        var namesIssuer = false
        if case .bool(true)? = members["authorization_response_iss_parameter_supported"] { namesIssuer = true }
        return (url("authorization_endpoint"), url("token_endpoint"), namesIssuer)
    }

    /// Returns the token endpoint of the discovery document.
    func tokenURL() async throws(FetchError) -> OutboundURL { try await discoveredURL("token_endpoint") }

    /// Returns the discovery document and its URL.
    private func discovery() async throws(FetchError) -> (members: [String: JSONValue], source: OutboundURL) {
        guard let source = provider.discoveryURL else { throw .unreadable }
        let text = try await get(source)
        guard let members = try? StrictJSON.object(text) else { throw .unreadable }
        guard members["issuer"]?.string == provider.issuer else { throw .otherIssuer }
        return (members, source)
    }

    private func discoveredURL(_ member: String) async throws(FetchError) -> OutboundURL {
        let (members, source) = try await discovery()
        // Plain HTTP is allowed only if the document itself was fetched by it.
        let isPlain = source.origin.hasPrefix("http://")
        guard let url = members[member]?.string.flatMap({ OutboundURL($0, plainLoopback: isPlain) }) else {
            throw .unreadable
        }
        guard url.origin == source.origin else { throw .otherOrigin }
        return url
    }

    private func get(_ url: OutboundURL) async throws(FetchError) -> [UInt8] {
        let request = OutboundRequest(
            .get, url, fields: ["Accept": "application/json"], deadline: Self.deadline,
            authorities: provider.authorities)
        let response: OutboundResponse
        do throws(OutboundError) { response = try await client.send(request) } catch { throw .outbound(error) }
        guard response.status == 200 else { throw .status(response.status) }
        return response.body
    }
}
