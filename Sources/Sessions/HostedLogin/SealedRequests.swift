internal import Cryptography
internal import FoundationEssentials
internal import JSON

/// An authorization request that the browser carries, because a stranger's request must cost the server no row.
public struct CarriedRequest: Codable, Hashable, Sendable {
    /// How long the page of a request can be used.
    public static let lifetime = Duration.seconds(3600)
    /// How long a pushed request can be started (RFC 9126 section 2.2).
    public static let pushedLifetime = Duration.seconds(90)

    /// The request.
    public var request: AuthorizationRequest
    /// SHA-256 of the flow cookie of the browser in which the page was shown, in base64url; nil: the page was not shown yet.
    public var browser: String?
    /// When the request came, in Unix seconds.
    public var madeAt: Int64

    /// A request that came at that time.
    public init(_ request: AuthorizationRequest, browser: String? = nil, at time: Instant) {
        (self.request, self.browser, madeAt) = (request, browser, time.secondsSinceEpoch)
    }

    enum CodingKeys: String, CodingKey {
        case request
        case browser
        case madeAt = "made_at"
    }

    /// Whether the request can be used at `now` for that long after it came.
    public func isTimely(at now: Instant, within lifetime: Duration = Self.lifetime) -> Bool {
        now < Instant(secondsSinceEpoch: madeAt) + lifetime
    }
}

/// Seals requests with AES-256-GCM under the first root key, so that a browser can carry them and cannot change them.
public struct SealedRequests: Sendable {
    /// The longest sealed request, in characters.
    public static let lengthMax = 4096

    private static let purpose = "sojourn authorization request"
    private static let name = "authorize"
    private static let version: UInt8 = 1

    private let rootKeys: RootKeys
    private let random: RandomSource

    init(rootKeys: RootKeys, random: RandomSource) {
        self.rootKeys = rootKeys
        self.random = random
    }

    /// The sealed request in base64url; nil if it is longer than `lengthMax`.
    public func seal(_ carried: CarriedRequest) -> String? {
        guard let text = JSONText.compact(carried), text.count < Self.lengthMax else { return nil }
        let sealed = rootKeys.seal(text, purpose: Self.purpose, name: Self.name, random: random)
        let encoded = Base64URL.encode([Self.version] + sealed)
        return encoded.utf8.count <= Self.lengthMax ? encoded : nil
    }

    /// The request that `seal` sealed; nil for anything else.
    public func open(_ text: String) -> CarriedRequest? {
        guard text.utf8.count <= Self.lengthMax, let bytes = Base64URL.decode(text), bytes.first == Self.version,
            let opened = rootKeys.open(Array(bytes.dropFirst()), purpose: Self.purpose, name: Self.name)
        else { return nil }
        return try? JSONDecoder().decode(CarriedRequest.self, from: Data(opened))
    }
}
