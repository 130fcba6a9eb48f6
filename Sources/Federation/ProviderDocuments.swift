internal import HTTP
internal import HTTPClient
internal import JOSE

/// Why a provider's keys are not to be had.
enum FetchProblem: Error, Hashable, Sendable {
    /// There was no answer.
    case outbound(OutboundError)
    /// The answer has another status than 200.
    case status(Int)
    /// The document is not what it should be.
    case unreadable
    /// The discovery document is of another issuer.
    case otherIssuer
    /// The keys are elsewhere than the configuration allows.
    case otherOrigin

    static let words =
        ["fetched", "status", "unreadable", "other_issuer", "other_origin"] + OutboundError.allCases.map(\.word)

    /// A word for metrics.
    var word: String {
        switch self {
        case .outbound(let error): error.word
        case .status: "status"
        case .unreadable: "unreadable"
        case .otherIssuer: "other_issuer"
        case .otherOrigin: "other_origin"
        }
    }

    /// For the log.
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

/// Fetches what a provider publishes (OpenID Connect Discovery section 4, RFC 7517 section 5).
struct ProviderDocuments {
    private let provider: IdentityProvider
    private let client: HTTPClient

    /// A login waits for it.
    private static let deadline = Duration.seconds(5)

    init(_ provider: IdentityProvider, _ client: HTTPClient) {
        self.provider = provider
        self.client = client
    }

    /// The keys, from where the configuration or the discovery document says.
    func keys() async throws(FetchProblem) -> JWKSet {
        let url: OutboundURL
        if let configured = provider.keysURL { url = configured } else { url = try await discoveredURL("jwks_uri") }
        let text = try await get(url)
        guard let keys = try? JWKSet(strictly: text) else { throw .unreadable }
        return keys
    }

    /// The token endpoint, from where the discovery document says.
    func tokenURL() async throws(FetchProblem) -> OutboundURL { try await discoveredURL("token_endpoint") }

    private func discoveredURL(_ member: String) async throws(FetchProblem) -> OutboundURL {
        guard let source = provider.discoveryURL else { throw .unreadable }
        let text = try await get(source)
        guard let members = try? StrictJSON.object(text, else: .malformed) else { throw .unreadable }
        guard members["issuer"]?.string == provider.issuer else { throw .otherIssuer }
        // Plain HTTP only where the document itself came by it.
        let isPlain = source.origin.hasPrefix("http://")
        guard let url = members[member]?.string.flatMap({ OutboundURL($0, plainLoopback: isPlain) }) else {
            throw .unreadable
        }
        guard url.origin == source.origin else { throw .otherOrigin }
        return url
    }

    private func get(_ url: OutboundURL) async throws(FetchProblem) -> [UInt8] {
        let request = OutboundRequest(
            .get, url, fields: ["Accept": "application/json"], deadline: Self.deadline,
            authorities: provider.authorities)
        let response: OutboundResponse
        do throws(OutboundError) { response = try await client.send(request) } catch { throw .outbound(error) }
        guard response.status == 200 else { throw .status(response.status) }
        return response.body
    }
}
