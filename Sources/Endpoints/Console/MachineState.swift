/// What the console says about the machine of this node, and cannot read from the database. `sojourn doctor` checks the same.
public struct MachineState: Sendable {
    /// The certificate of a listener.
    public struct Certificate: Hashable, Sendable {
        /// `public` or `admin`.
        public var listener: String
        /// The end, in seconds since 1970.
        public var notAfter: Int64

        /// A certificate.
        public init(listener: String, notAfter: Int64) {
            self.listener = listener
            self.notAfter = notAfter
        }
    }

    /// The days before the end of a certificate from which it has to be renewed.
    public static let certificateDays: Int64 = 14
    /// The days after which a geo database is stale. Its publisher renews it every week.
    public static let geoDatabaseDays: Int64 = 60
    /// The room on the disk below which an operator has to make some.
    public static let scarceMebibytes: UInt64 = 1024

    /// The certificates of the listeners.
    public var certificates: @Sendable () -> [Certificate] = { [] }
    /// When the geo database was made, in seconds since 1970; nil: there is none.
    public var geoDatabaseBuiltAt: @Sendable () -> Int64? = { nil }
    /// The room that is free for the database; nil: it is not on this machine.
    public var freeMebibytes: @Sendable () -> UInt64? = { nil }
    /// How far the clock is ahead of the database's, in seconds, if that is too far.
    public var clockLead: @Sendable () -> Double? = { nil }
    /// Whether other nodes agree with the database about the time and this machine does not, so that it is not ready.
    public var isClockOutvoted: @Sendable () -> Bool = { false }

    /// Sends a signed test message to the webhook of that name, at once and once; nil: there is none.
    public var testWebhook: @Sendable (_ name: String) async -> WebhookTest? = { _ in nil }

    /// A machine of which nothing is known.
    public init() {}
}

/// What came of a test message to a webhook.
public struct WebhookTest: Hashable, Sendable {
    /// The `webhook-id` of the message.
    public var id: String
    /// Whether the receiver took it.
    public var isTaken: Bool
    /// The time that it took.
    public var milliseconds: Int
    /// The status of the answer; nil: there was none.
    public var status: Int?
    /// The beginning of the content of the answer.
    public var content: String?
    /// Why there was no answer, in a word.
    public var failure: String?

    /// What came of a message.
    public init(
        id: String, isTaken: Bool, milliseconds: Int, status: Int? = nil, content: String? = nil, failure: String? = nil
    ) {
        self.id = id
        self.isTaken = isTaken
        self.milliseconds = milliseconds
        self.status = status
        self.content = content
        self.failure = failure
    }
}
