import SojournClient
import SojournEvents

/// Kii's login with the stored credentials: the user at once, without the network, and then the latest profile.
func greeting(by sojourn: Sojourn) async -> String {
    do throws(StoredCredentialsError) {
        let user = try await sojourn.authenticateWithStoredCredentials()
        let latest = (try? await user.refresh()) ?? user
        return "Hello \(latest.account.displayName ?? latest.account.username ?? "")"
    } catch {
        switch error {
        case .noStoredCredentials: return "Please log in."
        case .unreadable(.locked): return "Please unlock the device."
        case .unreadable: return "Please log in with your password."
        }
    }
}
