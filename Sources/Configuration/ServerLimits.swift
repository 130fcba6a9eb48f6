public import Endpoints
public import Sessions

/// The limits of every resource that a client can consume, and of every wait.
public struct ServerLimits: Hashable, Sendable {
    /// The request line, in bytes. Beyond: 414.
    public var requestLineBytes = 8192
    /// The lines of a request's head. Beyond: 431.
    public var fieldCount = 100
    /// The lines of a request's head together, in bytes. Beyond: 431.
    public var fieldBytes = 16384
    /// The content of a request, in bytes. Beyond: 413.
    public var bodyBytes = 131_072
    /// From the first byte of a request to the end of its head. Beyond: 408.
    public var headerTimeout = Duration.seconds(10)
    /// The time for content, prolonged as long as the minimum rate is kept. Beyond: 408.
    public var bodyTimeout = Duration.seconds(30)
    /// The rate that prolongs the timeout, in bytes per second. Beyond: 408.
    public var bodyMinimumRate = 500
    /// Between two requests of a connection. Beyond: closed.
    public var idleTimeout = Duration.seconds(75)
    /// The time for the client to read an answer, prolonged as long as the minimum rate is kept. Beyond: cut.
    public var writeTimeout = Duration.seconds(30)
    /// The rate that prolongs the timeout, in bytes per second. Beyond: cut.
    public var writeMinimumRate = 500
    /// The time to produce an answer. Beyond: 503.
    public var requestTimeout = Duration.seconds(15)
    /// The time for which idle connections may still send requests when the server stops.
    public var stopGrace = Duration.seconds(1)
    /// The time for which a stop waits for running requests.
    public var stopTimeout = Duration.seconds(20)
    /// Connections of all listeners together. Beyond: 503.
    public var connections = 10_000
    /// Connections from one address; 0: no limit. Beyond: 503.
    public var connectionsPerAddress = 0
    /// How many leading bits of an IPv6 address count as one address.
    public var ipv6PrefixBits = 64
    /// Requests of one connection, which then closes; 0: no limit.
    public var requestsPerConnection = 100_000
    /// Concurrent requests of one listener. Beyond: 503.
    public var pendingRequests = 4096
    /// Concurrent long polls and streams of the public listeners. Beyond: 503.
    public var subscribers = 1024
    /// Concurrent long polls and streams of the admin listeners. Beyond: 503.
    public var adminSubscribers = 512
    /// Concurrent long polls of one session, of one client and of one address without a token, and those of pages that wait for a
    /// phone, all among the subscribers. Beyond: 503.
    public var waiting = WaitingLimits()
    /// What a device has to share with the phone that lets it in.
    public var remoteLoginSame = ProximityRule.off
    /// Memory for unfinished requests and answers beyond 4 KiB of each connection, in bytes. Beyond: 503.
    public var bufferedBytes = 67_108_864
    /// Concurrent TLS handshakes; 0: one for each core.
    public var tlsHandshakeWidth = 0
    /// Waiting steps of handshakes. Beyond: closed.
    public var tlsHandshakesWaiting = 1024
    /// Event loops; 0: one for each core.
    public var eventLoops = 0
    /// Concurrent password hashes, each with 128 MiB of memory.
    public var passwordHashWidth = 2
    /// Running and waiting password hashes of each priority. Beyond: 503 for the network with the most.
    public var passwordHashPending = 64
    /// The rules for new passwords.
    public var passwords = PasswordRules()
    /// The lifetime of a password reset token.
    public var resetTokenLifetime = Duration.seconds(3600)
    /// The delays after wrong passwords of one user. Beyond: 429.
    public var failedAttempts = LockoutPolicy()
    /// The passkeys of one user. Beyond: 409.
    public var passkeysPerUser = PasskeyPolicy.defaultCountMax
    /// The bounds of second factors.
    public var secondFactors = SecondFactorRules()
    /// The rate limits of attempts that could be guesses. Beyond: 429.
    public var rateLimits = RateLimits()

    /// The defaults.
    public init() {}
}
