import SojournClient
import Testing

/// The tables of codes, kinds and next steps.
struct PresenceTableTests {
    typealias Kind = PresenceError.Kind

    static let apple: [(Int, Kind)] = [
        (128, .cancelled), (2, .cancelled), (4, .cancelled), (9, .cancelled), (1004, .cancelled),
        (50, .notRecognized), (10, .notRecognized), (25293, .possibleAttack), (1, .possibleAttack), (8, .lockedOut),
        (7, .notSetUp), (5, .notSetUp), (67811, .enrollmentChanged), (25300, .enrollmentChanged), (6, .unsupported),
        (25299, .duplicate), (3, .unknown(3)), (0, .unknown(0)), (25308, .unknown(25308)),
    ]
    static let android: [(Int, Kind)] = [
        (5, .cancelled), (10, .cancelled), (13, .cancelled), (2, .notRecognized), (3, .notRecognized),
        (4, .notRecognized), (8, .notRecognized), (7, .lockedOut), (9, .lockedOutForGood), (11, .notSetUp),
        (14, .notSetUp), (1, .notSetUp), (15, .notSetUp), (12, .unsupported), (67811, .enrollmentChanged),
        (6, .unknown(6)), (20, .unknown(20)), (21, .unknown(21)),
    ]
    static let steps: [(Kind, PresenceAdvice)] = [
        (.cancelled, .mayRetry), (.notRecognized, .askToRetry), (.possibleAttack, .mayRetryWithCountermeasures),
        (.lockedOut, .askUser([.unlockWithDeviceCredential, .usePassword])),
        (.lockedOutForGood, .askUser([.unlockWithDeviceCredential, .switchToPassword])),
        (.notSetUp, .askUser([.setUpBiometry, .usePassword])), (.enrollmentChanged, .enrollAgain),
        (.unsupported, .disableBiometry), (.duplicate, .overwrite), (.unknown(99), .askUser([.retry, .usePassword])),
    ]

    @Test("codes of Apple's platforms", arguments: apple)
    func appleCode(code: Int, kind: Kind) {
        #expect(PresenceError(.apple, code: code).kind == kind)
        #expect(PresenceError(.apple, code: -code).kind == kind)
    }

    @Test("codes of Android", arguments: android)
    func androidCode(code: Int, kind: Kind) { #expect(PresenceError(.android, code: code).kind == kind) }

    @Test("the next step after each kind", arguments: steps)
    func step(kind: Kind, advice: PresenceAdvice) {
        #expect(kind.advice() == advice)
        #expect(!advice.steps.isEmpty)
    }

    @Test("each code of each table is in the tests above", arguments: BiometryPlatform.allCases)
    func complete(platform: BiometryPlatform) {
        let known = (0..<100_000).filter {
            if case .unknown = PresenceError(platform, code: $0).kind { false } else { true }
        }
        let tested = (platform == .apple ? Self.apple : Self.android).filter {
            if case .unknown = $0.1 { false } else { true }
        }
        #expect(Set(known) == Set(tested.map(\.0)))
    }

    @Test("failures in a row ask the user, interruptions do not")
    func inARow() {
        for kind in [Kind.notRecognized, .possibleAttack, .unknown(1)] {
            #expect(kind.advice(after: 3) == .askUser([.retry, .usePassword, .unlockWithDeviceCredential]))
            #expect(kind.advice(after: 2) == kind.advice())
            #expect(kind.advice(after: 2, limit: 2) == kind.advice(after: 3))
            #expect(kind.advice(after: 3, hasDeviceCredential: false) == .askUser([.retry, .usePassword]))
        }
        #expect(Kind.cancelled.advice(after: 9) == .mayRetry)
        #expect(Kind.lockedOut.advice(after: 9) == Kind.lockedOut.advice())
        #expect(Kind.lockedOut.advice(hasDeviceCredential: false) == .askUser([.usePassword]))
    }

    @Test("a number of nine digits is the code behind 802")
    func numbers() {
        for platform in BiometryPlatform.allCases {
            #expect(PresenceError(platform, code: 7).errorCode == 802_000_007)
            #expect(PresenceError(platform, errorCode: 802_000_007)?.code == 7)
            for other in [7, 501_000_007, 801_999_999, 803_000_000, -802_000_007, Int.min, Int.max] {
                #expect(PresenceError(platform, errorCode: other) == nil)
            }
        }
        for code in [25293, 67811, 128, 25299, 25300] {
            #expect(PresenceError(.apple, errorCode: 802_000_000 + code)?.code == code)
            // The last two digits are another code.
            #expect(code % 100 != code && PresenceError(.apple, code: code).errorCode % 100 == code % 100)
        }
        for code in 1...15 { #expect(PresenceError(.android, code: code).errorCode % 100 == code) }
    }

    @Test("every code, however odd, has a kind", arguments: [Int.min, Int.max, -4711, 0, 1_000_000, 999_999])
    func odd(code: Int) {
        let error = PresenceError(.apple, code: code)
        #expect(error.kind == .unknown(error.code))
        #expect((802_000_000...802_999_999).contains(error.errorCode))
    }
}
