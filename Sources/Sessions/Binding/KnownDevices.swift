internal import Cryptography

/// What a device shows of itself when it asks to be let in: by which users' phones it was let in before.
public struct KnownDevice: Hashable, Sendable {
    /// The sessions that the cookie of a browser names, each with a token that only this server makes.
    public var sessions: [Identifier<Session>] = []
    /// The key that the device has proved to have (RFC 9449); nil: it has proved none.
    public var keyThumbprint: String?

    /// A device that shows nothing.
    public init() {}
}

extension PhoneLoginService {
    /// The largest number of users that one browser is known to.
    static let knownUsersMax = 4

    /// The sessions by which a device is known, one for each user, and the settings of the moment.
    func earlierSessions(
        of device: KnownDevice
    ) async throws(ServiceError) -> (sessions: [Session], settings: Settings) {
        if device == KnownDevice() {
            return ([], try await inStore(await store.settings()))
        }
        let found = try await inStore(await store.sessions(device.sessions, letInWithKey: device.keyThumbprint))
        // The newest session of each user decides.
        var users: Set<Identifier<User>> = []
        let newest = found.sessions.sorted { $0.startedAt > $1.startedAt }.filter {
            $0.isLetIn && users.insert($0.userID).inserted
        }
        let first = found.settings.revokedBefore?.epoch ?? .min
        let known = newest.filter { $0.epoch >= first && $0.ending?.reason.leavesDeviceKnown ?? true }
        return (Array(known.prefix(Self.knownUsersMax)), found.settings)
    }

    /// The value of the cookie by which a browser is known, after a phone has let it in by that login: the login, and those of
    /// other users by which it was known.
    public func knownBrowser(
        _ device: KnownDevice, after login: PhoneLogin
    ) async throws(ServiceError) -> String {
        let others = try await earlierSessions(of: device).sessions.filter { $0.userID != login.userID }.map(\.id)
        return ([login.id] + others).prefix(Self.knownUsersMax)
            .map { "\($0).\(context.loginCodes.token(.known, of: $0))" }.joined(separator: "~")
    }

    /// What the cookie of a browser shows. A value that this server has not made shows nothing.
    public func device(ofBrowser cookie: String) -> KnownDevice {
        var device = KnownDevice()
        for part in cookie.split(separator: "~").prefix(Self.knownUsersMax) {
            let fields = part.split(separator: ".", omittingEmptySubsequences: false)
            guard fields.count == 2, let id = Identifier<Session>(String(fields[0])),
                context.loginCodes.isToken(String(fields[1]), .known, of: id)
            else { continue }
            device.sessions.append(id)
        }
        return device
    }
}

extension Session {
    /// The number of sessions with one key that are looked at for users that know their device.
    static let letInMax = 20

    /// Whether a phone has let it in.
    fileprivate var isLetIn: Bool { shownMethods == [PhoneLogin.authenticationMethod] }
}

extension EndReason {
    /// Whether the device of a session that ended so is its user's still, as far as the server knows.
    var leavesDeviceKnown: Bool {
        switch self {
        case .loggedOut, .replaced, .idleExpired, .maxLifetimeReached, .recheckLost, .parentEnded, .presenceLost: true
        case .revokedByUser, .revokedByAdmin, .passwordChanged, .refreshTokenReused, .userDeleted, .revokedByProvider,
            .codeReused, .notMe:
            false
        }
    }
}
