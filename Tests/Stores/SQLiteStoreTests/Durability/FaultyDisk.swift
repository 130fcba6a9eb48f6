import CSQLite
import Locks

/// Makes reads, writes or syncs of chosen files fail as a bad or full disk would, or forget as one does when the power goes,
/// below SQLite: a VFS that becomes the default of this process, passes everything on to the one for Unix, and fails
/// what it is told to.
enum FaultyDisk {
    /// What fails, with SQLite's codes; `SQLITE_OK` does not.
    struct Fault: Sendable {
        var reading = SQLITE_OK
        var writing = SQLITE_OK
        var syncing = SQLITE_OK
        var truncating = SQLITE_OK
        /// How much of a write that fails reaches the file all the same.
        var bytesWritten = 0
    }

    fileprivate struct OpenFile {
        var path: String
        /// The address of the methods that the VFS for Unix gave it.
        var methods: UInt
        /// The disk that can lose its power, and the file's name there.
        var volatile: Place?
    }

    /// A file on a disk that can lose its power.
    fileprivate struct Place {
        var disk: VolatileDisk
        var name: String
    }

    private struct State {
        var isInstalled = false
        var faults: [String: Fault] = [:]
        /// By the path of the database.
        var volatileDisks: [String: VolatileDisk] = [:]
        var faultyMethods: [UInt: UInt] = [:]
        /// By the address of SQLite's object for the file.
        var files: [UInt: OpenFile] = [:]
    }

    private static let state = Locked(State())

    /// Puts the VFS in place for all connections that are opened from now on.
    static func install() {
        state.withLock { state in
            guard !state.isInstalled, let unix = sqlite3_vfs_find("unix") else { return }
            let faulty = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
            faulty.initialize(to: unix.pointee)
            let name: StaticString = "faulty"
            faulty.pointee.zName = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
            faulty.pointee.xOpen = openFile
            faulty.pointee.xDelete = deleteFile
            state.isInstalled = sqlite3_vfs_register(faulty, 1) == SQLITE_OK
        }
    }

    /// Runs `body` while the file at `path` fails. The store must have been opened after `install`.
    static func failing(_ path: String, _ fault: Fault, _ body: () async throws -> Void) async throws {
        state.withLock { $0.faults[path] = fault }
        do {
            try await body()
        } catch {
            state.withLock { $0.faults[path] = nil }
            throw error
        }
        state.withLock { $0.faults[path] = nil }
    }

    /// Files of the database of `disk` that are opened from now on are on that disk; until `remove`.
    static func insert(_ disk: VolatileDisk) { state.withLock { $0.volatileDisks[disk.database] = disk } }

    /// The files of the database of `disk` are on an ordinary disk again. None of them may be open.
    static func remove(_ disk: VolatileDisk) { state.withLock { $0.volatileDisks[disk.database] = nil } }

    fileprivate static func place(_ path: String) -> Place? {
        state.withLock { state in
            for (database, disk) in state.volatileDisks where path.hasPrefix(database) {
                return Place(disk: disk, name: String(path.dropFirst(database.count)))
            }
            return nil
        }
    }

    fileprivate static func opened(_ file: UnsafeMutablePointer<sqlite3_file>, _ path: String, methods: UInt) {
        let volatile = place(path)
        volatile?.disk.open(volatile?.name ?? "")
        state.withLock {
            $0.files[UInt(bitPattern: file)] = OpenFile(path: path, methods: methods, volatile: volatile)
        }
    }

    /// `methods` with the functions below. Made once for each, and kept as long as the process lives, as SQLite
    /// expects of methods.
    fileprivate static func faultyMethods(
        for methods: UnsafePointer<sqlite3_io_methods>
    ) -> UnsafePointer<sqlite3_io_methods>? {
        let key = UInt(bitPattern: methods)
        let address = state.withLock { state -> UInt in
            if let known = state.faultyMethods[key] { return known }
            guard let original = UnsafePointer<sqlite3_io_methods>(bitPattern: key) else { return 0 }
            let faulty = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            faulty.initialize(to: original.pointee)
            faulty.pointee.xRead = readFile
            faulty.pointee.xWrite = writeFile
            faulty.pointee.xSync = syncFile
            faulty.pointee.xTruncate = truncateFile
            state.faultyMethods[key] = UInt(bitPattern: faulty)
            return UInt(bitPattern: faulty)
        }
        return UnsafePointer(bitPattern: address)
    }

