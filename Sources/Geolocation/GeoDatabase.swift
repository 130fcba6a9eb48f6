internal import CMaxMindDB
internal import Sockets

/// An open database of the locations of network addresses. It is mapped into memory, and the kernel may drop its pages.
@safe public final class GeoDatabase: @unchecked Sendable {
    // Sendable, because the library only reads the memory behind the pointer after opening it, and because the last
    // reference closes it.

    /// The version of the file.
    public let version: FileVersion
    /// The build time of the database, in seconds since 1970.
    public let builtAt: Int64
    /// The type that the publisher gave it: "GeoLite2-City".
    public let kind: String

    private let handle: UnsafeMutablePointer<MMDB_s>
    private let library: CMaxMindDB_library

    /// Opens a database of cities or countries. It copies the file at `path` to an anonymous file in `folder`, which
    /// needs as much space there, and blocks meanwhile.
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
        // The types of all publishers contain one of these words, which come from MaxMind's types.
        guard ["City", "Country", "Enterprise"].contains(where: { kind.contains($0) }) else { throw .wrongKind(kind) }
    }

    deinit {
        unsafe library.MMDB_close(handle)
        unsafe handle.deallocate()
    }

    /// Returns the location of `address`; nil if it is unknown, private, or no address. It may wait for the disk.
    ///
    /// - Parameter language: the tag of the language of its names (BCP 47).
    public func location(of address: String, language: String = "en") throws(GeoDatabaseError) -> Location? {
        guard let address = SocketAddress(host: address, port: 0)?.unmapped,
            !Self.privateRanges.contains(where: { $0.contains(address) })
        else { return nil }
        if case .ipv6 = address, unsafe handle.pointee.metadata.ip_version == 4 { return nil }
        // `address` is known to be an address, so this flag is ignored.
        var (notAnAddress, status) = (Int32(0), MMDB_SUCCESS)
        var result = unsafe library.MMDB_lookup_string(handle, address.host, &notAnAddress, &status)
        try check(status)
        guard unsafe result.found_entry, let code = try unsafe text(&result.entry, "country", "iso_code") else {
            return nil
        }
        func name(_ path: String...) throws(GeoDatabaseError) -> String? {
            for language in [language, "en"] {
                let steps = path + ["names", language]
                let name = try unsafe text(
                    &result.entry, steps[0], steps[1], steps[2], steps.count > 3 ? steps[3] : nil)
                if let name { return name }
            }
            return nil
        }
        return Location(
            countryCode: code, countryName: try name("country"), region: try name("subdivisions", "0"),
            city: try name("city"))
    }

    /// Returns the text at a path of an entry.
    private func text(
        _ entry: inout MMDB_entry_s, _ first: String, _ second: String, _ third: String? = nil, _ fourth: String? = nil
    ) throws(GeoDatabaseError) -> String? {
        var value = unsafe MMDB_entry_data_s()
        let status = unsafe CMaxMindDB_value(library, &entry, &value, first, second, third, fourth)
        if status == MMDB_LOOKUP_PATH_DOES_NOT_MATCH_DATA_ERROR { return nil }
        try check(status)
        guard unsafe value.has_data, unsafe value.type == UInt32(MMDB_DATA_TYPE_UTF8_STRING) else { return nil }
        // The text is part of the file and does not end with a NUL.
        let bytes = unsafe UnsafeRawBufferPointer(start: value.utf8_string, count: Int(value.data_size))
        return unsafe bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private func check(_ status: Int32) throws(GeoDatabaseError) {
        if status != MMDB_SUCCESS { throw .broken(Self.describe(status, library)) }
    }

    private static func describe(_ status: Int32, _ library: CMaxMindDB_library) -> String {
        unsafe library.MMDB_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
    }

    /// Addresses without a location, whatever a database says (RFC 6890, RFC 4193).
    private static let privateRanges = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
        "::/128", "::1", "fc00::/7", "fe80::/10",
    ].compactMap { AddressRange($0) }
}
