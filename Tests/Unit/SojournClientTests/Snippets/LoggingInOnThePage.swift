import Foundation
import SojournClient

/// Logs a user in on the server's page, which `browser` shows: on Apple platforms `WebLoginPresenter()`.
func login(_ sojourn: Sojourn, in browser: any LoginPresenter, redirectURI: URL) async throws -> Account? {
    do throws(SojournError) {
        return try await sojourn.signIn(through: browser, LoginPage(redirectURI: redirectURI), mode: .biometric)
    } catch {
        if error == .cancelled { return nil }
        throw error
    }
}

/// The URL with which a browser comes back to an app that was ended meanwhile.
func open(_ callback: URL, by sojourn: Sojourn) async throws -> Account {
    try await sojourn.signIn(callback: callback)
}