    /// A file, as the functions below find it.
    fileprivate struct Found {
        var methods: UnsafePointer<sqlite3_io_methods>
        var fault: Fault
        var volatile: Place?
    }

    fileprivate static func find(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Found? {
        let found = state.withLock { state -> (OpenFile, Fault)? in
            guard let file = state.files[UInt(bitPattern: file)] else { return nil }
            return (file, state.faults[file.path] ?? Fault())
        }
        guard let (file, fault) = found, let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: file.methods)
        else {
            return nil
        }
        return Found(methods: methods, fault: fault, volatile: file.volatile)
    }
}

/// Opens a file with the VFS for Unix, and puts the functions below before its own.
private func openFile(
    _: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: Int32, _ flagsOut: UnsafeMutablePointer<Int32>?
) -> Int32 {
    guard let unix = sqlite3_vfs_find("unix"), let file else { return SQLITE_CANTOPEN }
    let code = unix.pointee.xOpen(unix, name, file, flags, flagsOut)
    guard code == SQLITE_OK, let name, let methods = file.pointee.pMethods else { return code }
    FaultyDisk.opened(file, String(cString: name), methods: UInt(bitPattern: methods))
    file.pointee.pMethods = FaultyDisk.faultyMethods(for: methods)
    return code
}

private func deleteFile(
    _: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ syncsFolder: Int32
) -> Int32 {
    guard let unix = sqlite3_vfs_find("unix"), let name else { return SQLITE_IOERR }
    if let place = FaultyDisk.place(String(cString: name)) {
        guard place.disk.remove(place.name, syncsFolder: syncsFolder != 0) else { return SQLITE_IOERR }
    }
    return unix.pointee.xDelete(unix, name, syncsFolder)
}

private func readFile(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
) -> Int32 {
    guard let found = FaultyDisk.find(file) else { return SQLITE_IOERR }
    if found.fault.reading != SQLITE_OK { return found.fault.reading }
    return found.methods.pointee.xRead(file, bytes, count, offset)
}

private func writeFile(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
) -> Int32 {
    guard let found = FaultyDisk.find(file) else { return SQLITE_IOERR }
    if found.fault.writing != SQLITE_OK {
        let part = min(count, Int32(found.fault.bytesWritten))
        if part > 0 { _ = found.methods.pointee.xWrite(file, bytes, part, offset) }
        return found.fault.writing
    }
    if let place = found.volatile {
        let copy = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        guard place.disk.write(place.name, copy, at: Int(offset)) else { return SQLITE_IOERR }
    }
    return found.methods.pointee.xWrite(file, bytes, count, offset)
}

private func syncFile(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
    guard let found = FaultyDisk.find(file) else { return SQLITE_IOERR }
    if found.fault.syncing != SQLITE_OK { return found.fault.syncing }
    // What a volatile disk keeps is in its model: the real one need not be waited for.
    if let place = found.volatile { return place.disk.sync(place.name) ? SQLITE_OK : SQLITE_IOERR }
    return found.methods.pointee.xSync(file, flags)
}

private func truncateFile(_ file: UnsafeMutablePointer<sqlite3_file>?, _ size: Int64) -> Int32 {
    guard let found = FaultyDisk.find(file) else { return SQLITE_IOERR }
    if found.fault.truncating != SQLITE_OK { return found.fault.truncating }
    if let place = found.volatile, !place.disk.truncate(place.name, to: Int(size)) { return SQLITE_IOERR }
    return found.methods.pointee.xTruncate(file, size)
}
