import SojournClient

/// Signs in behind the biometry of the device: with `LocalAuthenticationGate(configuration)` on Apple's platforms.
func signIn(
    _ configuration: SojournConfiguration, by gate: some PresenceGate
) async throws(SojournError) -> Sojourn {
    let sojourn = Sojourn(configuration, gate: gate)
    try await sojourn.signIn(
        username: "anna", password: "correct horse battery staple", mode: .biometric, reason: "Stay logged in")
    return sojourn
}
