import Testing

@testable import SojournClient

struct MemoryStoreTests {
    @Test("a swap writes only over the version that was read, and tells the readers")
    func swap() async throws {
        let store = MemoryStore()
        var changes = store.changes.makeAsyncIterator()
        #expect(try await store.load() == nil)
        #expect(try await store.replace(RecordVersion([1]), with: SessionRecord.bytes(1)) == false)
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        #expect(await changes.next() != nil)
        let first = try #require(try await store.load())
        // The same bytes are another version: a swap in between is noticed.
        #expect(try await store.replace(first.version, with: SessionRecord.bytes(1)))
        #expect(try await store.replace(first.version, with: nil) == false)
        let second = try #require(try await store.load())
        #expect(try await store.replace(second.version, with: nil))
        #expect(try await store.load() == nil)
    }

    @Test("bytes that are no record are kept aside")
    func unreadable() async throws {
        let store = MemoryStore([1, 2])
        await #expect(throws: StoreError.self) { try await store.load() }
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)) == false)
        try await store.setAside()
        #expect(store.unreadable == [[1, 2]])
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        try await store.setAside()
        #expect(try await store.load()?.bytes == SessionRecord.bytes(1))
    }
}
