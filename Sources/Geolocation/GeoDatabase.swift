// Geolocation: where a network address is, by a file in MaxMind's format, read by libmaxminddb. It knows nothing of events,
// mails or configuration, and keeps nothing of what it was asked.
//
// Reading order: GeoDatabase (one file, opened) · Place · FileCopy (why a file that changes harms nobody) · FileVersion.

internal import CMaxMindDB
internal import Sockets

/// A file that says where network addresses are, mapped into memory: its pages are the kernel's to drop.
@safe public final class GeoDatabase: @unchecked Sendable {
    // Sendable, because the library only reads what it points to after it was opened, and it is closed when nobody has this any more.

    /// Which version of the file it is.
    public let version: FileVersion
    /// When its publisher made it, in seconds since 1970.
    public let builtAt: Int64
    /// What its publisher calls it: "GeoLite2-City".
    public let kind: String

    private let handle: UnsafeMutablePointer<MMDB_s>
    private let library: CMaxMindDB_library

    /// Opens the file at `path` with places of cities or countries, by a copy without a name in `folder`, which takes as much
    /// room there as the file. Blocks while it copies.
    public init(path: String, copyingTo folder: String) throws(GeoDatabaseError) {
        guard let library = Library.shared.functions else {
            throw .libraryMissing(Library.shared.failure ?? "")
        }
        let copy = try FileCopy(of: path, in: folder)
        let handle = UnsafeMutablePointer<MMDB_s>.allocate(capacity: 1)
        let status = unsafe library.MMDB_open(copy.path, UInt32(MMDB_MODE_MMAP), handle)
        guard status == MMDB_SUCCESS else {
            unsafe handle.deallocate()
            throw .broken(Self.describe(status, library))
        }
        let metadata = unsafe handle.pointee.metadata
        unsafe self.handle = handle
        (self.library, version) = (library, copy.version)
        kind = unsafe String(cString: metadata.database_type)
        builtAt = unsafe Int64(clamping: metadata.build_epoch)
        // All publishers of this format name theirs after the two of its inventor, or so that these words are in it.
        guard ["City", "Country", "Enterprise"].contains(where: { kind.contains($0) }) else { throw .wrongKind(kind) }
    }

    deinit {
        unsafe library.MMDB_close(handle)
        unsafe handle.deallocate()
    }

    /// Where `address` is; nil: unknown, private, or no address. May wait for the disk.
    public func place(of address: String) throws(GeoDatabaseError) -> Place? {
        guard let address = SocketAddress(host: address, port: 0)?.unmapped,
            !Self.privateRanges.contains(where: { $0.contains(address) })
        else { return nil }
        if case .ipv6 = address, unsafe handle.pointee.metadata.ip_version == 4 { return nil }
        // That it is an address has been seen above.
        var (notAnAddress, status) = (Int32(0), MMDB_SUCCESS)
        var result = unsafe library.MMDB_lookup_string(handle, address.host, &notAnAddress, &status)
        try check(status)
        guard unsafe result.found_entry, let code = try unsafe text(&result.entry, "country", "iso_code") else {
            return nil
        }
        return Place(
            countryCode: code, countryName: try unsafe text(&result.entry, "country", "names", "en"),
            region: try unsafe text(&result.entry, "subdivisions", "0", "names", "en"),
            city: try unsafe text(&result.entry, "city", "names", "en"))
    }

    /// The text at a path of an entry.
    private func text(
        _ entry: inout MMDB_entry_s, _ first: String, _ second: String, _ third: String? = nil, _ fourth: String? = nil
    ) throws(GeoDatabaseError) -> String? {
        var value = unsafe MMDB_entry_data_s()
        let status = unsafe CMaxMindDB_value(library, &entry, &value, first, second, third, fourth)
        if status == MMDB_LOOKUP_PATH_DOES_NOT_MATCH_DATA_ERROR { return nil }
        try check(status)
        guard unsafe value.has_data, unsafe value.type == UInt32(MMDB_DATA_TYPE_UTF8_STRING) else { return nil }
        // Not ended by a NUL: it stands in the file.
        let bytes = unsafe UnsafeRawBufferPointer(start: value.utf8_string, count: Int(value.data_size))
        return unsafe bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private func check(_ status: Int32) throws(GeoDatabaseError) {
        if status != MMDB_SUCCESS { throw .broken(Self.describe(status, library)) }
    }

    private static func describe(_ status: Int32, _ library: CMaxMindDB_library) -> String {
        unsafe library.MMDB_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
    }

    /// Addresses that are in no place of the world, whatever a file says of them (RFC 6890, RFC 4193).
    private static let privateRanges = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "::/128", "::1", "fc00::/7", "fe80::/10",
    ].compactMap { AddressRange($0) }
}
