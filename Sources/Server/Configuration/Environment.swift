public import Cryptography
internal import Federation
internal import Glibc
public import Sessions
public import Telemetry

/// What comes from outside besides the configuration: the same for the server, the command line and a test.
public struct Environment: Sendable {
    /// The time.
    public var clock: WallClock
    /// Seconds on a clock that nobody can set.
    public var secondsPassed: @Sendable () -> Int64
    /// Random bytes.
    public var random: RandomSource
    /// The log.
    public var logger: Logger
    /// The root keys themselves (`SOJOURN_ROOT_KEY`), which then take the place of the key file.
    public var rootKeyVariable: String?
    /// An admin key that is to exist (`SOJOURN_ADMIN_KEY`).
    public var adminKeyVariable: String?
    /// The secrets of webhooks by their variables (`SOJOURN_WEBHOOK_SECRET_NAME`), which then take the place of the files.
    public var webhookSecretVariables: [String: String]
    /// The secrets that this server has at identity providers, by the names of their variables (`SOJOURN_CLIENT_SECRET_…`).
    public var clientSecretVariables: [String: String] = [:]

    /// Environment.
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

    /// Seconds since the machine was started, its sleep included.
    public static let systemSecondsPassed: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec)
    }

    /// The system's clock and random bytes, a log on standard error, and what the environment holds.
    public static func system(_ log: Configuration.Log, environment: [String: String]) -> Environment {
        let value = { (variable: Configuration.SpecialVariable) -> String? in
            environment[variable.rawValue].flatMap { $0.isEmpty ? nil : $0 }
        }
        var surroundings = Environment(
            clock: .system,
            logger: Logger(level: log.level, format: log.format) {
                var time = timespec()
                clock_gettime(CLOCK_REALTIME, &time)
                return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
            },
            rootKeyVariable: value(.rootKey), adminKeyVariable: value(.adminKey),
            webhookSecretVariables: environment.filter { name, text in
                name.hasPrefix(Configuration.Webhook.secretVariablePrefix) && !text.isEmpty
            })
        surroundings.clientSecretVariables = environment.filter {
            $0.key.hasPrefix(IdentityProvider.secretVariablePrefix) && !$0.value.isEmpty
        }
        return surroundings
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
