import SojournClient

/// What an app asks its user, as far as these recipes need it.
protocol UnlockQuestions: Sendable {
    /// A text field for the password; nil: the user has closed it.
    func password() async -> String?
    /// A choice of buttons; nil: the user has closed it.
    func choose(among steps: [PresenceStep]) async -> PresenceStep?
}

extension Sojourn {
    /// Opens the session for its user, who decides how to go on when biometry fails. True: the session is open.
    func open(asking questions: some UnlockQuestions) async throws(SojournError) -> Bool {
        var step: PresenceStep? = .retry
        while let next = step {
            do throws(SojournError) {
                switch next {
                case .unlockWithDeviceCredential: try await confirmDeviceCredential()
                case .usePassword, .switchToPassword, .disableBiometry:
                    guard let password = await questions.password() else { return false }
                    try await unlock(password: password)
                    return true
                case .enrollAgain:
                    try await switchMode(to: .biometric)
                    return true
                case .retry, .setUpBiometry:
                    try await unlock(reason: "Open your orders")
                    return true
                }
                step = .retry
            } catch {
                // Nothing was sent, and nothing has changed.
                guard case .presence(let failure) = error else { throw error }
                step = await questions.choose(among: failure.advice.steps)
            }
        }
        return false
    }
}
