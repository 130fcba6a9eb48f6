import HTTP

/// What must hold for every body and every path, for the tests and for the fuzzer.
enum FormProperties {
    /// The first thing that does not hold for `bytes`; nil when all is well.
    static func violation(_ bytes: [UInt8]) -> String? { form(bytes) ?? path(bytes) ?? date(bytes) }

    /// A form that was decoded, encoded in the plainest way and decoded again is the same.
    private static func form(_ bytes: [UInt8]) -> String? {
        guard let pairs = try? FormDecoder.decode(bytes) else { return nil }
        guard pairs.count <= FormDecoder.defaultMaximumCount else { return "\(pairs.count) pairs" }
        let size = pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard size <= bytes.count else { return "\(size) bytes out of \(bytes.count)" }
        if pairs.contains(where: { $0.name.utf8.contains(0) || $0.value.utf8.contains(0) }) { return "a NUL" }
        let encoded = pairs.map { escaped($0.name) + "=" + escaped($0.value) }.joined(separator: "&")
        guard let again = try? FormDecoder.decode(Array(encoded.utf8)) else { return "refused again: \(encoded)" }
        return again == pairs ? nil : "\(pairs), encoded and decoded again: \(again)"
    }

    /// The segments of a path come out again when they are joined; escapes never make one more.
    private static func path(_ bytes: [UInt8]) -> String? {
        let path = "/" + String(decoding: bytes, as: UTF8.self)
        guard let segments = Request(.get, "/").with(path: path).pathSegments else { return nil }
        guard segments.count == (path.utf8.count == 1 ? 0 : path.utf8.count { $0 == 0x2F }) else {
            return "\(segments.count) segments of \(path)"
        }
        let joined = "/" + segments.map(escaped).joined(separator: "/")
        let again = Request(.get, "/").with(path: joined).pathSegments
        return again == segments ? nil : "\(segments), joined and split again: \(String(describing: again))"
    }

    /// Any number of seconds is a date of 29 bytes, and a second later is never an earlier one in the same minute.
    private static func date(_ bytes: [UInt8]) -> String? {
        let seconds = bytes.prefix(8).reduce(0) { $0 << 8 | Int($1) }
        let date = HTTPDate.imfFixdate(secondsSinceEpoch: seconds)
        return date.count == 29 && date.suffix(4).elementsEqual(" GMT".utf8) ? nil : "\(seconds): \(date)"
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Request {
    fileprivate func with(path: String) -> Request {
        Request(method: method, target: RequestTarget(path: path), fields: fields)
    }
}
