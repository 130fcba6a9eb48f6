public import SojournClient

/// A biometric error of Apple's platforms, with the texts of the vendor's sample app.
public enum BiometricError: Int, Hashable, Sendable, CaseIterable {
    case authFailed = 25293
    case duplicateItem = 25299
    case param = 50
    case publicKeyInconsistent = 67811
    case userCanceled = 128
    case userCanceledSE = 2
    case systemCanceled = 4
    case appCanceled = 9
    case biometryLockout = 8

    /// The error in a result's code, such as 802025293; nil for codes of other subsystems, and for others of biometry.
    public init?(errorCode: Int) {
        guard let error = PresenceError(.apple, errorCode: errorCode) else { return nil }
        self.init(rawValue: error.code)
    }

    /// The error as `SojournClient` has it.
    public var presenceError: PresenceError { PresenceError(.apple, code: rawValue) }

    /// Whether the user, the system or the app interrupted the prompt. The app starts the login over then.
    public var isCanceled: Bool {
        switch self {
        case .userCanceled, .userCanceledSE, .systemCanceled, .appCanceled: true
        case .authFailed, .duplicateItem, .param, .publicKeyInconsistent, .biometryLockout: false
        }
    }

    /// The recommended next step.
    public var nextStep: PresenceAdvice { presenceError.kind.advice() }

    /// The name of the case.
    public func stringValue() -> String { "\(self)" }

    /// The title of an alert.
    public func title() -> String { "OSStatus: \(rawValue * -1)" }

    /// The text of an alert.
    public func errorDescription() -> String {
        switch self {
        case .authFailed: "AuthFailed (\(rawValue)) Authorization and/or authentication failed."
        case .param: "Param (\(rawValue)) One or more parameters passed to the function are not valid."
        case .publicKeyInconsistent:
            "PublicKeyInconsistent (\(rawValue)) Fingerprint is not configured. Do you want to enroll biometry now, or change authentication mode to password?"
        case .userCanceled: "UserCanceled (\(rawValue)) User canceled the operation."
        case .duplicateItem: "The item already exists"
        case .userCanceledSE: "Authentication canceled (\(rawValue)) User canceled the operation."
        case .systemCanceled: "Authentication canceled (\(rawValue)) The system canceled authentication."
        case .appCanceled: "Authentication canceled (\(rawValue)) The app canceled authentication."
        case .biometryLockout:
            "Biometry lockout (\(rawValue)) Biometry is locked because there were too many failed attempts."
        }
    }
}
