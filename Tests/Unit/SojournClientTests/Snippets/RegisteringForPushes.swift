import SojournClient

/// To be called at each launch and after each sign-in, beside the registration at APNs.
func registerForMessages(_ sojourn: Sojourn) async {
    do { try await sojourn.registerForPushes() } catch { print("later: \(error)") }
}
