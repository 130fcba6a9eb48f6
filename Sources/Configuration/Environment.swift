public import Cryptography
internal import Federation
internal import Glibc
public import Sessions
public import Telemetry

/// The inputs besides the configuration, for the server, the command line and tests: clocks, random bytes, log and secrets.
public struct Environment: Sendable {
    /// The time; with `followsDatabaseClock`, the clock of this machine.
    public var clock: WallClock
    /// Whether the time is that of a database with a clock of its own, which all nodes share. False where a program moves the
    /// time itself.
    public var followsDatabaseClock = false
    /// The clock with which admins move the time forward; nil: they do not.
    public var testClock: TestClock?
    /// Seconds on a clock that cannot be set.
    public var secondsPassed: @Sendable () -> Int64
    /// Random bytes.
    public var random: RandomSource
    /// The log.
    public var logger: Logger
    /// The root keys themselves (`SOJOURN_ROOT_KEY`), which replace the key file.
    public var rootKeyVariable: String?
    /// An admin key that the start creates (`SOJOURN_ADMIN_KEY`).
    public var adminKeyVariable: String?
    /// The secrets of webhooks by their variables (`SOJOURN_WEBHOOK_SECRET_NAME`), which replace the files.
    public var webhookSecretVariables: [String: String]
    /// The client secrets of this server at identity providers, by their variables (`SOJOURN_CLIENT_SECRET_…`).
    public var clientSecretVariables: [String: String] = [:]

    /// The password at the mail relay (`SOJOURN_MAIL_PASSWORD`), which replaces the file.
    public var mailPasswordVariable: String?
    /// The secrets of the program for mails (`SOJOURN_MAIL_WEBHOOK_SECRET`), which replace the file.
    public var mailWebhookSecretVariable: String?

    /// An environment of the given parts.
    public init(
        clock: WallClock, secondsPassed: @escaping @Sendable () -> Int64 = Self.systemSecondsPassed,
        random: RandomSource = .system, logger: Logger, rootKeyVariable: String? = nil, adminKeyVariable: String? = nil,
        webhookSecretVariables: [String: String] = [:]
    ) {
        self.clock = clock
        self.secondsPassed = secondsPassed
        self.random = random
        self.logger = logger
        self.rootKeyVariable = rootKeyVariable
        self.adminKeyVariable = adminKeyVariable
        self.webhookSecretVariables = webhookSecretVariables
    }

    /// Seconds since the start of the machine, including sleep.
    public static let systemSecondsPassed: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec)
    }

    /// The system's clock and random bytes, a log on standard error, and the secrets of the process environment.
    public static func system(_ log: ServerConfiguration.Log, environment: [String: String]) -> Environment {
        let value = { (variable: ServerConfiguration.SpecialVariable) -> String? in
            environment[variable.rawValue].flatMap { $0.isEmpty ? nil : $0 }
        }
        var result = Environment(
            clock: .system,
            logger: Logger(level: log.level, format: log.format) {
                var time = timespec()
                clock_gettime(CLOCK_REALTIME, &time)
                return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
            },
            rootKeyVariable: value(.rootKey), adminKeyVariable: value(.adminKey),
            webhookSecretVariables: environment.filter { name, text in
                name.hasPrefix(ServerConfiguration.Webhook.secretVariablePrefix) && !text.isEmpty
            })
        result.followsDatabaseClock = true
        (result.mailPasswordVariable, result.mailWebhookSecretVariable) = (
            value(.mailPassword), value(.mailWebhookSecret)
        )
        result.clientSecretVariables = environment.filter {
            $0.key.hasPrefix(IdentityProvider.secretVariablePrefix) && !$0.value.isEmpty
        }
        return result
    }
}

extension WallClock {
    /// The system's clock.
    public static let system = WallClock(
        { Instant(secondsSinceEpoch: Int64(time(nil))) },
        precisely: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        })
}
