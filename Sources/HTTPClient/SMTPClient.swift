internal import Dispatch

/// Hands mails to a relay, each within its deadline. Connections are kept between mails.
public struct SMTPClient: Sendable {
    /// The relay, and how it is spoken to.
    public struct Options: Hashable, Sendable {
        /// The relay. Without TLS from the start, STARTTLS is demanded, except of this machine without `authorities`.
        public var relay: RelayURL
        /// The name of this machine in EHLO.
        public var helo: String
        /// The user and the password; nil: the relay asks for none.
        public var credentials: Credentials?
        /// The mechanism of authentication, such as `PLAIN`; nil: the strongest that both know.
        public var mechanism: String?
        /// The path of a file with certificates (PEM) that verify the relay; nil for the system's.
        public var authorities: String?
        /// The number of mails at one time; each has a connection.
        public var width: Int
        /// The time for a connection until it is ready for the first mail.
        public var connectDeadline = Duration.seconds(30)

        /// Options for a relay.
        public init(
            relay: RelayURL, helo: String, credentials: Credentials? = nil, mechanism: String? = nil,
            authorities: String? = nil, width: Int = 1
        ) {
            (self.relay, self.helo, self.credentials) = (relay, helo, credentials)
            (self.mechanism, self.authorities, self.width) = (mechanism, authorities, max(1, width))
        }

        /// Whether a connection that begins in the clear must become TLS.
        var demandsTLS: Bool { !relay.isLoopback || authorities != nil }
    }

    /// A user and a password.
    public struct Credentials: Hashable, Sendable {
        /// The user.
        public var user: String
        /// The password.
        public var password: String

        /// A user and a password.
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }
    }

    /// The mails that may wait for a connection.
    private static let waitingMax = 256
    /// How long a conversation goes on when its task is cancelled, because a mail without a reply is sent twice.
    private static let grace = DispatchTimeInterval.seconds(5)
    private static let lookUpTime = Duration.seconds(5)

    /// The options.
    public let options: Options
    private let workers: WorkerThreads<Attempt, SMTPReport>

    /// A mail with the time of its conversation.
    private struct Attempt: Sendable {
        let message: SMTPMessage
        let time: Duration
    }

    /// Creates a client with threads of its own, which start with the first mail.
    public init(_ options: Options) {
        self.options = options
        workers = WorkerThreads(width: options.width, waitingMax: Self.waitingMax) { handle, attempt, left in
            do throws(OutboundError) {
                return .success(try handle.perform(attempt.message, within: min(left, attempt.time), options))
            } catch { return .failure(error) }
        }
    }

    /// Sends one mail, and reports what the relay replied.
    public func send(_ message: SMTPMessage, within deadline: Duration) async -> SMTPReport {
        do throws(OutboundError) {
            // libcurl ends a conversation in time, and knows how far it has come. The caller's time is for a look-up that hangs.
            return try await workers.send(
                Attempt(message: message, time: deadline), until: .now + deadline + Self.lookUpTime, grace: Self.grace)
        } catch {
            // The conversation of a cancelled task goes on without it.
            return SMTPReport(outcome: Task.isCancelled ? .inDoubt(error) : .failed(error))
        }
    }
}

/// A mail as the relay gets it: envelope and content.
public struct SMTPMessage: Sendable {
    let sender: String
    let recipient: String
    let content: [UInt8]
    /// Whether the conversation ends before the content is sent.
    let isProbe: Bool

    /// A mail of `content`, with lines that end in CR LF. Returns nil if an address is not plain: it would be read as a command.
    public init?(from sender: String, to recipient: String, content: [UInt8]) {
        guard Self.isPlain(sender), Self.isPlain(recipient) else { return nil }
        (self.sender, self.recipient, self.content, isProbe) = (sender, recipient, content, false)
    }

    /// A probe: sender and recipient are named, and nothing is sent.
    public init?(probing recipient: String, from sender: String) {
        guard Self.isPlain(sender), Self.isPlain(recipient) else { return nil }
        (self.sender, self.recipient, content, isProbe) = (sender, recipient, [], true)
    }

    /// Whether an address has only visible ASCII characters, none with a meaning in commands (RFC 5321 section 4.1.2), and one @.
    public static func isPlain(_ address: String) -> Bool {
        let bytes = Array(address.utf8)
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        return bytes.count <= 254 && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && bytes.allSatisfy { (0x21...0x7E).contains($0) && !"<>()[]\\,;:\"".utf8.contains($0) }
    }
}
