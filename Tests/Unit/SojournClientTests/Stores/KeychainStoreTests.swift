import Testing

@testable import SojournClient
@testable import SojournTestKit

struct KeychainStoreTests {
    private let keychain = FakeKeychain()
    private var store: KeychainStore { keychain.store() }

    /// Each condition, with the error of a read.
    static let conditions: [(condition: FakeKeychain.Condition, error: StoreError)] = [
        (.locked, .locked),
        (.beforeFirstUnlock, .locked),
        (.unsigned, .denied(-34018)),
        (.undecodable, .corrupted("the Keychain cannot decrypt the item")),
        (.failing(-25243), .denied(-25243)),
        (.failing(-25291), .failed(-25291, "read")),
        (.failing(-25293), .failed(-25293, "read")),
        (.failing(-50), .failed(-50, "read")),
        (.failing(-128), .failed(-128, "read")),
    ]

    @Test("a swap writes only over the version that was read")
    func swap() async throws {
        #expect(try await store.load() == nil)
        #expect(try await store.replace(nil, with: nil))
        #expect(try await store.replace(RecordVersion([1]), with: SessionRecord.bytes(1)) == false)
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        let first = try #require(try await store.load())
        #expect(first.bytes == SessionRecord.bytes(1))
        #expect(try await store.replace(nil, with: nil) == false)
        #expect(try await store.replace(nil, with: SessionRecord.bytes(2)) == false)
        // The same bytes are another version: a swap in between is noticed.
        #expect(try await store.replace(first.version, with: SessionRecord.bytes(1)))
        #expect(try await store.replace(first.version, with: SessionRecord.bytes(2)) == false)
        #expect(try await store.replace(first.version, with: nil) == false)
        let second = try #require(try await store.load())
        #expect(try await store.replace(second.version, with: nil))
        #expect(try await store.load() == nil)
    }

    @Test("one of many simultaneous swaps wins")
    func race() async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(0)))
        for _ in 0..<4 {
            let version = try #require(try await store.load()).version
            let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...16 {
                    let store = keychain.store()
                    group.addTask { try await store.replace(version, with: SessionRecord.bytes(Int64(number))) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(winners == 1)
        }
    }

    @Test("no condition reads as nothing, changes anything, or outlives itself", arguments: conditions.indices)
    func matrix(index: Int) async throws {
        let (condition, error) = Self.conditions[index]
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        let stored = try #require(try await store.load())
        let before = keychain.content()
        keychain.condition = condition

        await #expect(throws: error) { try await store.load() }
        await #expect(throws: error) { try await store.replace(nil, with: nil) }
        if condition != .undecodable {
            // "Not found" at a swap says that another version is there. The read that follows tells.
            let isAnswered = condition == .beforeFirstUnlock
            for bytes in [SessionRecord.bytes(2), nil] {
                do {
                    #expect(try await store.replace(stored.version, with: bytes) == false)
                    #expect(isAnswered)
                } catch { #expect(!isAnswered && Self.isSameKind(error, Self.conditions[index].error)) }
            }
            await #expect(throws: StoreError.self) { try await store.replace(nil, with: SessionRecord.bytes(2)) }
            // Before the first unlock nothing is found, so that nothing is set aside.
            if condition == .beforeFirstUnlock {
                try await store.setAside()
            } else {
                await #expect(throws: error) { try await store.setAside() }
            }
        }
        #expect(keychain.content() == before)
        #expect(keychain.deletionCount == 0)

        keychain.condition = .unlocked
        #expect(try await store.load() == stored)
        #expect(try await store.replace(stored.version, with: SessionRecord.bytes(2)))
    }

    private static func isSameKind(_ one: StoreError, _ other: StoreError) -> Bool {
        switch (one, other) {
        case (.failed(let one, _), .failed(let other, _)): one == other
        default: one == other
        }
    }

    @Test("an empty Keychain is nothing only if an item can be added", arguments: conditions.indices)
    func canary(index: Int) async throws {
        let (condition, error) = Self.conditions[index]
        keychain.condition = condition
        if condition == .undecodable {
            #expect(try await store.load() == nil)
        } else {
            await #expect(throws: error) { try await store.load() }
        }
        keychain.condition = .unlocked
        #expect(try await store.load() == nil)
        #expect(try await store.load() == nil)
        #expect(keychain.itemCount == 0)
    }

    @Test("an item that is no record is kept under another name")
    func unreadable() async throws {
        for content in [
            KeychainContent(data: [1, 2], version: [1]), KeychainContent(data: SessionRecord.bytes(1), version: []),
            KeychainContent(data: [], version: [3]),
        ] {
            let keychain = FakeKeychain()
            let store = keychain.store()
            keychain.put(content)
            await #expect { try await store.load() } throws: { error in
                if case StoreError.corrupted = error { true } else { false }
            }
            #expect(try await store.replace(nil, with: SessionRecord.bytes(2)) == false)
            try await store.setAside()
            #expect(try await store.load() == nil)
            let aside = try #require(keychain.accounts.first { $0.hasPrefix("test.unreadable-") })
            #expect(keychain.content(account: aside) == content)
            #expect(try await store.replace(nil, with: SessionRecord.bytes(2)))
            try await store.setAside()
            #expect(try await store.load()?.bytes == SessionRecord.bytes(2))
        }
    }

    @Test("an item that can neither be decrypted nor renamed does not prevent a login")
    func undecodable() async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        keychain.condition = .undecodable
        try await store.setAside()
        #expect(try await store.load() == nil)
        #expect(try await store.replace(nil, with: SessionRecord.bytes(2)))
    }

    @Test("a write that fails now and then changes nothing, and the next one succeeds")
    func failingWrites() async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(0)))
        keychain.failWrites(every: 2)
        var failures = 0
        for number in 1...20 {
            let version = try #require(try await store.load()).version
            do {
                #expect(try await store.replace(version, with: SessionRecord.bytes(Int64(number))))
            } catch {
                #expect(error == .locked)
                failures += 1
                #expect(try await store.load()?.version == version)
            }
        }
        #expect(failures == 10)
    }

    @Test("other processes are told of a write, and of an unlocked device")
    func changes() async throws {
        var changes = store.changes.makeAsyncIterator()
        #expect(try await keychain.store().replace(nil, with: SessionRecord.bytes(1)))
        #expect(await changes.next() != nil)
        keychain.condition = .unlocked
        #expect(await changes.next() != nil)
    }

    @Test("each account has a record of its own")
    func accounts() async throws {
        #expect(try await keychain.store(account: "a").replace(nil, with: SessionRecord.bytes(1)))
        #expect(try await keychain.store(account: "b").load() == nil)
        #expect(try await keychain.store(account: "a").load() != nil)
    }
}
