/// A way on that an app can offer.
public enum PresenceStep: Hashable, Sendable, CaseIterable {
    /// Another prompt: `unlock(reason:)`.
    case retry
    /// `confirmDeviceCredential()`, and then another prompt.
    case unlockWithDeviceCredential
    /// The password, or a login at the identity provider, for this time: `unlock(password:)`. The way back needs no new
    /// enrollment.
    case usePassword
    /// The mode `PASSWORD` from now on.
    case switchToPassword
    /// The system's settings, where the user sets biometry up.
    case setUpBiometry
    /// A new presence key: `switchMode(to: .biometric)`.
    case enrollAgain
    /// A mode without biometry.
    case disableBiometry
}

/// The recommended next step after a failure of a gate.
public enum PresenceAdvice: Hashable, Sendable {
    /// The app can start over.
    case mayRetry
    /// The app asks the user to try again.
    case askToRetry
    /// The app can try again. Countermeasures against an attack may be needed.
    case mayRetryWithCountermeasures
    /// The app offers these ways to the user.
    case askUser([PresenceStep])
    /// Biometry cannot be used on this device: another mode is needed.
    case disableBiometry
    /// The keys of the old biometry are gone: the password, then new keys. The session stays.
    case enrollAgain
    /// The existing item is replaced.
    case overwrite

    /// The ways that the app can offer.
    public var steps: [PresenceStep] {
        switch self {
        case .mayRetry, .askToRetry, .mayRetryWithCountermeasures, .overwrite: [.retry]
        case .askUser(let steps): steps
        case .disableBiometry: [.usePassword, .disableBiometry]
        case .enrollAgain: [.usePassword, .enrollAgain]
        }
    }
}

extension PresenceError.Kind {
    /// What the app does after failures of this kind.
    ///
    /// - Parameters:
    ///   - failures: how many there were in a row, this one included. Interruptions do not count.
    ///   - limit: from how many on the user is asked how to go on.
    ///   - hasDeviceCredential: whether the device has a PIN, pattern or password. Without one that way is not offered.
    public func advice(
        after failures: Int = 1, limit: Int = 3, hasDeviceCredential: Bool = true
    ) -> PresenceAdvice {
        let advice: PresenceAdvice =
            switch self {
            case .cancelled: .mayRetry
            case .notRecognized: .askToRetry
            case .possibleAttack: .mayRetryWithCountermeasures
            case .lockedOut: .askUser([.unlockWithDeviceCredential, .usePassword])
            case .lockedOutForGood: .askUser([.unlockWithDeviceCredential, .switchToPassword])
            case .notSetUp: .askUser([.setUpBiometry, .usePassword])
            case .enrollmentChanged: .enrollAgain
            case .unsupported: .disableBiometry
            case .duplicate: .overwrite
            case .unknown: .askUser([.retry, .usePassword])
            }
        return switch self {
        case .notRecognized, .possibleAttack, .unknown:
            failures < limit
                ? advice.offered(hasDeviceCredential)
                : PresenceAdvice.askUser([.retry, .usePassword, .unlockWithDeviceCredential])
                    .offered(hasDeviceCredential)
        default: advice.offered(hasDeviceCredential)
        }
    }
}

extension PresenceAdvice {
    /// The advice without the device's credential, if the device has none.
    fileprivate func offered(_ hasDeviceCredential: Bool) -> PresenceAdvice {
        guard case .askUser(let steps) = self, !hasDeviceCredential else { return self }
        return .askUser(steps.filter { $0 != .unlockWithDeviceCredential })
    }
}
