import FoundationEssentials
import Foundation
import Repository
import Testing
import WebAuthn

/// Ceremonies that are right, wrong in one place or mutated, for this server and two libraries of other people. They agree on
/// what to accept, but for the differences that are listed with their reasons.
@Suite struct PeerComparisonTests {
    private struct Said: Decodable {
        let webauthn: String
        let fido2: String
    }

    /// What this server refuses and a peer may accept, by our refusal. What is not here is refused by all three, and there is
    /// nothing that this server accepts and a peer refuses.
    private static let stricter: [WebAuthnError: String] = [
        .malformedCBOR: "both decode longer forms of numbers, floats, tags and keys that come twice",
        .malformedKey: "both look at a key when it is used, and not at the registration",
        .malformedAttestation:
            "fido2 does not look at statements that it does not verify; webauthn ignores more members",
        .malformedAuthenticatorData: "both take extensions that are no map",
        .malformedClientData: "both ignore the types of crossOrigin and topOrigin",
        .malformedResponse: "fido2 takes a credential without an id",
        .credentialIDMismatch: "both leave it to the caller to compare the credential ID with that of the key",
        .tooLong: "both take a credential ID of more than 1023 bytes",
        .crossOrigin: "both leave frames to the caller",
        .wrongOrigin: "fido2 compares the host of the origin alone, without what follows it",
        .wrongUser: "both leave the user handle to the caller",
        .backupContradiction: "fido2 leaves the flags to the caller",
    ]

    @Test("a few hundred ceremonies are accepted or refused as webauthn and fido2 do", .timeLimit(.minutes(1)))
    func comparison() throws {
        let cases = DifferentialCase.all(seed: 20_261_125, count: Lane.rounds(push: 150, full: 2000))
        let said = try Self.ask(cases)
        #expect(said.count == cases.count)
        var agreed = 0
        for (one, peers) in zip(cases, said) {
            for (peer, word) in [("webauthn", peers.webauthn), ("fido2", peers.fido2)] {
                switch (one.refusal, word.isEmpty) {
                case (nil, true), (_?, false): agreed += 1
                case (let refusal?, true):
                    #expect(Self.stricter[refusal] != nil, "\(one.name): \(refusal), \(peer) accepts \(one.line)")
                case (nil, false): Issue.record("\(one.name): \(peer) refuses, \(word): \(one.line)")
                }
            }
        }
        #expect(agreed > cases.count)
        // A comparison in which everything is refused compares nothing.
        #expect(cases.count { $0.refusal == nil } > 20)
        #expect(Set(cases.compactMap(\.refusal)).count > 12)
    }

    private static func ask(_ cases: [DifferentialCase]) throws -> [Said] {
        let process = Process()
        process.executableURL = URL(filePath: Repository.path(".build/peers/bin/python"))
        process.arguments = ["-B", Repository.path("Tests/Unit/WebAuthnTests/Differential/peers.py")]
        let folder = FileManager.default.temporaryDirectory.appending(path: "webauthn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(cases.map { $0.line + "\n" }.joined().utf8).write(to: input)
        try Data().write(to: output)
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "run `.ci/setup tests`")
        return try Data(contentsOf: output).split(separator: 10).map { try JSONDecoder().decode(Said.self, from: $0) }
    }
}
