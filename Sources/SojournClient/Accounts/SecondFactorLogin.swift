/// A login with a right first proof, which waits for a second one. `SojournError.secondFactorRequired` brings it.
///
/// It lasts for five minutes, in memory: after a new start of the app the user begins again with the first proof.
public struct SecondFactorLogin: Sendable {
    /// A way to show the second factor.
    public struct Method: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word. Words of later servers are possible.
        public var rawValue: String
        /// Creates a method.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The word.
        public var description: String { rawValue }

        /// The code of an authenticator app.
        public static let totp = Method(rawValue: "totp")
        /// A passkey.
        public static let passkey = Method(rawValue: "passkey")
        /// A recovery code.
        public static let recoveryCode = Method(rawValue: "recovery_code")
    }

    /// The ways that the server takes. None: the policy demands a second factor, and the user has none. `addAuthenticator` adds it
    /// to this login then.
    public let methods: [Method]
    let challenge: SecondFactorChallenge
    let sojourn: Sojourn
    /// How the session that begins is guarded.
    var mode = AuthenticationMode.no
    /// The session that the login opens again, if it was an `unlock`.
    var unlocks: String?
    var cancelsDeletion = false
    /// The first proof, which comes again beside the second one if the server has not sealed it.
    var first = LoginRequest.Credentials.anonymous

    init(_ challenge: SecondFactorChallenge, of sojourn: Sojourn) {
        methods = challenge.methods.map(Method.init)
        (self.challenge, self.sojourn) = (challenge, sojourn)
    }

    /// Ends the login by the code of an authenticator app, or by a recovery code. A lost answer is fetched by the next try with the
    /// same code, as at every login.
    ///
    /// Throws `refused` with the code `wrong_second_factor`: another try with this value is possible. `clockDiffers` says then that
    /// the clock of the user's authenticator is wrong. After `second_factor_blocked` only another method helps. When the five minutes
    /// are over the code is `invalid_request`, with the member `login_token`: the login begins again.
    @discardableResult
    public func confirm(
        code: String, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await sojourn.finish(self, by: code, reason)
    }

    /// Ends the login by a passkey, which is both factors: the session is a new one.
    @discardableResult
    public func confirm(
        passkey authenticator: any PasskeyAuthenticator, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await sojourn.finish(self, by: authenticator, reason)
    }

    /// Adds an authenticator app to a login without `methods`. `NewAuthenticator.confirm` ends the login then.
    public func addAuthenticator(name: String) async throws(SojournError) -> NewAuthenticator {
        try await sojourn.addAuthenticator(name: name, to: self)
    }
}

extension SecondFactorLogin: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Whether both are the same login.
    public static func == (one: SecondFactorLogin, other: SecondFactorLogin) -> Bool {
        one.challenge == other.challenge && one.sojourn === other.sojourn
    }

    /// Hashes the login.
    public func hash(into hasher: inout Hasher) { hasher.combine(challenge) }

    /// The methods; not the secret of the login.
    public var description: String { methods.map(\.rawValue).joined(separator: " ") }
    /// The methods.
    public var debugDescription: String { description }
}

/// What the server says when it asks for a second factor.
package struct SecondFactorChallenge: Hashable, Sendable {
    /// The first proof, sealed by the server; nil: it comes again.
    package var token: String?
    package var methods: [String]

    package init(token: String?, methods: [String]) { (self.token, self.methods) = (token, methods) }
}
