import SojournClient
import SojournTestKit

/// A store in memory that fails on demand, and that can hold a write back.
final class TestStore: SessionStore {
    fileprivate struct State {
        var stored: StoredRecord?
        var versions: UInt64 = 0
        var writes = 0
        var loadError: StoreError?
        var replaceError: StoreError?
        var isSetAside = false
        var listeners: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Guarded(State())

    func load() async throws(StoreError) -> StoredRecord? {
        let result = state.withLock { state -> Result<StoredRecord?, StoreError> in
            state.loadError.map(Result.failure) ?? .success(state.stored)
        }
        return try result.get()
    }

    func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
        let result = state.withLock { state -> Result<Bool, StoreError> in
            if let error = state.replaceError { return .failure(error) }
            guard state.stored?.version == expected else { return .success(false) }
            state.put(bytes)
            return .success(true)
        }
        return try result.get()
    }

    func setAside() async throws(StoreError) {
        state.withLock { state in
            guard case .corrupted? = state.loadError else { return }
            (state.loadError, state.isSetAside, state.stored) = (nil, true, nil)
        }
    }

    var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }

    // MARK: For tests

    var record: SessionRecord? {
        state.withLock { $0.stored }.flatMap { try? SessionRecord(parsing: $0.bytes) }
    }

    var text: String { String(decoding: state.withLock { $0.stored?.bytes ?? [] }, as: UTF8.self) }
    var writes: Int { state.withLock { $0.writes } }
    var isSetAside: Bool { state.withLock { $0.isSetAside } }

    /// Makes reads fail, or no more.
    func fail(loads error: StoreError?) { state.withLock { $0.loadError = error } }
    /// Makes writes fail, or no more.
    func fail(writes error: StoreError?) { state.withLock { $0.replaceError = error } }

    /// Writes as another process does.
    func put(_ text: String?) {
        state.withLock { $0.put(text.map { Array($0.utf8) }) }
    }

    /// Tells the readers of `changes`.
    func tell() {
        for listener in state.withLock({ $0.listeners }) { listener.yield() }
    }
}

extension TestStore.State {
    fileprivate mutating func put(_ bytes: [UInt8]?) {
        versions += 1
        writes += 1
        let version = RecordVersion(withUnsafeBytes(of: versions.bigEndian) { Array($0) })
        stored = bytes.map { StoredRecord(version: version, bytes: $0) }
    }
}

/// Keys that sign nothing, because the fake server looks at no signatures.
final class TestKeys: DeviceKeyring {
    private let state = Guarded<(keys: [KeyName: TestKey], error: KeyError?, made: UInt8)>(([:], nil, 0))

    /// Real keys, because tests use the secrets on which they agree.
    private let agreeing = SoftwareKeys.temporary()

    func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)? {
        if name.agrees {
            if let error = state.withLock({ $0.error }) { throw error }
            return try await agreeing.key(name)
        }
        let result = state.withLock { state -> Result<TestKey?, KeyError> in
            state.error.map(Result.failure) ?? .success(state.keys[name])
        }
        return try result.get()
    }

    func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey {
        if let key = try await key(name) { return key }
        if name.agrees { return try await agreeing.makeKey(name) }
        return state.withLock { state in
            state.made += 1
            let key = TestKey(number: state.made)
            state.keys[name] = key
            return key
        }
    }

    func deleteKey(_ name: KeyName) async throws(KeyError) {
        state.withLock { $0.keys[name] = nil }
        if name.agrees { try await agreeing.deleteKey(name) }
    }

    func fail(_ error: KeyError?) { state.withLock { $0.error = error } }
}

struct TestKey: DeviceKey {
    var number: UInt8
    var publicKey: PublicJWK {
        PublicJWK(curve: .p256, x: Array(repeating: number, count: 32), y: Array(repeating: number, count: 32))
    }
    func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] { Array(repeating: number, count: 64) }
}
