import Foundation
import SojournTestKit
import Testing

@testable import SojournClient

/// The PIN of the app on the device: what is sent, and what is stored.
struct PINFactorTests {
    private static let required: TestLoginRequest = {
        var request = TestLoginRequest()
        request.secondFactor = "required"
        return request
    }()

    private static func mac(
        of pin: String, by key: any DeviceKey, _ iterations: Int = 10, client: String = "mobile", user: String = "u",
        device: String = "d"
    ) async throws -> [UInt8]? {
        try await PINMaker(iterations: iterations).mac(of: pin, by: key, client: client, user: user, device: device)
    }

    /// The body of the last request to that path.
    private static func body(_ phone: Phone, _ path: String) throws -> [String: JSONValue] {
        let request = try #require(phone.wire.requests(path).last)
        return try #require(JSONValue(parsing: request.body)?.members)
    }

    @Test(
        "the MAC is HMAC by the agreed secret over the PIN, stretched with a salt that names the place"
    )
    func recipe() async throws {
        let key = try await SoftwareKeys.temporary().makeKey(.pin)
        let place = Array("sojourn pin\nmobile\nu\nd\n".utf8)
        let stretched = try #require(
            SmallCrypto.stretch(Array("1234".utf8), salt: SmallCrypto.sha256(place), iterations: 10))
        let secret = try await key.agree(with: key.publicKey)
        #expect(
            try await Self.mac(of: "1234", by: key)
                == SmallCrypto.hmacSHA256(key: secret, message: place + stretched))
        #expect(PINMaker.iterations >= 600_000)
        // RFC 7914 section 11.
        let known = SmallCrypto.stretch(Array("passwd".utf8), salt: Array("salt".utf8), iterations: 1)
        #expect(known?.prefix(8) == [0x55, 0xAC, 0x04, 0x6E, 0x56, 0xE3, 0x08, 0x9F])
    }

    @Test(
        "another PIN, key, client, user, device or number of rounds makes another MAC; a text that is no PIN makes none"
    )
    func differs() async throws {
        let keys = SoftwareKeys.temporary()
        let (key, other) = (try await keys.makeKey(.pin), try await SoftwareKeys.temporary().makeKey(.pin))
        let macs = [
            try await Self.mac(of: "1234", by: key), try await Self.mac(of: "1235", by: key),
            try await Self.mac(of: "1234", by: other), try await Self.mac(of: "1234", by: key, 11),
            try await Self.mac(of: "1234", by: key, client: "x"), try await Self.mac(of: "1234", by: key, user: "x"),
            try await Self.mac(of: "1234", by: key, device: "x"),
        ]
        #expect(Set(macs.compactMap(\.self)).count == macs.count)
        for pin in ["", "123", "👨‍👩‍👧‍👦12", String(repeating: "1", count: 129)] {
            #expect(try await Self.mac(of: pin, by: key) == nil, "\(pin)")
        }
        #expect(try await Self.mac(of: "１２３４", by: key) == macs[0], "digits are digits, in every script")
        #expect(try await Self.mac(of: "zo\u{EB}!", by: key) == Self.mac(of: "zoe\u{308}!", by: key))
    }

    @Test("the device stores nothing of a PIN: setting, using and missing it leaves the record as it is")
    func storesNothing() async throws {
        let phone = try await Phone.signedIn()
        let before = try #require(phone.record)
        try await phone.sojourn.setPIN("8251", password: "pw")
        let (session, login) = try await phone.scanned(Self.required)
        try await session.confirm(number: 42)
        #expect(word(await failure { try await session.enterSecondFactor(pin: "9999") }) == "wrong_pin")
        try await session.enterSecondFactor(pin: "8251")
        #expect(session.status == LoginStatus(.active))
        #expect(phone.record == before)

        let sent = try #require(try Self.body(phone, "/v1/me/logins/\(login.id)/second-factor").text("pin"))
        #expect(try Self.body(phone, "/v1/me/pin").text("pin") == sent)
        #expect(Base64URL.decode(sent)?.count == 32 && !sent.contains("8251"))
        let whole = phone.wire.requests().map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(!whole.contains("8251") && !whole.contains("9999"))
        // What is stored cannot make what the server compares: only the key can.
        let thief = SoftwareKeys.temporary()
        let forged = try await Self.mac(
            of: "8251", by: try await thief.makeKey(.pin), user: before.session?.account.userID ?? "",
            device: before.deviceID)
        #expect(forged.map { Base64URL.encode($0) } != sent)
    }

    @Test("each attempt has its result: a wrong PIN leaves tries, a locked one asks for another factor")
    func results() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        try await phone.sojourn.setPIN("1234", reason: "Set the PIN?")
        #expect(phone.gate.calls.last == .prompt("Set the PIN?") && phone.gate.openCount == 1)
        let (session, _) = try await phone.scanned(Self.required)
        let recorder = SessionRecorder(session)
        try await session.confirm(number: 42)
        for expected in ["wrong_pin", "wrong_pin", "pin_locked"] {
            #expect(word(await failure { try await session.enterSecondFactor(pin: "0000") }) == expected)
        }
        #expect(word(await failure { try await session.enterSecondFactor(pin: "12") }) == "invalid_pin")
        try await session.enterSecondFactor()
        #expect(session.status == LoginStatus(.active))
        await until("all is told") { recorder.words.last == "ACTIVE FAIL" }
        #expect(
            recorder.results == [
                "factor FAILED 2, VERIFY, expects input: true", "factor FAILED 1, VERIFY, expects input: true",
                "factor refused pin_locked, VERIFY, expects input: true",
                "factor refused not_sent, VERIFY, expects input: true", "factor SUCCESS, VERIFY, expects input: false",
            ])
        #expect(try await phone.sojourn.pinStatus()?.attemptsLeft == 3, "biometry opens the PIN again")
    }

    @Test("a cancelled prompt sets no PIN, and a forgotten device has no key for one")
    func keys() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        phone.gate.next(.code(2))
        guard case .presence? = await failure({ try await phone.sojourn.setPIN("1234") }) else {
            Issue.record("the prompt was cancelled")
            return
        }
        #expect(phone.wire.requests("/v1/me/pin").isEmpty)
        try await phone.sojourn.setPIN("1234", password: "pw")
        #expect(try await phone.keys.key(.pin) != nil)
        try await phone.sojourn.forgetDevice()
        #expect(try await phone.keys.key(.pin) == nil)
    }
}
