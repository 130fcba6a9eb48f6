import Sockets

/// Sends all bytes of an input over one connection, says that no more come, and reads to the end.
func exchange(_ bytes: [UInt8], with address: SocketAddress) throws -> [UInt8] {
    let socket = try ClientSocket(to: address, timeout: .seconds(20))
    // A peer that has refused already may have closed: what it said can be read all the same.
    try? socket.send(bytes)
    socket.shutdownWrite()
    var answers: [UInt8] = []
    while true {
        do throws(SocketError) {
            let received = try socket.receive()
            if received.isEmpty { return answers }
            answers += received
        } catch {
            guard error.isReset else { throw error }
            return answers
        }
    }
}

extension SocketError {
    /// The other side has closed with bytes unread. A time-out is none: no peer may hang.
    fileprivate var isReset: Bool { "\(self)".contains("reset") }
}

extension View {
    /// What answers say that a server has seen: `X-Seen: METHOD TARGET LENGTH`, and a body with the content in hexadecimal
    /// digits when `showsContent`.
    init(answers bytes: [UInt8], showsContent: Bool) {
        self.init(requests: [], end: .idle)
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.starts(with: "HTTP/1.".utf8), let headEnd = Self.headEnd(rest) else {
                // An answer as in HTTP/0.9, which ends with the connection.
                requests.append(.opaque)
                end = .closed
                return
            }
            let head = String(decoding: rest[..<headEnd], as: UTF8.self).split(separator: "\r\n")
            rest = rest[(headEnd + 4)...]
            let status = Int(head[0].split(separator: " ")[1]) ?? 0
            if status < 200 { continue }
            func field(_ name: String) -> String? {
                head.first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
            }
            var seen = field("x-seen").flatMap(Self.seen)
            let length = seen?.method == "HEAD" ? 0 : field("content-length").flatMap { Int($0) } ?? rest.count
            if showsContent, seen?.method != "HEAD" {
                seen?.content = String(decoding: rest.prefix(length), as: UTF8.self)
            }
            rest = rest.dropFirst(length)
            let closes = field("connection")?.lowercased() == "close"
            if seen == nil, status >= 400, closes || rest.isEmpty {
                end = .refused("\(status)")
                return
            }
            requests.append(seen ?? .opaque)
            end = closes ? .closed : .idle
        }
    }

    private static func headEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.dropLast(3).first { bytes[$0] == 13 && bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
    }

    /// The length is the last word and the method the first: a target can hold blanks where an implementation lets it.
    private static func seen(_ text: String) -> Seen? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2 else { return nil }
        var target = words.dropFirst().dropLast()
        // Apache shows the whole request line.
        if target.count > 1, target.last?.hasPrefix("HTTP/") == true { target.removeLast() }
        return Seen(
            method: String(words[0]), target: Seen.originForm(target.joined(separator: " ")), content: nil,
            length: words.last.flatMap { Int($0) } ?? 0)
    }
}

extension View.Seen {
    static let opaque = View.Seen(method: "", target: "", length: 0, isOpaque: true)

    /// `http://b?c` as `/?c`.
    static func originForm(_ target: String) -> String {
        var rest = target[...]
        for scheme in ["http://", "https://"] where rest.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
            break
        }
        return rest.hasPrefix("/") || rest == "*" ? String(rest) : "/" + rest
    }
}
