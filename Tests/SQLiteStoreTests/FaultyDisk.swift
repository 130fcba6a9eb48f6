import CSQLite
import Locks

/// Makes writes or syncs of chosen files fail as a bad or full disk would, below SQLite: a VFS that becomes the default
/// of this process, passes everything on to the one for Unix, and fails what it is told to.
enum FaultyDisk {
    /// What fails, with SQLite's codes; `SQLITE_OK` does not.
    struct Fault: Sendable {
        var writing = SQLITE_OK
        var syncing = SQLITE_OK
    }

    /// An open file.
    fileprivate struct OpenFile {
        var path: String
        /// The address of the methods that the VFS for Unix gave it.
        var methods: UInt
    }

    private struct State {
        var isInstalled = false
        var faults: [String: Fault] = [:]
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

    fileprivate static func opened(_ file: UnsafeMutablePointer<sqlite3_file>, _ path: String, methods: UInt) {
        state.withLock { $0.files[UInt(bitPattern: file)] = OpenFile(path: path, methods: methods) }
    }

    /// `methods` with the two functions below. Made once for each, and kept as long as the process lives, as SQLite
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
            faulty.pointee.xWrite = writeFile
            faulty.pointee.xSync = syncFile
            state.faultyMethods[key] = UInt(bitPattern: faulty)
            return UInt(bitPattern: faulty)
        }
        return UnsafePointer(bitPattern: address)
    }

    fileprivate static func find(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> (methods: UnsafePointer<sqlite3_io_methods>, fault: Fault)? {
        let found = state.withLock { state -> (UInt, Fault)? in
            guard let file = state.files[UInt(bitPattern: file)] else { return nil }
            return (file.methods, state.faults[file.path] ?? Fault())
        }
        guard let found, let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: found.0) else { return nil }
        return (methods, found.1)
    }
}

/// Opens a file with the VFS for Unix, and puts the two functions below before its own.
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

private func writeFile(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
) -> Int32 {
    guard let found = FaultyDisk.find(file) else { return SQLITE_IOERR }
    if found.fault.writing != SQLITE_OK { return found.fault.writing }
    return found.methods.pointee.xWrite(file, bytes, count, offset)
}

private func syncFile(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
    guard let found = FaultyDisk.find(file) else { return SQLITE_IOERR }
    if found.fault.syncing != SQLITE_OK { return found.fault.syncing }
    return found.methods.pointee.xSync(file, flags)
}
