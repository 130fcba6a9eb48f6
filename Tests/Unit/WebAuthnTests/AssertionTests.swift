import Cryptography
import JSON
import Testing
import WebAuthn
import WebAuthnFixture

/// An assertion that is right but for one thing, and what is said of it.
struct WrongAssertion: Sendable, CustomTestStringConvertible {
    let name: String
    let error: WebAuthnError
    let edit: @Sendable (inout SoftAuthenticator) -> Void
    var testDescription: String { name }

    init(_ name: String, _ error: WebAuthnError, _ edit: @escaping @Sendable (inout SoftAuthenticator) -> Void) {
        (self.name, self.error, self.edit) = (name, error, edit)
    }

    static let all = [
        WrongAssertion("type", .wrongType) { $0.type = "webauthn.create" },
        WrongAssertion("origin", .wrongOrigin) { $0.origin = "http://example.org" },
        WrongAssertion("crossOrigin", .crossOrigin) { $0.moreClientData = #","crossOrigin":true"# },
        WrongAssertion("RP ID", .wrongRelyingParty) { $0.rpID = "www.example.org" },
        WrongAssertion("not present", .userNotPresent) { $0.flags = 0x0C },
        WrongAssertion("not verified", .userNotVerified) { $0.flags = 0x09 },
        WrongAssertion("backed up but not eligible", .backupContradiction) { $0.flags = 0x15 },
        WrongAssertion("trailing bytes", .malformedAuthenticatorData) { $0.trailer = [0] },
        WrongAssertion("another user", .wrongUser) { $0.userHandle = [2] },
        WrongAssertion("no user", .wrongUser) { $0.userHandle = nil },
        WrongAssertion("another credential", .credentialIDMismatch) { $0.credentialID = [1, 2] },
        WrongAssertion("another key", .wrongSignature) { $0.key = SigningKey.generate(.es256) },
        WrongAssertion("a key of another kind", .wrongSignature) { $0.key = SigningKey.generate(.eddsa) },
        WrongAssertion("no signature", .wrongSignature) { $0.editSignature = { _ in [] } },
        WrongAssertion("a longer signature", .wrongSignature) { $0.editSignature = { $0 + [0] } },
        WrongAssertion("a shorter signature", .wrongSignature) { $0.editSignature = { $0.dropLast() } },
        WrongAssertion("a signature of another encoding", .wrongSignature) {
            // A length in two bytes, as BER allows and DER does not.
            $0.editSignature = { [0x30, 0x81] + $0.dropFirst() }
        },
        WrongAssertion("a signature of r and s", .wrongSignature) {
            $0.editSignature = { _ in .init(repeating: 1, count: 64) }
        },
        WrongAssertion("a signature of 1025 bytes", .tooLong) {
            $0.editSignature = { _ in .init(repeating: 0x30, count: 1025) }
        },
    ]
}

/// Assertions, each wrong in one place, and those that are odd.
@Suite struct AssertionTests {
    static let challenge = RegistrationTests.challenge

    private func stored(_ authenticator: SoftAuthenticator) throws -> StoredCredential {
        StoredCredential(
            id: authenticator.credentialID, userHandle: [1],
            publicKey: try COSEKey(SoftAuthenticator.coseKey(authenticator.key.publicKey)))
    }

    private func authenticate(
        _ authenticator: SoftAuthenticator, _ credential: StoredCredential
    ) throws -> AssertionOutcome {
        try RegistrationTests.site.authenticate(
            AssertionResponse(authenticator.assert(Self.challenge)), challenge: Self.challenge, credential: credential)
    }

    @Test("a right assertion is accepted", arguments: [SignatureAlgorithm.es256, .eddsa])
    func right(_ algorithm: SignatureAlgorithm) throws {
        var authenticator = SoftAuthenticator(algorithm, userHandle: [1])
        authenticator.signCount = 5
        let outcome = try authenticate(authenticator, try stored(authenticator))
        #expect(outcome.signCount == 5)
        #expect(outcome.isBackupEligible && outcome.isBackedUp && outcome.isUserVerified)
        #expect(outcome.oddities(afterCount: 4, isBackupEligible: true) == [])
    }

    @Test("a wrong assertion is refused for what is wrong", arguments: WrongAssertion.all)
    func wrong(_ wrong: WrongAssertion) throws {
        var authenticator = SoftAuthenticator(userHandle: [1])
        let credential = try stored(authenticator)
        wrong.edit(&authenticator)
        #expect(throws: wrong.error) { try authenticate(authenticator, credential) }
    }

    @Test("another challenge is refused") func challenge() throws {
        let authenticator = SoftAuthenticator(userHandle: [1])
        let response = try AssertionResponse(authenticator.assert(Self.challenge))
        #expect(throws: WebAuthnError.wrongChallenge) {
            try RegistrationTests.site.authenticate(
                response, challenge: [1], credential: try stored(authenticator))
        }
    }

    @Test(
        "a counter that does not grow is accepted and named",
        arguments: [(0, 0, false), (0, 1, false), (1, 2, false), (1, 1, true), (2, 1, true), (1, 0, true)])
    func counter(_ stored: UInt32, _ sent: UInt32, _ isOdd: Bool) throws {
        var authenticator = SoftAuthenticator(userHandle: [1])
        authenticator.signCount = sent
        let outcome = try authenticate(authenticator, try self.stored(authenticator))
        #expect(outcome.oddities(afterCount: stored, isBackupEligible: true) == (isOdd ? [.counter] : []))
        #expect(outcome.signCount == sent)
    }

    @Test("a backup eligibility that flips is accepted, kept and named", arguments: [true, false])
    func backup(_ wasEligible: Bool) throws {
        var authenticator = SoftAuthenticator(userHandle: [1])
        authenticator.flags = wasEligible ? SoftAuthenticator.deviceBound : SoftAuthenticator.synced
        let outcome = try authenticate(authenticator, try stored(authenticator))
        #expect(outcome.oddities(afterCount: 0, isBackupEligible: wasEligible) == [.backup])
        #expect(outcome.isBackupEligible == !wasEligible)
    }

    @Test("a byte order mark before the client data is no part of it") func byteOrderMark() throws {
        let authenticator = SoftAuthenticator(userHandle: [1])
        let json = [0xEF, 0xBB, 0xBF] + authenticator.clientData("webauthn.get", [1, 2])
        #expect(try ClientData(json).origin == authenticator.origin)
        #expect(throws: WebAuthnError.malformedClientData) { try ClientData([0xEF, 0xBB, 0xBF] + json) }
    }

    @Test("without a required user handle, none or the right one is accepted") func userHandle() throws {
        for (handle, isAccepted) in [([1], true), (nil, true), ([2], false)] as [([UInt8]?, Bool)] {
            let authenticator = SoftAuthenticator(userHandle: handle)
            let response = try AssertionResponse(authenticator.assert(Self.challenge))
            let outcome = try? RegistrationTests.site.authenticate(
                response, challenge: Self.challenge, credential: try stored(authenticator), requiresUserHandle: false)
            #expect((outcome != nil) == isAccepted)
        }
    }

    @Test("every refusal has a sentence of its own") func sentences() {
        #expect(Set(WebAuthnError.allCases.map(\.sentence)).count == WebAuthnError.allCases.count)
        #expect(WebAuthnError.allCases.allSatisfy { $0.sentence.hasSuffix(".") })
    }
}
