internal import CCurl
internal import HTTP

/// Collects a response as it arrives, up to its limits.
final class ResponseCollector {
    private let contentMax: Int
    private let fieldsMax: Int
    /// The lines of the last head, each with its line end.
    private var lines: [UInt8] = []
    private var lineByteCount = 0
    private var content: [UInt8] = []
    private var isHeadOpen = false
    private var isTooLarge = false

    init(contentMax: Int, fieldsMax: Int) {
        self.contentMax = contentMax
        self.fieldsMax = fieldsMax
    }

    static let collectLine: CCurl_collect = { bytes, size, count, collector in
        unsafe ResponseCollector.collect(bytes, size * count, collector) { collector, bytes in
            unsafe collector.collectLine(bytes)
        }
    }

    static let collectContent: CCurl_collect = { bytes, size, count, collector in
        unsafe ResponseCollector.collect(bytes, size * count, collector) { collector, bytes in
            unsafe collector.collectContent(bytes)
        }
    }

    /// Returns the number of bytes that were collected. libcurl gives up if it is smaller than what it offered.
    private static func collect(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ collector: UnsafeMutableRawPointer?,
        _ body: (ResponseCollector, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let collector = unsafe collector else { return 0 }
        let isCollected = unsafe body(
            Unmanaged<ResponseCollector>.fromOpaque(collector).takeUnretainedValue(),
            UnsafeRawBufferPointer(start: bytes, count: count)
        )
        return isCollected ? count : 0
    }

    /// Collects one field line. A status line begins a head, also an interim one. An empty line ends it. Lines after
    /// that are trailers.
    private func collectLine(_ line: UnsafeRawBufferPointer) -> Bool {
        lineByteCount += line.count
        guard lineByteCount <= fieldsMax else { return tooLarge() }
        if unsafe line.starts(with: "HTTP/".utf8) {
            lines.removeAll()
            isHeadOpen = true
        } else if line.count <= 2 {
            isHeadOpen = false
        } else if isHeadOpen {
            unsafe lines.append(contentsOf: line)
        }
        return true
    }

    private func collectContent(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard content.count + bytes.count <= contentMax else { return tooLarge() }
        unsafe content.append(contentsOf: bytes)
        return true
    }

    private func tooLarge() -> Bool {
        isTooLarge = true
        return false
    }

    /// Returns the response after a transfer that ended with `code`.
    func answer(_ code: CURLcode, status: Int) throws(OutboundError) -> OutboundResponse {
        if isTooLarge { throw .tooLarge }
        if code != CURLE_OK { throw OutboundError(code) }
        // The strict rules for a request's head apply here too.
        guard (200...599).contains(status), let fields = try? Fields(parsing: lines) else { throw .malformed }
        return OutboundResponse(status: status, fields: fields, body: content)
    }
}
