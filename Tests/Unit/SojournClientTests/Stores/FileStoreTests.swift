import Foundation
import Testing

@testable import SojournClient
@testable import SojournTestKit

struct FileStoreTests {
    private let folder = TemporaryFolder()
    private var store: FileStore { FileStore(directory: folder.url) }

    @Test("an empty folder holds nothing, and reading makes none")
    func nothing() async throws {
        #expect(try await store.load() == nil)
        #expect(folder.names == [])
    }

    @Test("a record is there for its owner alone")
    func permissions() async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        #expect(try await store.load()?.bytes == SessionRecord.bytes(1))
        #expect(try folder.permissions() == 0o700)
        #expect(try folder.permissions("session.json") == 0o600)
        #expect(try folder.permissions("session.json.lock") == 0o600)
    }

    @Test("a swap writes only over the version that was read")
    func swap() async throws {
        #expect(try await store.replace(RecordVersion([1]), with: SessionRecord.bytes(1)) == false)
        #expect(try await store.load() == nil)
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        let first = try #require(try await store.load()).version
        #expect(try await store.replace(nil, with: SessionRecord.bytes(2)) == false)
        #expect(try await store.replace(RecordVersion([1]), with: SessionRecord.bytes(2)) == false)
        #expect(try await store.replace(RecordVersion([1]), with: nil) == false)
        #expect(try await store.load()?.version == first)
        #expect(try await store.replace(first, with: SessionRecord.bytes(2)))
        let second = try #require(try await store.load())
        #expect(second.bytes == SessionRecord.bytes(2))
        #expect(second.version != first)
        #expect(try await store.replace(first, with: SessionRecord.bytes(3)) == false)
        #expect(try await store.replace(second.version, with: nil))
        #expect(try await store.load() == nil)
        #expect(folder.names == ["session.json.lock"])
    }

    @Test("the content is durable before the rename, and the folder before the store says so")
    func durability() async throws {
        let steps = Guarded<[String]>([])
        let store = FileStore(
            directory: folder.url, observe: { step in steps.withLock { $0.append(step.rawValue) } },
            flush: { file in
                var status = stat()
                fstat(file, &status)
                let kind = status.st_mode & S_IFMT == S_IFDIR ? "folder" : "\(status.st_size) bytes"
                steps.withLock { $0.append("flush \(kind)") }
                return 0
            })
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        #expect(
            steps.withLock { $0 } == [
                "flush folder", "locked", "tempWritten", "flush \(SessionRecord.bytes(1).count) bytes", "tempSynced",
                "renamed", "flush folder", "folderSynced",
            ])
    }

    @Test("a failure before the rename leaves the old record", arguments: PrivateFile.Step.allCases)
    func failures(step: PrivateFile.Step) async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        let old = try #require(try await store.load())
        let failing = FileStore(directory: folder.url) { reached throws(PrivateFile.Failure) in
            if reached == step { throw PrivateFile.Failure(code: ENOSPC, action: "write") }
        }
        await #expect(throws: StoreError.failed(ENOSPC, "write")) {
            try await failing.replace(old.version, with: SessionRecord.bytes(2))
        }
        let isRenamed = [.renamed, .folderSynced].contains(step)
        #expect(try await store.load()?.bytes == SessionRecord.bytes(isRenamed ? 2 : 1))
        // What the failed write has left does not stand in the way.
        let now = try #require(try await store.load()).version
        #expect(try await store.replace(now, with: SessionRecord.bytes(3)))
        #expect(folder.names == ["session.json", "session.json.lock"])
    }

    @Test("a medium that does not take the content is a failure")
    func flushFails() async throws {
        let store = FileStore(
            directory: folder.url, observe: { _ in },
            flush: { file in
                var status = stat()
                fstat(file, &status)
                guard status.st_mode & S_IFMT != S_IFDIR else { return 0 }
                errno = EIO
                return -1
            })
        await #expect(throws: StoreError.failed(EIO, "fsync")) {
            try await store.replace(nil, with: SessionRecord.bytes(1))
        }
        #expect(try await store.load() == nil)
    }

    @Test(
        "a file that is no record is corrupted, kept, and moved aside by a login",
        arguments: [
            "", "{", "[]", "\0\0\0", #"{"schema":1,"device_id":"d"}"#,
            #"{"schema":2,"device_id":"d","retry_secret":"AQ"}"#, "<html>",
        ])
    func corrupted(text: String) async throws {
        try folder.put(Array(text.utf8), "session.json")
        await #expect { try await store.load() } throws: { error in
            if case StoreError.corrupted = error { true } else { false }
        }
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)) == false)
        #expect(folder.content("session.json") == Array(text.utf8))

        try await store.setAside()
        #expect(try await store.load() == nil)
        let aside = try #require(folder.names.first { $0.hasPrefix("session.json.unreadable-") })
        #expect(folder.content(aside) == Array(text.utf8))
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        #expect(try await store.load()?.bytes == SessionRecord.bytes(1))
    }

    @Test("a file that is too long is corrupted, and moved aside as well")
    func tooLong() async throws {
        try folder.put(Array(repeating: 0x20, count: PrivateFile.countMax + 1), "session.json")
        await #expect { try await store.load() } throws: { error in
            if case StoreError.corrupted = error { true } else { false }
        }
        try await store.setAside()
        #expect(try await store.load() == nil)
        #expect(folder.names.contains { $0.hasPrefix("session.json.unreadable-") })
    }

    @Test("a readable record is not moved aside")
    func readableStays() async throws {
        try await store.setAside()
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        try await store.setAside()
        #expect(try await store.load()?.bytes == SessionRecord.bytes(1))
    }

    @Test("a missing right is told apart from other failures", arguments: [EACCES, EPERM, EROFS, EIO, ENOSPC])
    func denial(code: Int32) async throws {
        let store = FileStore(directory: folder.url) { _ throws(PrivateFile.Failure) in
            throw PrivateFile.Failure(code: code, action: "open")
        }
        let expected: StoreError = [EIO, ENOSPC].contains(code) ? .failed(code, "open") : .denied(code)
        await #expect(throws: expected) { try await store.replace(nil, with: SessionRecord.bytes(1)) }
    }

    @Test("a path that is no file, a link and a folder below a file are failures, never nothing")
    func otherPaths() async throws {
        try FileManager.default.createDirectory(at: folder.file("session.json"), withIntermediateDirectories: true)
        await #expect(throws: StoreError.failed(EISDIR, "read")) { try await store.load() }
        try FileManager.default.removeItem(at: folder.file("session.json"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("session.json").path, withDestinationPath: "/dev/null")
        await #expect(throws: StoreError.failed(ELOOP, "open")) { try await store.load() }
        try folder.put([1], "file")
        let below = FileStore(directory: folder.file("file"))
        await #expect(throws: StoreError.failed(ENOTDIR, "open")) { try await below.load() }
    }

    @Test("a folder deep down is made for its owner alone")
    func deepFolder() async throws {
        let deep = folder.file("a/b c")
        #expect(try await FileStore(directory: deep).replace(nil, with: SessionRecord.bytes(1)))
        #expect(try folder.permissions("a") == 0o700)
        #expect(try folder.permissions("a/b c") == 0o700)
    }

    @Test("the leftover of a killed process is written over")
    func leftOver() async throws {
        try folder.put(Array(repeating: 1, count: 100_000), "session.json.new")
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        #expect(folder.content("session.json") == SessionRecord.bytes(1))
        #expect(try folder.permissions("session.json") == 0o600)
    }

    @Test("reads do not wait for a swap of another process, and its end lets the next one go on")
    func lock() async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(1)))
        let version = try #require(try await store.load()).version
        let other = open(folder.file("session.json.lock").path, O_RDWR)
        #expect(flock(other, LOCK_EX) == 0)
        let isDone = Guarded(false)
        let swap = Task {
            let isFirst = try await FileStore(directory: folder.url).replace(version, with: SessionRecord.bytes(2))
            isDone.withLock { $0 = true }
            return isFirst
        }
        for _ in 0..<20 { #expect(try await store.load()?.version == version) }
        #expect(isDone.withLock { $0 } == false)
        close(other)
        #expect(try await swap.value)
    }

    @Test("one of many simultaneous swaps wins")
    func race() async throws {
        #expect(try await store.replace(nil, with: SessionRecord.bytes(0)))
        for round in 0..<4 {
            let version = try #require(try await store.load()).version
            let winners = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for number in 1...16 {
                    let bytes = Int64(round * 100 + number)
                    // Each has a store of its own, as processes have.
                    let store = FileStore(directory: folder.url)
                    group.addTask {
                        try await store.replace(version, with: SessionRecord.bytes(bytes)) ? bytes : nil
                    }
                }
                return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(winners.count == 1)
            #expect(try await store.load()?.bytes == winners.first.map { SessionRecord.bytes($0) })
        }
    }
}
