extension PhoneLoginPolicy {
    /// Compares the PIN of a second factor with that of the phone's session. Wrong PINs count for the PIN alone, and not for the
    /// login, which goes on to wait for another factor.
    func check(_ mac: PIN.MAC, _ pin: PIN?, _ effects: inout [PhoneLogin.Effect]) -> PhoneLogin.Refusal? {
        guard let pin else { return .noPIN }
        guard let refusal = pin.refusal(of: mac) else { return nil }
        if !pin.isLocked { effects.append(.countWrongPIN) }
        return refusal
    }
}

extension PhoneLogin.Act {
    /// Whether the decision takes the PIN of the phone's session.
    var readsPIN: Bool { if case .proveFactor = self { true } else { false } }
}

extension PhoneLogin.Effect {
    /// Whether it changes a row beside that of the login, so that a retry must not bring it again.
    var isBesideLogin: Bool { endsSession || self == .countWrongPIN }
}

extension PhoneLoginChange {
    /// Counts a wrong PIN for the session of the phone that asks.
    mutating func countWrongPIN(from origin: Origin, at now: Instant) {
        guard let session = phone?.session else { return }
        events += pin?.countWrong(in: session, from: origin, at: now) ?? []
    }
}
