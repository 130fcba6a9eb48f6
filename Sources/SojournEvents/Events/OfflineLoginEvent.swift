public import SojournClient

/// Goes on with the stored session, without the user in the mode `NO`, after one prompt in the mode `BIOMETRIC`.
public struct OfflineLoginEvent: Hashable, Sendable {
    /// The user that the session has to be of.
    public var userIdentifier: UserIdentifier
    /// The mode for the recommended login if no session is stored; nil: `NO`. The mode of a stored session decides how it is opened,
    /// because no event may take a session's protection away.
    public var authenticationMode: AuthenticationMode?

    /// Creates an event.
    public init(userIdentifier: UserIdentifier, authenticationMode: AuthenticationMode? = nil) {
        self.userIdentifier = userIdentifier
        self.authenticationMode = authenticationMode
    }

    /// Carries the event out. `OK` means that the server has validated the session. Without a stored session nothing is sent.
    ///
    /// - Parameter sojourn: nil: the app has made none, which is the status `NOT_STARTED`.
    public func post(to sojourn: Sojourn?) async -> OfflineLoginResultEvent {
        guard let sojourn else {
            return OfflineLoginResultEvent(.notStarted(userIdentifier, authenticationMode ?? .no))
        }
        _ = await sojourn.restore()
        let mode = await sojourn.authenticationMode ?? authenticationMode ?? .no
        do throws(SojournError) {
            guard let account = try await sojourn.storedAccount(), userIdentifier.names(account) else {
                throw .notSignedIn
            }
            if mode == .biometric { try await sojourn.unlock() }
            return OfflineLoginResultEvent(LoginOutcome(try await sojourn.refreshProfile(), userIdentifier, mode))
        } catch { return OfflineLoginResultEvent(LoginOutcome(error, userIdentifier, mode)) }
    }
}

/// The result of `OfflineLoginEvent`.
public struct OfflineLoginResultEvent: LoginResult, Hashable {
    /// The outcome of the event.
    public let outcome: LoginOutcome

    init(_ outcome: LoginOutcome) { self.outcome = outcome }
}

extension Sojourn {
    /// Carries out an `OfflineLoginEvent`, and calls `completion` once, on the main thread.
    public nonisolated func performOfflineLogin(
        userIdentifier: UserIdentifier, completion: @escaping @MainActor @Sendable (OfflineLoginResultEvent) -> Void?
    ) {
        Task {
            let result = await OfflineLoginEvent(userIdentifier: userIdentifier).post(to: self)
            _ = await completion(result)
        }
    }

    /// The account in the store, whose session may have ended; nil: none. Nothing is sent.
    func storedAccount() async throws(SojournError) -> Account? {
        switch await restore() {
        case .signedIn(let account, _), .presenceRequired(_, let account), .ended(_, let account, _): return account
        case .locked: throw .locked
        case .storeFailed(let error): throw .store(error)
        case .signedOut(.unreadable): throw .store(.corrupted("the record cannot be read"))
        case .starting, .signedOut: return nil
        }
    }
}
