import SojournClient

/// Logs a user in by a passkey that `keys` offers: on Apple platforms `PlatformPasskeys()`. Nil: the user wants another way.
func login(_ sojourn: Sojourn, by keys: any PasskeyAuthenticator) async throws -> Account? {
    do throws(SojournError) { return try await sojourn.signIn(passkey: keys) } catch {
        if error == .cancelled { return nil }
        throw error
    }
}

/// Adds a passkey to the signed-in user, right after a login by password.
func addPasskey(_ sojourn: Sojourn, by keys: any PasskeyAuthenticator) async throws -> String {
    try await sojourn.addPasskey(by: keys).name
}
