import Cryptography
import Sessions
import Testing
import WebAuthn
import WebAuthnFixture

@testable import Transfer
@testable import sojourn

/// Passkeys move with their users.
@Suite("Export and import: passkeys", .timeLimit(.minutes(5)))
struct TransferPasskeyTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    @Test("passkeys move with every member, and are left out after their removal")
    func roundTrip() async throws {
        try await transfer.withRoute { first, postgres, last in
            let user = try await first.createUser("ada")
            let key = try COSEKey(SoftAuthenticator.coseKey(SigningKey.generate(.eddsa).publicKey))
            let passkeys = [
                Passkey(
                    id: [1, 2], userID: user.id, rpID: "example.org", publicKey: key, signCount: 7,
                    isBackupEligible: true, isBackedUp: true, isUserVerified: true, transports: ["internal", "usb"],
                    aaguid: [UInt8](repeating: 3, count: 16), name: "Key", createdAt: user.createdAt,
                    lastUsedAt: user.createdAt + .seconds(1)),
                Passkey(
                    id: [3], userID: user.id, rpID: "example.org", publicKey: key, signCount: 0,
                    isBackupEligible: false, isBackedUp: false, isUserVerified: false, transports: [], aaguid: nil,
                    name: "Plain", createdAt: user.createdAt),
            ]
            #expect(try await first.store.importPasskeys(passkeys, .replacing) == [.written, .written])
            let text = try await first.export(to: transfer.folder)
            #expect(text.contains(#""type":"passkey""#))
            for stage in [postgres, last] {
                #expect(try await stage.load(transfer.folder).refused.isEmpty)
                #expect(try await stage.store.passkeys(of: user.id) == passkeys)
            }
            try await last.administration.removePasskey([3], of: .id(user.id), by: .system)
            #expect(try await last.load(transfer.folder).refused.isEmpty)
            #expect(try await last.store.passkeys(of: user.id) == [passkeys[0]])
        }
    }

    @Test(
        "a line that is no passkey is refused with its reason",
        arguments: [
            (#""id":"","public_key":"oA","sign_count":0"#, "'id'"),
            (#""id":"AQ","public_key":"oA","sign_count":0"#, "'public_key'"),
        ])
    func refused(_ members: String, _ word: String) async throws {
        try await transfer.withRoute { first, _, _ in
            let user = try await first.createUser("ada")
            transfer.folder.write(
                "mine.jsonl",
                #"{"type":"passkey",\#(members),"user_id":"\#(user.id)","rp_id":"a.b","name":"x","created_at":1}"#)
            let (_, refused) = try await first.load(transfer.folder, "mine.jsonl")
            #expect(refused.count == 1 && refused[0].contains(word))
        }
    }
}
