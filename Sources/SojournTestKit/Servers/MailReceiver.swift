#if os(Linux)
    public import Foundation

    /// A mail server for tests (RFC 5321) on a free port of 127.0.0.1: it takes every mail, keeps it in memory, and reads out of it
    /// what a user would.
    public final class MailReceiver: Sendable {
        /// A mail.
        public struct Mail: Hashable, Sendable {
            /// The recipient of the envelope.
            public let to: String
            /// The subject, as it is on the wire.
            public let subject: String
            /// The text, decoded.
            public let text: String

            /// The code in the first line of the text; nil: the mail has none.
            public var code: String? {
                let first = text.split(whereSeparator: \.isNewline).first ?? ""
                let digits = first.filter { $0 != " " && $0 != "-" }
                return !digits.isEmpty && digits.allSatisfy(\.isNumber) ? digits : nil
            }

            /// The first link in the text.
            public var link: URL? {
                text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") }.flatMap {
                    URL(string: String($0))
                }
            }
        }

        /// The receiver could not be started, or no mail came.
        public enum Failure: Error, Hashable, Sendable {
            case notStarted
            case noMail(to: String)
        }

        /// The value for `mail.relay` of the server's configuration.
        public let relay: String
        private let listener: LoopbackListener
        private let received = Guarded<[Mail]>([])

        /// Starts a receiver.
        public init() throws {
            guard let listener = LoopbackListener() else { throw Failure.notStarted }
            self.listener = listener
            relay = "smtp://127.0.0.1:\(listener.port)"
            listener.serve { [received] stream in
                try? Self.serve(stream) { mail in received.withLock { $0.append(mail) } }
            }
        }

        deinit { listener.stop() }

        /// The mails to an address, the oldest first; to all, if it is nil.
        public func mails(to address: String? = nil) -> [Mail] {
            received.withLock { $0 }.filter { address == nil || $0.to.lowercased() == address?.lowercased() }
        }

        /// Waits until a mail has come to an address. Returns the first one that is meant.
        public func mail(
            to address: String, within limit: Duration = .seconds(30),
            where isMeant: @Sendable (Mail) -> Bool = { _ in true }
        ) async throws -> Mail {
            let end = ContinuousClock.now + limit
            while true {
                if let mail = mails(to: address).first(where: isMeant) { return mail }
                guard ContinuousClock.now < end else { throw Failure.noMail(to: address) }
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        /// Speaks SMTP on one connection, until the client ends it.
        private static func serve(_ stream: SocketStream, _ take: (Mail) -> Void) throws {
            var recipients: [String] = []
            func answer(_ line: String) throws { try stream.write(Array((line + "\r\n").utf8)) }
            try answer("220 localhost")
            while true {
                let line = try stream.line()
                switch line.prefix(4).uppercased() {
                case "RCPT":
                    let address = line.split(separator: "<").last?.split(separator: ">").first ?? ""
                    recipients.append(String(address))
                    try answer("250 ok")
                case "DATA":
                    try answer("354 go on")
                    let content = try message(stream)
                    for recipient in recipients { take(Mail(to: recipient, content: content)) }
                    recipients = []
                    try answer("250 kept")
                case "QUIT":
                    try answer("221 bye")
                    return
                case "RSET":
                    recipients = []
                    try answer("250 ok")
                default: try answer("250 localhost")
                }
            }
        }

        private static func message(_ stream: SocketStream) throws -> [String] {
            var lines: [String] = []
            while true {
                let line = try stream.line()
                if line == "." { return lines }
                lines.append(line.hasPrefix(".") ? String(line.dropFirst()) : line)
            }
        }
    }

    extension MailReceiver.Mail {
        /// Reads a message of two forms of text, the plain one first, in quoted-printable (RFC 2045 section 6.7).
        fileprivate init(to: String, content: [String]) {
            self.to = to
            subject = content.first { $0.hasPrefix("Subject: ") }.map { String($0.dropFirst("Subject: ".count)) } ?? ""
            let plain = content.firstIndex { $0.hasPrefix("Content-Type: text/plain") } ?? content.startIndex
            let body = content[plain...].drop { !$0.isEmpty }.dropFirst().prefix { !$0.hasPrefix("--") }
            var joined: [UInt8] = []
            for line in body {
                let isContinued = line.hasSuffix("=")
                joined += Self.decoded(Array((isContinued ? line.dropLast() : line[...]).utf8))
                if !isContinued { joined.append(10) }
            }
            text = String(decoding: joined, as: UTF8.self)
        }

        private static func decoded(_ line: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            var index = line.startIndex
            while index < line.endIndex {
                let pair = line[index...].dropFirst().prefix(2)
                if line[index] == 61, pair.count == 2,
                    let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
                {
                    bytes.append(byte)
                    index += 3
                } else {
                    bytes.append(line[index])
                    index += 1
                }
            }
            return bytes
        }
    }
#endif
