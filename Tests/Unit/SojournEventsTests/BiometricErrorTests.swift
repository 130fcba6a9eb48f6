import SojournClient
import SojournEvents
import Testing

/// The vendor's tables, word for word.
struct BiometricErrorTests {
    static let texts: [(BiometricError, Int, String, String)] = [
        (.authFailed, 25293, "authFailed", "AuthFailed (25293) Authorization and/or authentication failed."),
        (.duplicateItem, 25299, "duplicateItem", "The item already exists"),
        (.param, 50, "param", "Param (50) One or more parameters passed to the function are not valid."),
        (
            .publicKeyInconsistent, 67811, "publicKeyInconsistent",
            "PublicKeyInconsistent (67811) Fingerprint is not configured. Do you want to enroll biometry now, or change authentication mode to password?"
        ),
        (.userCanceled, 128, "userCanceled", "UserCanceled (128) User canceled the operation."),
        (.userCanceledSE, 2, "userCanceledSE", "Authentication canceled (2) User canceled the operation."),
        (.systemCanceled, 4, "systemCanceled", "Authentication canceled (4) The system canceled authentication."),
        (.appCanceled, 9, "appCanceled", "Authentication canceled (9) The app canceled authentication."),
        (
            .biometryLockout, 8, "biometryLockout",
            "Biometry lockout (8) Biometry is locked because there were too many failed attempts."
        ),
    ]

    @Test("the nine cases, their titles and their texts", arguments: texts)
    func text(error: BiometricError, code: Int, name: String, description: String) {
        #expect(error.rawValue == code && error.stringValue() == name)
        #expect(error.title() == "OSStatus: -\(code)")
        #expect(error.errorDescription() == description)
        #expect(BiometricError(errorCode: 802_000_000 + code) == error)
        #expect(BiometricError(errorCode: 501_000_000 + code) == nil)
        #expect(BiometricError(errorCode: code) == nil)
    }

    @Test func thereAreNine() {
        #expect(Set(BiometricError.allCases.map(\.rawValue)) == Set(Self.texts.map(\.1)))
        #expect(BiometricError(errorCode: 802_000_007) == nil)
    }

    @Test func exactlyFourAreInterruptions_afterWhichTheAppStartsOver() {
        #expect(Set(BiometricError.allCases.filter(\.isCanceled).map(\.rawValue)) == [128, 2, 4, 9])
        for error in BiometricError.allCases where error.isCanceled { #expect(error.nextStep == .mayRetry) }
    }

    @Test func nextSteps() {
        #expect(BiometricError.authFailed.nextStep == .mayRetryWithCountermeasures)
        #expect(BiometricError.param.nextStep == .askToRetry)
        #expect(BiometricError.publicKeyInconsistent.nextStep == .enrollAgain)
        #expect(BiometricError.biometryLockout.nextStep == .askUser([.unlockWithDeviceCredential, .usePassword]))
        #expect(BiometricError.duplicateItem.nextStep == .overwrite)
    }
}

struct AndroidBiometricErrorTests {
    static let password = "Do you want to change authentication mode to password?"
    static let locked =
        "Too many failed attempts! Biometry locked! You can either retry with Biometry by unlocking it with your device PIN, or "
    static let texts: [(Int, String, [PresenceStep])] = [
        (
            7, locked + "temporarily switch to authentication mode password.",
            [.unlockWithDeviceCredential, .usePassword]
        ),
        (9, locked + "switch to authentication mode password.", [.unlockWithDeviceCredential, .switchToPassword]),
        (13, "Biometry prompt was canceled. \(password)", [.retry, .switchToPassword]),
        (10, "Biometry prompt was canceled. \(password)", [.retry, .switchToPassword]),
        (5, "Biometry prompt was canceled. \(password)", [.retry, .switchToPassword]),
        (
            11,
            "Fingerprint is not configured. Do you want to enroll biometry now, or use authentication mode password?",
            [.setUpBiometry, .usePassword]
        ),
        (8, "Manufacturer specific error. \(password)", [.retry, .switchToPassword]),
    ]

    @Test("messages and the ways that they offer", arguments: texts)
    func text(code: Int, message: String, steps: [PresenceStep]) throws {
        let error = try #require(AndroidBiometricError(errorCode: 802_000_000 + code))
        #expect(error.rawValue == code && error.message == message && error.steps == steps)
    }

    @Test func codes() {
        #expect(Set(AndroidBiometricError.allCases.map(\.rawValue)) == Set(1...15).subtracting([6]))
        for error in AndroidBiometricError.allCases {
            let code = error.presenceError.errorCode
            #expect(AndroidBiometricError(errorCode: code) == error)
            #expect(AndroidBiometricError.lastTwoDigits(of: code) == error.rawValue)
            #expect(!error.steps.isEmpty)
            #expect((error.message == nil) == !Self.texts.contains { $0.0 == error.rawValue })
        }
        for code in [7, 501_000_007, 803_000_007, 802_000_099] {
            #expect(AndroidBiometricError(errorCode: code) == nil)
        }
        // Eight is a lock-out on the one platform, and a failure of the vendor's on the other.
        #expect(BiometricError(errorCode: 802_000_008) == .biometryLockout)
        #expect(AndroidBiometricError(errorCode: 802_000_008) == .vendor)
    }

    @Test("the last two digits are another code on Apple's platforms")
    func lastTwoDigits() {
        let wrong = [25293: 93, 67811: 11, 128: 28, 25299: 99]
        for (code, digits) in wrong { #expect(AndroidBiometricError.lastTwoDigits(of: 802_000_000 + code) == digits) }
        #expect(AndroidBiometricError.lastTwoDigits(of: Int.min) == 8)
    }
}
