import Cryptography
import Foundation
import JSON
import Repository
import Testing

@testable import JOSE

/// Encrypted messages (RFC 7516) to one key.
@Suite struct JWETests {
    private static func parts(_ text: String) -> [String] {
        text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    @Test("the derivation of a key has the inputs that RFC 7518 appendix C names")
    func appendixC() {
        let info = JWE.agreementInfo(
            algorithm: "A128GCM", producer: Array("Alice".utf8), consumer: Array("Bob".utf8), keyBits: 128)
        #expect(
            info == [
                0, 0, 0, 7, 65, 49, 50, 56, 71, 67, 77, 0, 0, 0, 5, 65, 108, 105, 99, 101, 0, 0, 0, 3, 66, 111, 98, 0,
                0, 0, 128,
            ])
    }

    @Test("the header has algorithms, the sender's new key and the name of the receiver's, and nothing of the content")
    func header() throws {
        let key = AgreementKey.generate()
        let text = try #require(JWE.encrypt(Array("secret".utf8), to: key.publicKey))
        let other = try #require(JWE.encrypt(Array("secret".utf8), to: key.publicKey))
        let (parts, others) = (Self.parts(text), Self.parts(other))
        #expect(parts.count == 5 && parts[1].isEmpty)
        #expect(try #require(Base64URL.decode(parts[2])).count == 12)
        #expect(try #require(Base64URL.decode(parts[4])).count == 16)
        let json = try #require(Base64URL.decode(parts[0]))
        let header = try #require(JSONValue(text: json))
        #expect(header["alg"]?.string == "ECDH-ES" && header["enc"]?.string == "A256GCM")
        #expect(header["kid"]?.string == JWK(key.publicKey).thumbprint && header["typ"]?.string == "JOSE")
        #expect(header["epk"]?["crv"]?.string == "P-256" && header["epk"]?["d"] == nil)
        for index in [0, 2, 3, 4] { #expect(parts[index] != others[index], "each message has a key of its own") }
    }

    @Test("a key on another curve gets no message")
    func otherCurve() {
        #expect(JWE.encrypt([1], to: SigningKey.generate(.eddsa).publicKey) == nil)
    }

    @Test("jwcrypto reads each message, with the holder's key alone", .timeLimit(.minutes(1)))
    func peer() throws {
        // jwcrypto takes a message without content for none.
        let plaintexts = ["{}", "äöü \u{1F98A}", String(repeating: "x", count: 2048)]
        var lines: [String] = []
        for plaintext in plaintexts {
            let (key, foreign) = (AgreementKey.generate(), AgreementKey.generate())
            let text = try #require(JWE.encrypt(Array(plaintext.utf8), to: key.publicKey))
            for key in [key, foreign] { lines.append("\(Base64URL.encode(key.pkcs8DER)) \(text)") }
        }
        let process = Process()
        process.executableURL = URL(filePath: Repository.path(".build/peers/bin/python"))
        process.arguments = ["-B", Repository.path("Tests/Unit/JOSETests/Encryption/peer.py"), "decrypt"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        input.fileHandleForWriting.write(Data(lines.map { $0 + "\n" }.joined().utf8))
        try input.fileHandleForWriting.close()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "run `.ci/setup tests`")
        let answers = String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(answers == plaintexts.flatMap { ["read \(Base64URL.encode(Array($0.utf8)))", "refused"] })
    }
}
