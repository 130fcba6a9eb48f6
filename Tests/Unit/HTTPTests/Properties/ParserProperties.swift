import HTTP

/// What must hold for every sequence of bytes, whether it is a request or not. The tests ask it of their corpus, the
/// fuzzer of everything that it comes up with: this file is compiled into both.
enum ParserProperties {
    /// So small that a short input reaches each of them.
    static let tightLimits: Limits = {
        var limits = Limits()
        limits.requestLine = 40
        limits.method = 8
        limits.fieldCount = 4
        limits.fieldBytes = 96
        limits.body = 16
        limits.chunkExtensionBytes = 12
        limits.trailerCount = 2
        limits.trailerBytes = 24
        return limits
    }()

    /// The first thing that does not hold for `bytes`; nil when all is well.
    static func violation(_ bytes: [UInt8]) -> String? {
        violation(bytes, Limits(), named: "default limits") ?? violation(bytes, tightLimits, named: "tight limits")
    }

    private static func violation(_ bytes: [UInt8], _ limits: Limits, named name: String) -> String? {
        let whole = Reading(of: bytes, limits: limits)
        let found =
            whole.violation ?? cutting(bytes, whole, limits) ?? partition(bytes, whole, limits)
            ?? whole.requests.lazy.compactMap { soundness($0.request, limits) ?? rewriting($0.request) }.first
        return found.map { "\(name): \($0)" }
    }

    /// Reading does not depend on how the bytes were cut: each at a time, and at places that the bytes themselves choose.
    private static func cutting(_ bytes: [UInt8], _ whole: Reading, _ limits: Limits) -> String? {
        let single = Reading(of: bytes, cutAt: bytes.indices.dropFirst(), limits: limits)
        if let violation = single.violation { return "byte by byte: \(violation)" }
        guard single.says(whole) else { return "byte by byte: \(single), whole: \(whole)" }
        let cuts = cuts(bytes)
        let cut = Reading(of: bytes, cutAt: cuts, limits: limits)
        if let violation = cut.violation { return "in pieces: \(violation)" }
        guard cut.says(whole) else { return "cut at \(cuts): \(cut), whole: \(whole)" }
        return nil
    }

    private static func cuts(_ bytes: [UInt8]) -> [Int] {
        // FNV-1a, then a step of a linear generator for each piece.
        var random = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var cuts: [Int] = []
        cuts.reserveCapacity(bytes.count / 8)
        var end = 0
        while true {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            end += 1 + Int(random >> 59)
            guard end < bytes.count else { return cuts }
            cuts.append(end)
        }
    }

    /// The requests divide the bytes: each lies where the one before it ended, and its own bytes alone say the same. So
    /// none is read twice, and none belongs to two.
    private static func partition(_ bytes: [UInt8], _ whole: Reading, _ limits: Limits) -> String? {
        var start = 0
        // One request that is all there is alone with its bytes already.
        if whole.requests.isEmpty || whole.requests.count == 1 && whole.requests[0].end == bytes.count { return nil }
        for (index, found) in whole.requests.enumerated() {
            guard found.end > start, found.end <= bytes.count else {
                return "request \(index) ends at \(found.end), the one before at \(start)"
            }
            let alone = Reading(of: bytes, start..<found.end, limits: limits)
            guard alone.failure == nil, alone.requests.count == 1, alone.requests[0].request == found.request,
                alone.unread == 0
            else { return "bytes \(start)..<\(found.end) alone: \(alone), among the others: \(found.request)" }
            start = found.end
        }
        let rest = Reading(of: bytes, start..<bytes.count, limits: limits)
        guard rest.requests.isEmpty, rest.failure == whole.failure else {
            return "what follows \(start) alone: \(rest), after the requests: \(String(describing: whole.failure))"
        }
        return nil
    }

    /// What a handler may rely on.
    private static func soundness(_ request: Request, _ limits: Limits) -> String? {
        let target = request.target.path + (request.target.query.map { "?" + $0 } ?? "")
        let rules: [(holds: Bool, name: String)] = [
            (request.body.count <= limits.body, "the content is within its limit"),
            (request.fields.count <= limits.fieldCount + 1, "the fields are within their limit"),
            (!request.method.rawValue.isEmpty && request.method.rawValue.utf8.count <= limits.method, "the method"),
            (request.method != .connect, "no CONNECT"),
            (request.method.rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the method is visible ASCII"),
            (target.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x23 }, "the target is visible ASCII"),
            (request.target.path.hasPrefix("/") || request.target == .asterisk, "the path starts with a slash"),
            (request.fields.allSatisfy { isName($0.name) && isValue($0.value) }, "names and values are one line"),
            (request.fields.values("host").count == 1 || request.version == .http10, "one Host"),
            (request.fields.values("host").count <= 1, "not two Hosts"),
            (request.fields.values("content-length").count <= 1, "at most one Content-Length"),
            (
                !(request.fields.contains("content-length") && request.fields.contains("transfer-encoding")),
                "one framing"
            ),
        ]
        return rules.first { !$0.holds }.map { "not so: \($0.name): \(request)" }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3A }
    }

    private static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
            && value.utf8.first.map { $0 > 0x20 } ?? true && value.utf8.last.map { $0 > 0x20 } ?? true
    }

    /// Written in the plainest way and read again, a request is the same: no server behind us can read it otherwise.
    private static func rewriting(_ request: Request) -> String? {
        guard let bytes = CanonicalRequest.bytes(of: request) else { return nil }
        var limits = Limits()
        limits.fieldCount += 2
        limits.fieldBytes += 128
        let again = Reading(of: bytes, limits: limits)
        guard again.failure == nil, again.requests.count == 1, again.unread == 0,
            CanonicalRequest.isSame(again.requests[0].request, request)
        else { return "\(request), written and read again: \(again)" }
        return nil
    }
}
