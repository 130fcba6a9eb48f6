/// Whose codes a gate reports. The numbers collide: 8 is a lock-out on the one platform and a failure of the vendor's on the
/// other.
public enum BiometryPlatform: String, Hashable, Sendable, CaseIterable {
    /// `LAError` and `OSStatus`, as absolute values.
    case apple
    /// `androidx.biometric.BiometricPrompt`.
    case android
}

/// Why the user's presence could not be shown.
public struct PresenceError: Error, Hashable, Sendable {
    /// What a code means for an app.
    public enum Kind: Hashable, Sendable {
        /// The user, the system or the app interrupted the prompt.
        case cancelled
        /// Biometry could not be read.
        case notRecognized
        /// The wrong biometry was given, perhaps by an attacker.
        case possibleAttack
        /// Too many failed attempts. The device's credential unlocks biometry.
        case lockedOut
        /// Too many failed attempts in all: only the device's credential leads on.
        case lockedOutForGood
        /// Biometry, or the device's own lock, is not set up or cannot be used at present.
        case notSetUp
        /// The enrolled biometry has changed, and the keys behind it no longer exist.
        case enrollmentChanged
        /// The device has no biometry.
        case unsupported
        /// A key of that name exists already.
        case duplicate
        /// A code that the table does not have.
        case unknown(Int)
    }

    /// The subsystem of biometry in error codes with nine digits.
    public static let subsystem = 802
    private static let base = subsystem * 1_000_000

    /// The platform of the code.
    public let platform: BiometryPlatform
    /// The platform's code, as an absolute value.
    public let code: Int

    /// An error with a code of the platform.
    public init(_ platform: BiometryPlatform, code: Int) {
        self.platform = platform
        self.code = Int(clamping: code.magnitude)
    }

    /// The error of a code with nine digits, such as 802000007; nil if it is of another subsystem.
    ///
    /// The subsystem is subtracted. The last two digits alone are wrong for codes over 99, such as 25293.
    public init?(_ platform: BiometryPlatform, errorCode: Int) {
        guard (Self.base..<Self.base + 1_000_000).contains(errorCode) else { return nil }
        self.init(platform, code: errorCode - Self.base)
    }

    /// The code behind the number of the subsystem: 802000007 for the code 7. Codes beyond six digits become 802999999.
    public var errorCode: Int { Self.base + min(code, 999_999) }

    /// What the code means.
    public var kind: Kind {
        switch platform {
        case .apple: Self.appleKinds[code] ?? .unknown(code)
        case .android: Self.androidKinds[code] ?? .unknown(code)
        }
    }

    /// `LAError` (1 to 10, 1004) and `OSStatus` of the Keychain. An item that is not found (25300) is one that the record names,
    /// because the Keychain deletes it when the enrolled biometry changes.
    private static let appleKinds: [Int: Kind] = [
        1: .possibleAttack, 2: .cancelled, 4: .cancelled, 5: .notSetUp, 6: .unsupported, 7: .notSetUp, 8: .lockedOut,
        9: .cancelled, 10: .notRecognized, 50: .notRecognized, 128: .cancelled, 1004: .cancelled,
        25293: .possibleAttack, 25299: .duplicate, 25300: .enrollmentChanged, 67811: .enrollmentChanged,
    ]

    /// `BiometricPrompt.ERROR_…`. Android has an exception without a number for changed biometry
    /// (`KeyPermanentlyInvalidatedException`); a gate reports it by Apple's number.
    private static let androidKinds: [Int: Kind] = [
        1: .notSetUp, 2: .notRecognized, 3: .notRecognized, 4: .notRecognized, 5: .cancelled, 7: .lockedOut,
        8: .notRecognized, 9: .lockedOutForGood, 10: .cancelled, 11: .notSetUp, 12: .unsupported, 13: .cancelled,
        14: .notSetUp, 15: .notSetUp, 67811: .enrollmentChanged,
    ]
}

/// The failure of a gate, and what the app does next.
public struct PresenceFailure: Hashable, Sendable {
    /// What the gate reported.
    public var error: PresenceError
    /// The recommended next step.
    public var advice: PresenceAdvice

    /// Creates a failure.
    public init(_ error: PresenceError, _ advice: PresenceAdvice) {
        self.error = error
        self.advice = advice
    }
}
