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
    /// True if the user is not the one of the browser's session, and does not want to be asked for that one again.
    public var isForOther: Bool?

    /// A request that came at that time.
    public init(_ request: AuthorizationRequest, browser: String? = nil, at time: Instant) {
        (self.request, self.browser, madeAt) = (request, browser, time.secondsSinceEpoch)
    }

    enum CodingKeys: String, CodingKey {
        case request
        case browser
        case madeAt = "made_at"
        case isForOther = "other"
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
    private static let pushedName = "pushed"
    private static let providerName = "provider"
    private static let identityName = "identity"
    private static let verificationName = "verification"
    /// The longest state of a login at a provider, and of a verification, in characters: a sealed request and what goes with it.
    private static let stateLengthMax = 4608
    private static let version: UInt8 = 1

    private let rootKeys: RootKeys
    private let random: RandomSource

    init(rootKeys: RootKeys, random: RandomSource) {
        self.rootKeys = rootKeys
        self.random = random
    }

    /// The sealed request in base64url; nil if it is longer than `lengthMax`.
    public func seal(_ carried: CarriedRequest) -> String? {
        seal(carried, Self.name, Self.lengthMax)
    }

    /// The sealed request as the name of a pushed one; nil if it is longer than `lengthMax`. The request that a page carries has
    /// another seal, so that it is no name, and cannot be started anew again and again.
    public func sealPushed(_ carried: CarriedRequest) -> String? { seal(carried, Self.pushedName, Self.lengthMax) }

    /// The pushed request with that name; nil for anything else.
    public func openPushed(_ text: String) -> CarriedRequest? { open(text, Self.pushedName, Self.lengthMax) }

    /// The state of a login at a provider, in base64url; nil if it is too long.
    public func seal(_ login: CarriedProviderLogin) -> String? { seal(login, Self.providerName, Self.stateLengthMax) }

    /// The identity of a login without its second factor, for the browser with that device id; nil if it is too long.
    public func seal(_ identity: ExternalIdentity, in deviceID: String, at now: Instant) -> String? {
        seal(
            CarriedIdentity(identity, in: deviceID, until: now + FirstSteps.lifetime), Self.identityName,
            Self.lengthMax)
    }

    /// The identity that was sealed for that browser; nil for anything else.
    public func openIdentity(_ text: String, in deviceID: String) -> ExternalIdentity? {
        let carried: CarriedIdentity? = open(text, Self.identityName, Self.lengthMax)
        return carried.flatMap { $0.deviceID == deviceID ? $0.identity : nil }
    }

    /// What a browser carries for a verification, in base64url; nil if it is too long.
    public func seal(_ verification: CarriedVerification) -> String? {
        seal(verification, Self.verificationName, Self.stateLengthMax)
    }

    /// What `seal` sealed of a verification; nil for anything else.
    public func openVerification(_ text: String) -> CarriedVerification? {
        open(text, Self.verificationName, Self.stateLengthMax)
    }

    private func seal(_ value: some Encodable, _ name: String, _ lengthMax: Int) -> String? {
        guard let text = JSONText.compact(value), text.count < lengthMax else { return nil }
        let sealed = rootKeys.seal(text, purpose: Self.purpose, name: name, random: random)
        let encoded = Base64URL.encode([Self.version] + sealed)
        return encoded.utf8.count <= lengthMax ? encoded : nil
    }

    /// The bytes of the code with which the form of a page is answered: the same ones when a browser sends the form twice.
    func codeBytes(ofForm sealed: String) -> [UInt8] {
        HMACSHA256Key(rootKeys.first.derive("sojourn code of a form")).authenticate(Array(sealed.utf8))
    }

    /// The request that `seal` sealed; nil for anything else.
    public func open(_ text: String) -> CarriedRequest? { open(text, Self.name, Self.lengthMax) }

    /// The login at a provider that `seal` sealed; nil for anything else.
    public func openState(_ text: String) -> CarriedProviderLogin? {
        open(text, Self.providerName, Self.stateLengthMax)
    }

    private func open<Value: Decodable>(_ text: String, _ name: String, _ lengthMax: Int) -> Value? {
        guard text.utf8.count <= lengthMax, let bytes = Base64URL.decode(text), bytes.first == Self.version,
            let opened = rootKeys.open(Array(bytes.dropFirst()), purpose: Self.purpose, name: name)
        else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Data(opened))
    }
}
