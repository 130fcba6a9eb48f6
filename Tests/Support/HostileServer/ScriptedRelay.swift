// A mail relay on 127.0.0.1 that replies whatever a test tells it to (RFC 5321). It shares no code with anything that is tested.

import Glibc
import Locks

/// Replies to each command as a script says, or as a relay would that takes every mail.
public final class ScriptedRelay: Sendable {
    /// What is done about a command.
    public enum Reply: Sendable {
        /// Sends this, with CR LF at the end. Lines of it are parted by CR LF.
        case say(String)
        /// Sends this again and again until the other side goes.
        case endless(String)
        /// Says nothing until the other side goes.
        case hang
        /// Ends the connection without a reply.
        case cut
    }

    /// A mail that was taken.
    public struct Mail: Sendable {
        /// The address of MAIL FROM.
        public let sender: String
        /// The addresses of RCPT TO.
        public let recipients: [String]
        /// The content, without the dots that only its transport has.
        public let content: String

        /// The value of a field of the head, unfolded.
        public func field(_ name: String) -> String? {
            let head = content.components(until: "\r\n\r\n").replacing("\r\n ", with: " ")
            return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
                .map { String($0.dropFirst(name.utf8.count + 2)) }
        }
    }

    private struct State {
        var commands: [String] = []
        var mails: [Mail] = []
    }

    /// `smtp://127.0.0.1:PORT`
    public var url: String { "smtp://127.0.0.1:\(listener.port)" }
    private let listener: LoopbackListener
    private let state = Locked(State())

    /// The commands so far, of all connections; `.` is the end of a content.
    public var commands: [String] { state.withLock { $0.commands } }
    /// The mails that were taken so far.
    public var mails: [Mail] { state.withLock { $0.mails } }
    /// How many connections came so far.
    public var connections: Int { listener.connections }

    /// Starts one. `script` gets each command, an empty text for the connection and `.` for the end of a content; nil: as a relay
    /// would reply.
    public init(_ script: @escaping @Sendable (String) -> Reply? = { _ in nil }) {
        let state = state
        listener = LoopbackListener { connection in Self.serve(connection, state, script) }
    }

    /// Ends it, and all its connections.
    public func stop() { listener.stop() }

    private static func usual(_ command: String) -> Reply {
        switch command.split(separator: " ").first?.uppercased() ?? "" {
        case "": .say("220 relay.example ESMTP")
        case "EHLO": .say("250-relay.example\r\n250-8BITMIME\r\n250 SIZE 1000000")
        case "DATA": .say("354 go on")
        case "QUIT": .say("221 bye")
        case ".": .say("250 2.0.0 queued")
        case "AUTH": .say("235 2.7.0 welcome")
        case "HELO", "MAIL", "RCPT", "RSET", "NOOP": .say("250 ok")
        default: .say("500 what?")
        }
    }

    private static func serve(
        _ connection: Int32, _ state: Locked<State>, _ script: @Sendable (String) -> Reply?
    ) {
        var lines = LineReader(connection)
        var (sender, recipients) = ("", [String]())
        /// Replies to a command, and notes what it took before the other side can know. The code of the reply; nil: the
        /// connection is over.
        func reply(_ command: String, taking mail: Mail? = nil) -> Int? {
            if !command.isEmpty { state.withLock { $0.commands.append(command) } }
            switch script(command) ?? usual(command) {
            case .say(let text):
                let code = Int(text.prefix(3)) ?? 0
                if let mail, code < 400 { state.withLock { $0.mails.append(mail) } }
                return LoopbackListener.write(Array((text + "\r\n").utf8), to: connection) ? code : nil
            case .endless(let text):
                while LoopbackListener.write(Array(text.utf8), to: connection) {}
                return nil
            case .hang:
                LoopbackListener.hang(connection)
                return nil
            case .cut: return nil
            }
        }
        guard reply("") != nil else { return }
        while let command = lines.next() {
            guard let code = reply(command) else { break }
            let verb = command.prefix(4).uppercased()
            if verb == "QUIT" { break }
            guard code < 400 else { continue }
            if verb == "MAIL" { (sender, recipients) = (address(command), []) }
            if verb == "RCPT" { recipients.append(address(command)) }
            guard verb == "DATA" else { continue }
            var content: [String] = []
            while let line = lines.next(), line != "." {
                content.append(line.hasPrefix(".") ? String(line.dropFirst()) : line)
            }
            let mail = Mail(sender: sender, recipients: recipients, content: content.map { $0 + "\r\n" }.joined())
            guard reply(".", taking: mail) != nil else { break }
        }
        shutdown(connection, Int32(SHUT_RDWR))
    }

    private static func address(_ command: String) -> String {
        String(command.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
    }

    /// The lines of a connection, without CR LF.
    private struct LineReader {
        private let connection: Int32
        private var bytes: [UInt8] = []

        init(_ connection: Int32) { self.connection = connection }

        mutating func next() -> String? {
            while true {
                if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { bytes.removeSubrange(...end) }
                    return String(decoding: bytes[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
                }
                var buffer = [UInt8](repeating: 0, count: 16_384)
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                bytes += buffer.prefix(count)
            }
        }
    }
}

extension String {
    fileprivate func components(until end: String) -> String {
        firstRange(of: end).map { String(self[..<$0.lowerBound]) } ?? self
    }
}
