internal import Cryptography

/// What the receiver of a client gets once the result of a login can be asked for (OpenID Connect CIBA section 10.2).
public struct BackchannelPing: Sendable {
    /// The receiver.
    public let endpoint: String
    /// The bearer token that the client has sent with its request.
    public let token: String
    /// The secret of the request.
    public let authRequestID: String
    /// Which try this is: 1, 2, 3 …
    public let tries: Int

    /// How often a ping is sent at most.
    public static let triesMax = 6
    /// How long one try may take.
    public static let deadline = Duration.seconds(5)

    /// The time from one try to the next: longer than the deadline, so that no other node tries meanwhile.
    static func pause(afterTry number: Int) -> Duration { .seconds(6 << min(number - 1, 4)) }
}

/// Encrypts the tokens with which clients recognize pings.
struct NotificationTokens: Sendable {
    private static let purpose = "sojourn backchannel notification"
    private static let name = "token"

    let rootKeys: RootKeys
    let random: RandomSource

    func seal(_ token: String) -> [UInt8] {
        rootKeys.seal(Array(token.utf8), purpose: Self.purpose, name: Self.name, random: random)
    }

    func open(_ sealed: [UInt8]) -> String? {
        rootKeys.open(sealed, purpose: Self.purpose, name: Self.name).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension PhoneLogin {
    /// Whether the result can no longer be asked for.
    func isStale(at now: Instant, by rules: PhoneLoginRules) -> Bool {
        now >= collectUntil ?? (endedAt ?? startedAt) + rules.collectLifetime
    }
}

extension ServiceContext {
    /// The pings that are due, the oldest first.
    public func duePings(limit: Int) async throws(StoreError) -> [LoginReference] {
        let now = clock.now
        return try await store.read(.short) { (reader) throws(TransactionError) in
            try reader.duePings(by: now, limit: limit).value()
        }
    }

    /// Takes the ping about a login, if it is due: no node takes it again before the next try. Nil if it is not due, too late, or
    /// its client has no receiver any more.
    public func takePing(_ id: Identifier<Session>) async throws(StoreError) -> BackchannelPing? {
        let (now, rules, tokens, keys) = (clock.now, loginRules, notificationTokens, backchannelKeys)
        return try await store.changeLogin(id, phone: nil) { change -> BackchannelPing? in
            guard let pingAt = change.login.pingAt, pingAt <= now else { return nil }
            let login = change.login
            change.login.pingAt = nil
            guard !login.isStale(at: now, by: rules),
                let client = change.client, client.backchannel.deliveryMode == .ping,
                let endpoint = client.backchannel.notificationEndpoint,
                let token = login.request.backchannel?.sealedToken.flatMap(tokens.open),
                let secret = keys.lazy.map({ PhoneLoginService.backchannelSecret(of: login.id, $0) }).first(where: {
                    PhoneLoginService.hash($0) == login.request.pollHash
                })
            else { return nil }
            change.login.pingTries += 1
            if change.login.pingTries < BackchannelPing.triesMax {
                change.login.pingAt = now + BackchannelPing.pause(afterTry: change.login.pingTries)
            }
            return BackchannelPing(
                endpoint: endpoint, token: token, authRequestID: secret, tries: change.login.pingTries)
        } ?? nil
    }

    /// The client knows: no further try.
    public func endPing(_ id: Identifier<Session>) async throws(StoreError) {
        _ = try await store.changeLogin(id, phone: nil) { $0.login.pingAt = nil }
    }
}
