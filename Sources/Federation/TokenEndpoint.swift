internal import FoundationEssentials
internal import HTTP
internal import HTTPClient
internal import JSON
internal import Sessions

/// The answer of a provider's token endpoint to a refresh token.
enum TokenEndpointAnswer: Sendable {
    /// Tokens (RFC 6749 §5.1).
    case tokens(idToken: String?, refreshToken: String?)
    /// The provider refused: the refresh token is invalid, or the user has to interact with the provider.
    case refused
    /// Neither of these, with the reason.
    case failed(String, mayHaveArrived: Bool)
}

/// The client of this server at a provider (RFC 6749 section 2.3).
struct ProviderClient: Sendable {
    /// The limit of a response, in bytes. Three large tokens fit.
    private static let contentMax = 128 * 1024

    let id: String
    /// Nil for a public client.
    let secret: String?
    let authentication: IdentityProvider.ClientAuthentication

    /// A request of the client to the token endpoint.
    func request(
        _ url: OutboundURL, _ parameters: [(String, String)], deadline: Duration, authorities: String?
    ) -> OutboundRequest {
        var form = parameters
        var fields: Fields = [
            "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
        ]
        switch (secret, authentication) {
        case (let secret?, .basic):
            // RFC 6749 section 2.3.1: each is form-encoded first.
            let pair = "\(PercentEncoding.encode(id)):\(PercentEncoding.encode(secret))"
            fields.append("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())")
        case (let secret?, .post): form += [("client_id", id), ("client_secret", secret)]
        case (nil, _): form.append(("client_id", id))
        }
        let body = form.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        return OutboundRequest(
            .post, url, fields: fields, body: Array(body.utf8), deadline: deadline, contentMax: Self.contentMax,
            authorities: authorities)
    }
}

/// The token endpoint of one provider. It has threads of its own, so that logins that wait for keys do not wait for
/// rechecks.
actor TokenEndpoint {
    /// The error codes that refuse the user: those of RFC 6749 section 5.2, and those of OpenID Connect Core section 3.1.2.6,
    /// which some providers use here if the user has to interact. Every other error is about the client or the request.
    private static let refusals = [
        "invalid_grant", "interaction_required", "login_required", "consent_required", "account_selection_required",
    ]

    private let provider: IdentityProvider
    private let recheck: IdentityProvider.Recheck
    private let client: HTTPClient
    private let clock: WallClock
    private var discovered: (url: OutboundURL, at: Instant)?

    init(_ provider: IdentityProvider, _ recheck: IdentityProvider.Recheck, clock: WallClock) {
        self.provider = provider
        self.recheck = recheck
        self.clock = clock
        client = HTTPClient(HTTPClient.Options(width: recheck.concurrency))
    }

    /// Requests new tokens with `refreshToken` (RFC 6749 §6).
    func refresh(_ refreshToken: String, clientID: String) async -> TokenEndpointAnswer {
        let url: OutboundURL
        do throws(FetchError) { url = try await self.url() } catch {
            return .failed(error.sentence, mayHaveArrived: false)
        }
        do throws(OutboundError) {
            return Self.read(try await client.send(request(url, refreshToken, clientID: recheck.clientID ?? clientID)))
        } catch {
            let wasSent = ![.overloaded, .unreachable, .untrusted].contains(error)
            return .failed("no answer: \(error.word)", mayHaveArrived: wasSent)
        }
    }

    private func url() async throws(FetchError) -> OutboundURL {
        if let configured = recheck.tokenURL { return configured }
        let now = clock.now
        if let discovered, now >= discovered.at, now < discovered.at + provider.keyLifetime { return discovered.url }
        do throws(FetchError) {
            let url = try await ProviderDocuments(provider, client).tokenURL()
            discovered = (url, now)
            return url
        } catch {
            // The last known URL most likely still works.
            guard let discovered else { throw error }
            return discovered.url
        }
    }

    private func request(_ url: OutboundURL, _ refreshToken: String, clientID: String) -> OutboundRequest {
        ProviderClient(id: clientID, secret: recheck.clientSecret, authentication: recheck.clientAuthentication)
            .request(
                url, [("grant_type", "refresh_token"), ("refresh_token", refreshToken)], deadline: recheck.deadline,
                authorities: provider.authorities)
    }

    /// Reads an answer (RFC 6749 sections 5.1 and 5.2).
    static func read(_ response: OutboundResponse) -> TokenEndpointAnswer {
        let members = try? StrictJSON.object(response.body)
        switch response.status {
        case 200:
            guard let members, members["access_token"]?.string != nil, let idToken = text("id_token", members),
                let refreshToken = text("refresh_token", members),
                refreshToken.map({ ProviderCheckService.isProviderToken($0) }) ?? true
            else { return .failed("the answer is no token answer", mayHaveArrived: true) }
            return .tokens(idToken: idToken, refreshToken: refreshToken)
        case 400..<500:
            let error = members?["error"]?.string ?? ""
            if refusals.contains(error) { return .refused }
            // The provider's own text may contain anything. A registered code is short.
            let word = Text.isValid(error, lengthMax: 64) ? error : "none"
            return .failed("the status is \(response.status), the error \(word)", mayHaveArrived: false)
        default: return .failed("the status is \(response.status)", mayHaveArrived: true)
        }
    }

    /// Returns a text member: `.some(nil)` if it is absent or null, nil if it is not a text.
    private static func text(_ name: String, _ members: [String: JSONValue]) -> String?? {
        switch members[name] {
        case nil, .null?: .some(nil)
        case .string(let text)?: .some(text)
        default: nil
        }
    }
}
