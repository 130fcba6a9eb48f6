import Cryptography
import Foundation
import Testing

@testable import SojournClient
@testable import SojournTestKit

struct KeyringTests {
    private let folder = TemporaryFolder()
    private var keys: SoftwareKeys { SoftwareKeys(directory: folder.url) }

    /// Whether the key signs what its public half verifies.
    private static func isGood(_ key: any DeviceKey) async throws -> Bool {
        let coordinates: VerificationKey.Coordinates =
            key.publicKey.curve == .p256
            ? .p256(x: key.publicKey.x, y: key.publicKey.y ?? []) : .ed25519(x: key.publicKey.x)
        let verifier = try #require(VerificationKey(coordinates))
        return verifier.isValidSignature(try await key.sign([1, 2, 3]), for: [1, 2, 3])
    }

    @Test("a key is made once, kept for its owner alone, and there after a new start")
    func files() async throws {
        #expect(try await keys.key(.device) == nil)
        let key = try await keys.makeKey(.device)
        #expect(try await Self.isGood(key))
        #expect(try folder.permissions() == 0o700)
        #expect(try folder.permissions("device.p8") == 0o600)
        #expect(try await keys.makeKey(.device).publicKey == key.publicKey)
        #expect(try await keys.key(.device)?.publicKey == key.publicKey)
        #expect(try await keys.key(.presence) == nil)
        #expect(try await keys.makeKey(.presence).publicKey != key.publicKey)
        try await keys.deleteKey(.device)
        #expect(try await keys.key(.device) == nil)
        try await keys.deleteKey(.device)
    }

    @Test("keys of two keyrings agree on one secret, and on none with a point that is not on the curve")
    func agreement() async throws {
        let (one, two) = (try await keys.makeKey(.encryption), try await FakeKeychain().keys().makeKey(.encryption))
        let secret = try await one.agree(with: two.publicKey)
        #expect(secret.count == 32)
        #expect(try await two.agree(with: one.publicKey) == secret)
        #expect(try await keys.key(.encryption)?.agree(with: two.publicKey) == secret, "after a new start")
        var elsewhere = two.publicKey
        elsewhere.x[0] ^= 1
        await #expect(throws: KeyError.self) { _ = try await one.agree(with: elsewhere) }
    }

    @Test("tasks that make a key at the same time get the same key")
    func race() async throws {
        let keyrings: [any DeviceKeyring] = [keys, SoftwareKeys.temporary(), FakeKeychain().keys()]
        for keyring in keyrings {
            let made = try await withThrowingTaskGroup(of: PublicJWK.self) { group in
                for _ in 0..<8 { group.addTask { try await keyring.makeKey(.device).publicKey } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(made.count == 1)
        }
    }

    @Test("bytes that are no key are an error and no missing key; a login sets them aside and keeps them")
    func corrupted() async throws {
        for bytes in [[], [1, 2, 3], Array(SigningKey.generate(.es256).pkcs8DER.dropLast())] {
            let folder = TemporaryFolder()
            let keys = SoftwareKeys(directory: folder.url)
            try folder.put(bytes, "device.p8")
            await #expect { _ = try await keys.key(.device) } throws: { error in
                if case KeyError.corrupted = error { true } else { false }
            }
            #expect(folder.content("device.p8") == bytes)
            let key = try await keys.makeKey(.device)
            #expect(try await Self.isGood(key))
            let aside = try #require(folder.names.first { $0.hasPrefix("device.p8.unreadable-") })
            #expect(folder.content(aside) == bytes)
        }
    }

    @Test("a key on Ed25519 that an operator has put there is used")
    func ed25519() async throws {
        try folder.put(SigningKey.generate(.eddsa).pkcs8DER, "device.p8")
        let key = try #require(try await keys.key(.device))
        #expect(key.publicKey.curve == .ed25519)
        #expect(try await Self.isGood(key))
    }

    @Test("a name that leaves the folder is refused", arguments: ["", "../device", ".hidden", "a/b", "a b", "ä"])
    func names(name: String) async throws {
        await #expect(throws: KeyError.self) { _ = try await keys.makeKey(KeyName(rawValue: name)) }
        await #expect(throws: KeyError.self) { _ = try await keys.key(KeyName(rawValue: name)) }
    }

    @Test("no failure of the files is a missing key")
    func failures() async throws {
        try folder.put([1], "file")
        let below = SoftwareKeys(directory: folder.file("file"))
        await #expect(throws: KeyError.failed(ENOTDIR, "open")) { _ = try await below.key(.device) }
        await #expect(throws: KeyError.self) { _ = try await below.makeKey(.device) }
    }

    @Test("no condition of the Keychain loses or replaces a key", arguments: KeychainStoreTests.conditions.indices)
    func keychain(index: Int) async throws {
        let keychain = FakeKeychain()
        let keys = keychain.keys()
        let key = try await keys.makeKey(.device).publicKey
        let condition = KeychainStoreTests.conditions[index].condition
        keychain.condition = condition

        await #expect(throws: KeyError.self) { _ = try await keys.key(.device) }
        await #expect(throws: KeyError.self) { try await keys.deleteKey(.device) }
        // Only a login makes keys. It replaces what the Keychain can neither decrypt nor rename.
        if condition != .undecodable {
            await #expect(throws: KeyError.self) { _ = try await keys.makeKey(.device) }
        }
        #expect(keychain.itemCount == 1)
        #expect(keychain.deletionCount == 0)
        keychain.condition = .unlocked
        #expect(try await keys.key(.device)?.publicKey == key)
        #expect(try await keys.makeKey(.device).publicKey == key)
    }

    @Test(
        "no condition of an empty Keychain makes a key that is not kept",
        arguments: KeychainStoreTests.conditions.indices)
    func emptyKeychain(index: Int) async throws {
        let keychain = FakeKeychain()
        let condition = KeychainStoreTests.conditions[index].condition
        guard condition != .undecodable else { return }
        keychain.condition = condition
        await #expect(throws: KeyError.self) { _ = try await keychain.keys().key(.device) }
        await #expect(throws: KeyError.self) { _ = try await keychain.keys().makeKey(.device) }
        keychain.condition = .unlocked
        #expect(try await keychain.keys().key(.device) == nil)
        let key = try await keychain.keys().makeKey(.device)
        #expect(try await Self.isGood(key))
    }

    @Test("a key without its private part in the item is corrupted, and set aside by a login")
    func keychainCorrupted() async throws {
        let keychain = FakeKeychain()
        keychain.put(KeychainContent(data: [1], version: [1]), account: "test#device")
        await #expect { _ = try await keychain.keys().key(.device) } throws: { error in
            if case KeyError.corrupted = error { true } else { false }
        }
        _ = try await keychain.keys().makeKey(.device)
        #expect(keychain.accounts.contains { $0.hasPrefix("test#device.unreadable-") })
    }
}
