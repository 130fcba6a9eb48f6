public import SojournClient

/// An error of `androidx.biometric.BiometricPrompt`, with the texts of the vendor's sample app.
public enum AndroidBiometricError: Int, Hashable, Sendable, CaseIterable {
    case hwUnavailable = 1
    case unableToProcess = 2
    case timeout = 3
    case noSpace = 4
    case canceled = 5
    case lockout = 7
    case vendor = 8
    case lockoutPermanent = 9
    case userCanceled = 10
    case noBiometrics = 11
    case hwNotPresent = 12
    case negativeButton = 13
    case noDeviceCredential = 14
    case securityUpdateRequired = 15

    /// The error in a result's code, such as 802000007; nil for codes of other subsystems, and for others of biometry.
    public init?(errorCode: Int) {
        guard let error = PresenceError(.android, errorCode: errorCode) else { return nil }
        self.init(rawValue: error.code)
    }

    /// The last two digits of a code. This way to decode is right for Android, whose codes are below 100. Of Apple's codes it
    /// makes others: 93 of 25293, 11 of 67811, 28 of 128.
    public static func lastTwoDigits(of errorCode: Int) -> Int { Int((errorCode % 100).magnitude) }

    /// The error as `SojournClient` has it.
    public var presenceError: PresenceError { PresenceError(.android, code: rawValue) }

    /// What the sample app says; nil where it says nothing.
    public var message: String? {
        switch self {
        case .lockout:
            "Too many failed attempts! Biometry locked! You can either retry with Biometry by unlocking it with your device PIN, or temporarily switch to authentication mode password."
        case .negativeButton, .userCanceled, .canceled:
            "Biometry prompt was canceled. Do you want to change authentication mode to password?"
        case .noBiometrics:
            "Fingerprint is not configured. Do you want to enroll biometry now, or use authentication mode password?"
        case .lockoutPermanent:
            "Too many failed attempts! Biometry locked! You can either retry with Biometry by unlocking it with your device PIN, or switch to authentication mode password."
        case .vendor: "Manufacturer specific error. Do you want to change authentication mode to password?"
        case .hwUnavailable, .unableToProcess, .timeout, .noSpace, .hwNotPresent, .noDeviceCredential,
            .securityUpdateRequired:
            nil
        }
    }

    /// The ways that the message offers; the recommended ones where there is no message.
    public var steps: [PresenceStep] {
        switch self {
        case .lockout: [.unlockWithDeviceCredential, .usePassword]
        case .lockoutPermanent: [.unlockWithDeviceCredential, .switchToPassword]
        case .noBiometrics: [.setUpBiometry, .usePassword]
        case .negativeButton, .userCanceled, .canceled, .vendor: [.retry, .switchToPassword]
        case .hwUnavailable, .unableToProcess, .timeout, .noSpace, .hwNotPresent, .noDeviceCredential,
            .securityUpdateRequired:
            presenceError.kind.advice().steps
        }
    }
}
