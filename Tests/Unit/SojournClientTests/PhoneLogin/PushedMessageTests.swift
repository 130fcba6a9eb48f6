import Cryptography
import Foundation
import JOSE
import Repository
import Testing

@testable import SojournClient
@testable import SojournTestKit

/// Encrypted messages about logins: the key, and what becomes of a message.
struct PushedMessageTests {
    private static let path = "/v1/me/encryption-key"

    private static func registered() async throws -> Phone {
        let phone = try await Phone.signedIn()
        try await phone.sojourn.registerForPushes()
        return phone
    }

    /// The key of the phone.
    private static func key(_ phone: Phone) async throws -> any DeviceKey {
        try #require(try await phone.keys.key(.encryption))
    }

    @Test("the key is made and registered once for each session, and again for the next one")
    func registration() async throws {
        let phone = try await Self.registered()
        let key = try await Self.key(phone).publicKey
        #expect(phone.wire.requests(Self.path).count == 1)
        #expect(phone.record?.session?.encryptionKey == key.thumbprint)
        try await phone.sojourn.registerForPushes()
        try await phone.other().sojourn.registerForPushes()
        #expect(phone.wire.requests(Self.path).count == 1)
        await phone.sojourn.signOut()
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.record?.session?.encryptionKey == nil)
        try await phone.sojourn.registerForPushes()
        #expect(phone.wire.requests(Self.path).count == 2)
        #expect(try await Self.key(phone).publicKey == key, "the key is of the device")
        try await phone.sojourn.unregisterFromPushes()
        #expect(phone.record?.session?.encryptionKey == nil)
        #expect(try await phone.server.message { _, _ in [:] } == nil)
    }

    @Test("a registration that is lost is made again, and one without a session is an error")
    func lostRegistration() async throws {
        let phone = try await Phone.new()
        #expect(await failure { try await phone.sojourn.registerForPushes() } == .notSignedIn)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        phone.wire.next(Wire.loseAnswer)
        #expect(await failure { try await phone.sojourn.registerForPushes() } != nil)
        #expect(phone.record?.session?.encryptionKey == nil)
        try await phone.sojourn.registerForPushes()
        #expect(phone.record?.session?.encryptionKey != nil)
    }

    @Test("a message starts its login at once: alone, in the payload of a push service, or plain")
    func started() async throws {
        let phone = try await Self.registered()
        for way in ["alone", "with a line end", "payload", "plain"] {
            let login = try await phone.server.requestLogin()
            let message = try #require(try await phone.server.message(about: login))
            let text = String(decoding: message, as: UTF8.self)
            let pushed =
                switch way {
                case "alone": message
                case "with a line end": Data((text + "\n").utf8)
                case "payload": Data(#" {"aps":{"content-available":1},"sojourn":"\#(text)"}"#.utf8)
                default: login.push
                }
            let session = try #require(try await phone.sojourn.startSession(push: pushed))
            await until("it goes on") { session.status.input == .confirmation }
            #expect(session.details?.id == login.id && session.details?.needsNumber == true, "\(way)")
            try await session.stopSession()
        }
    }

    /// A message with changed parts.
    enum Tampering: CaseIterable, Sendable {
        case header, agreement, nonce, content, tag, shorter, longer, otherAlgorithm, compressed, pointElsewhere
    }

    @Test(
        "a message that was changed in any part is refused, and nothing is sent or lost",
        arguments: Tampering.allCases)
    func tampered(tampering: Tampering) async throws {
        let phone = try await Self.registered()
        let login = try await phone.server.requestLogin()
        let message = try #require(try await phone.server.message(about: login))
        var parts = String(decoding: message, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
        func flip(_ index: Int) throws {
            var bytes = try #require(SojournClient.Base64URL.decode(parts[index]))
            bytes[bytes.count / 2] ^= 1
            parts[index] = SojournClient.Base64URL.encode(bytes)
        }
        func edit(_ body: (inout [String: JSONValue]) -> Void) throws {
            let json = try #require(SojournClient.Base64URL.decode(parts[0]))
            var members = try #require(JSONValue(parsing: json)?.members)
            body(&members)
            parts[0] = SojournClient.Base64URL.encode(JSONValue.object(members).bytes)
        }
        switch tampering {
        case .header: try edit { $0["typ"] = .string("other") }
        case .agreement: parts[1] = "AAAA"
        case .nonce: try flip(2)
        case .content: try flip(3)
        case .tag: try flip(4)
        case .shorter: parts.removeLast()
        case .longer: parts.append("AAAA")
        case .otherAlgorithm: try edit { $0["alg"] = .string("dir") }
        case .compressed: try edit { $0["zip"] = .string("DEF") }
        case .pointElsewhere:
            let other = try await SoftwareKeys.temporary().makeKey(.encryption)
            try edit { $0["epk"] = .object(other.publicKey.members) }
        }
        let (before, record) = (phone.wire.requests().count, phone.record)
        let changed = Data(parts.joined(separator: ".").utf8)
        let error = await failure { _ = try await phone.sojourn.startSession(push: changed) }
        let isForm = tampering == .shorter || tampering == .longer
        #expect(word(error) == (isForm ? "invalid_code" : "invalid_message"))
        #expect(phone.wire.requests().count == before && phone.record == record)
        let session = try #require(try await phone.sojourn.startSession(push: message))
        await until("the true message still works") { session.status.input == .confirmation }
    }

    @Test("a message of another server, for another session, of another kind, or too late is refused by its own word")
    func foreign() async throws {
        let phone = try await Self.registered()
        let login = try await phone.server.requestLogin()
        let code = try #require(JSONValue(parsing: Array(login.push))?.members?["login"])
        func content(_ edit: (inout [String: JSONValue]) -> Void) async throws -> Data {
            let message = try await phone.server.message { session, now in
                var members: [String: JSONValue] = [
                    "type": .string("login"), "iss": .string("https://sojourn.test"), "sid": .string(session),
                    "login": code, "iat": .integer(now), "exp": .integer(now + 180),
                ]
                edit(&members)
                return members
            }
            return try #require(message)
        }
        let invitation = "HTTPS://SOJOURN.TEST/E/" + String(repeating: "A", count: 26)
        let cases: [(String, (inout [String: JSONValue]) -> Void)] = [
            ("other_server", { $0["iss"] = .string("https://sojourn.test.evil") }),
            ("other_server", { $0["iss"] = nil }),
            ("other_session", { $0["sid"] = .string("another") }), ("other_session", { $0["sid"] = nil }),
            ("unknown_message", { $0["type"] = .string("enrolment") }), ("unknown_message", { $0["type"] = nil }),
            ("unknown_message", { $0["login"] = .string(invitation) }),
            ("message_expired", { $0["exp"] = $0["iat"] }), ("message_expired", { $0["exp"] = nil }),
        ]
        let before = phone.wire.requests().count
        for (expected, edit) in cases {
            let message = try await content(edit)
            let error = await failure { _ = try await phone.sojourn.startSession(push: message) }
            #expect(word(error) == expected)
        }
        #expect(phone.wire.requests().count == before)
        let message = try await content { _ in }
        phone.clock.advance(by: .seconds(179))
        #expect(try await phone.sojourn.startSession(push: message) != nil)
        phone.clock.advance(by: .seconds(1))
        #expect(word(await failure { _ = try await phone.sojourn.startSession(push: message) }) == "message_expired")
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test("a message for another key is refused, and the next registration tells the server the key of this device")
    func otherKey() async throws {
        let phone = try await Self.registered()
        let login = try await phone.server.requestLogin()
        let message = try #require(try await phone.server.message(about: login))
        // The app was restored to a new device, where the key is missing.
        try await phone.keys.deleteKey(.encryption)
        #expect(word(await failure { _ = try await phone.sojourn.startSession(push: message) }) == "other_key")
        #expect(phone.record?.session?.encryptionKey == nil)
        try await phone.sojourn.registerForPushes()
        #expect(word(await failure { _ = try await phone.sojourn.startSession(push: message) }) == "other_key")
        try await phone.sojourn.registerForPushes()
        let next = try #require(try await phone.server.message(about: login))
        #expect(try await phone.sojourn.startSession(push: next) != nil)
    }

    @Test("a message that comes before the device was unlocked is an error, and no lost registration")
    func locked() async throws {
        let phone = try await Self.registered()
        let login = try await phone.server.requestLogin()
        let message = try #require(try await phone.server.message(about: login))
        phone.keys.fail(.locked)
        #expect(await failure { _ = try await phone.sojourn.startSession(push: message) } == .locked)
        phone.keys.fail(nil)
        #expect(phone.record?.session?.encryptionKey != nil)
        #expect(try await phone.sojourn.startSession(push: message) != nil)
    }

    @Test("a message that is longer than a push service carries, or no text, is refused")
    func garbage() async throws {
        let phone = try await Self.registered()
        let login = try await phone.server.requestLogin()
        let message = try #require(try await phone.server.message(about: login))
        let padding = Data(repeating: 32, count: 4097 - message.count)
        for pushed in [Data(), Data([0xFF]), Data("a.b.c".utf8), Data("{".utf8), message + padding] {
            #expect(word(await failure { _ = try await phone.sojourn.startSession(push: pushed) }) == "invalid_code")
        }
        #expect(word(await failure { _ = try await phone.sojourn.startSession(push: Data("....".utf8)) }) != nil)
        #expect(try await phone.sojourn.startSession(push: message + padding.dropLast()) != nil)
    }

    // MARK: Other implementations

    @Test("the SDK reads what the server's module writes, byte for byte")
    func server() async throws {
        let key = try await SoftwareKeys.temporary().makeKey(.encryption)
        let receiver = try #require(VerificationKey(.p256(x: key.publicKey.x, y: key.publicKey.y ?? [])))
        for content in ["", "{}", String(repeating: "\u{1F98A}", count: 300)] {
            let text = try #require(JWE.encrypt(Array(content.utf8), to: receiver))
            #expect(try await EncryptedMessage.open(text, with: key) == Array(content.utf8))
            let other = try await SoftwareKeys.temporary().makeKey(.encryption)
            await #expect(throws: EncryptedMessage.Problem.otherKey) {
                _ = try await EncryptedMessage.open(text, with: other)
            }
        }
    }

    @Test("the key of the content is the derivation of the server's library")
    func derivation() {
        let secret = (0..<32).map { UInt8($0) }
        let info = [0, 0, 0, 7] + Array("A256GCM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
        #expect(EncryptedMessage.contentKey(secret) == concatKDF(secret: secret, info: info, count: 32))
    }

    @Test("the SDK reads what jwcrypto writes", .timeLimit(.minutes(1)))
    func peer() async throws {
        let key = try await SoftwareKeys.temporary().makeKey(.encryption)
        let contents = ["", "{}", "äöü", String(repeating: "x", count: 2000)]
        let name = SojournClient.Base64URL.encode(Array(key.publicKey.json.utf8))
        let lines = contents.map { "\(name) \(SojournClient.Base64URL.encode(Array($0.utf8)))\n" }.joined()
        let process = Process()
        process.executableURL = URL(filePath: Repository.path(".build/peers/bin/python"))
        process.arguments = ["-B", Repository.path("Tests/Unit/JOSETests/Encryption/peer.py"), "encrypt"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        input.fileHandleForWriting.write(Data(lines.utf8))
        try input.fileHandleForWriting.close()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "run `.ci/setup tests`")
        let texts = String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(texts.count == contents.count)
        for (text, content) in zip(texts, contents) {
            #expect(try await EncryptedMessage.open(text, with: key) == Array(content.utf8))
        }
    }
}
