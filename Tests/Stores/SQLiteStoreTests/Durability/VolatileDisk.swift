import FoundationEssentials
import Locks

/// A disk with a volatile cache: it keeps what was synced apart from what was only written, and at a power cut a random
/// part of the latter is gone. `FaultyDisk` tells it of everything that SQLite does to a database and its log.
///
/// The model is as pessimistic as SQLite's own assumptions allow. Until a file is synced, each write and truncation of it
/// may reach the platter or not, in any order, and of a write any of its sectors; a sector is whole. Names that were
/// made or removed follow one another, and are there for good once a new file is synced (SQLite syncs the folder then).
final class VolatileDisk: Sendable {
    /// What the power cut spares of the writes that were never synced.
    enum Survival: CaseIterable, Sendable { case nothing, everything, someWrites, someSectors }

    private enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncation(size: Int)
    }
    private enum NameChange {
        case made(name: String, file: Int)
        case removed(name: String)
    }
    private struct File {
        var durable: [UInt8] = []
        var unsynced: [Change] = []
        var isNew = false
    }
    private struct State {
        var files: [File] = []
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        var nameChanges: [NameChange] = []
        var stepsLeft: Int
        var isOff = false
        var syncs = 0
    }

    static let sectorBytes = 512
    private static let endings = ["", "-wal", "-journal"]

    /// The database that these files belong to.
    let database: String
    private let state: Locked<State>

    /// The disk with the files of `database` as they are, all durable. The power goes after `steps` changes or syncs.
    init(database: String, powerFailsAfter steps: Int) {
        self.database = database
        var initial = State(stepsLeft: steps)
        for ending in Self.endings {
            guard let content = FileManager.default.contents(atPath: database + ending) else { continue }
            initial.names[ending] = initial.files.count
            initial.files.append(File(durable: [UInt8](content)))
        }
        initial.durableNames = initial.names
        state = Locked(initial)
    }

    /// Whether the power has failed.
    var isOff: Bool { state.withLock { $0.isOff } }

    /// How often a file was synced before that.
    var syncs: Int { state.withLock { $0.syncs } }

    /// Runs `body`, which stands for one step, unless the power has failed or fails with it. Returns whether it was run.
    private func step(_ body: (inout State) -> Void) -> Bool {
        state.withLock { state in
            if state.stepsLeft <= 0 { state.isOff = true }
            if state.isOff { return false }
            state.stepsLeft -= 1
            body(&state)
            return true
        }
    }

    /// A file is opened, and made if there is none.
    func open(_ name: String) {
        state.withLock { state in
            guard !state.isOff, state.names[name] == nil else { return }
            state.names[name] = state.files.count
            state.nameChanges.append(.made(name: name, file: state.files.count))
            state.files.append(File(isNew: true))
        }
    }

    func write(_ name: String, _ bytes: [UInt8], at offset: Int) -> Bool {
        step { state in
            guard let file = state.names[name] else { return }
            state.files[file].unsynced.append(.write(offset: offset, bytes: bytes))
        }
    }

    func truncate(_ name: String, to size: Int) -> Bool {
        step { state in
            guard let file = state.names[name] else { return }
            state.files[file].unsynced.append(.truncation(size: size))
        }
    }

    func remove(_ name: String, syncsFolder: Bool) -> Bool {
        step { state in
            state.names[name] = nil
            state.nameChanges.append(.removed(name: name))
            if syncsFolder { Self.syncFolder(&state) }
        }
    }

    func sync(_ name: String) -> Bool {
        step { state in
            state.syncs += 1
            guard let number = state.names[name] else { return }
            for change in state.files[number].unsynced { Self.apply(change, to: &state.files[number].durable) }
            state.files[number].unsynced = []
            if state.files[number].isNew {
                state.files[number].isNew = false
                Self.syncFolder(&state)
            }
        }
    }

    /// The power fails now, if it has not yet, and comes back: what was durable, and of the rest what `survival` leaves,
    /// takes the place of the files. No process may have them open.
    func restart(_ survival: Survival, using random: inout some RandomNumberGenerator) throws {
        let (contents, names) = state.withLock { state -> ([[UInt8]], [String: Int]) in
            state.isOff = true
            let contents = state.files.map { file -> [UInt8] in
                var content = file.durable
                for change in file.unsynced { Self.apply(change, to: &content, survival, using: &random) }
                return content
            }
            var names = state.durableNames
            let survivors =
                switch survival {
                case .nothing: 0
                case .everything: state.nameChanges.count
                case .someWrites, .someSectors: Int.random(in: 0...state.nameChanges.count, using: &random)
                }
            for change in state.nameChanges.prefix(survivors) { Self.apply(change, to: &names) }
            return (contents, names)
        }
        for ending in Self.endings + ["-shm"] {
            let path = database + ending
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
            guard let file = names[ending] else { continue }
            try Data(contents[file]).write(to: URL(filePath: path))
        }
    }

    private static func syncFolder(_ state: inout State) {
        for change in state.nameChanges { apply(change, to: &state.durableNames) }
        state.nameChanges = []
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .made(let name, let file): names[name] = file
        case .removed(let name): names[name] = nil
        }
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
        switch change {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
            content.replaceSubrange(offset..<end, with: bytes)
        case .truncation(let size): content.removeSubrange(min(size, content.count)...)
        }
    }

    private static func apply(
        _ change: Change, to content: inout [UInt8], _ survival: Survival,
        using random: inout some RandomNumberGenerator
    ) {
        switch (survival, change) {
        case (.nothing, _): break
        case (.everything, _): apply(change, to: &content)
        case (.someWrites, _), (.someSectors, .truncation):
            if Bool.random(using: &random) { apply(change, to: &content) }
        case (.someSectors, .write(let offset, let bytes)):
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, ((offset + start) / sectorBytes + 1) * sectorBytes - offset)
                if Bool.random(using: &random) {
                    apply(.write(offset: offset + start, bytes: Array(bytes[start..<end])), to: &content)
                }
                start = end
            }
        }
    }
}
