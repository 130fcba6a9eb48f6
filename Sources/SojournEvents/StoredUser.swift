public import SojournClient

/// A user whose credentials the SDK has stored (`KiiUser`).
public struct StoredUser: Sendable {
    /// The profile, as it was stored last.
    public let account: Account
    private let sojourn: Sojourn

    init(_ account: Account, _ sojourn: Sojourn) { (self.account, self.sojourn) = (account, sojourn) }

    /// Fetches the latest profile from the server, and stores it.
    public func refresh() async throws(SojournError) -> StoredUser {
        StoredUser(try await sojourn.refreshProfile(), sojourn)
    }

    /// Does the same, and calls `completion` once.
    public func refresh(_ completion: @escaping @Sendable (StoredUser?, (any Error)?) -> Void) {
        Task {
            do throws(SojournError) { completion(try await refresh(), nil) } catch { completion(nil, error) }
        }
    }

    /// Deletes the stored credentials, without the network too, and tells the server as soon as it can be reached.
    ///
    /// - Returns: false if the store could not be written yet.
    @discardableResult public func logOut() async -> Bool { await sojourn.signOut() }
}

/// Why stored credentials could not be used.
public enum StoredCredentialsError: Error, Hashable, Sendable {
    /// There are none: no user has logged in, or the user has logged out.
    case noStoredCredentials
    /// They cannot be read, and are kept. A login stores new ones.
    case unreadable(SojournError)

    /// The recommended next step: a login by password or at the identity provider.
    public var recommendedAction: RecommendedAction {
        self == .unreadable(.locked) ? .retryLater : .standardLogin(mode: .no)
    }
}

extension Sojourn {
    /// Restores the user from the stored credentials. The server is not asked, so that a session which has ended is restored, too.
    public func authenticateWithStoredCredentials() async throws(StoredCredentialsError) -> StoredUser {
        let account: Account?
        do throws(SojournError) { account = try await storedAccount() } catch { throw .unreadable(error) }
        guard let account else { throw .noStoredCredentials }
        return StoredUser(account, self)
    }

    /// Does the same, and calls `completion` once.
    public nonisolated func authenticate(
        storedCredentials completion: @escaping @Sendable (StoredUser?, (any Error)?) -> Void
    ) {
        Task {
            do throws(StoredCredentialsError) {
                completion(try await authenticateWithStoredCredentials(), nil)
            } catch { completion(nil, error) }
        }
    }
}
