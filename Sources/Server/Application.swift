internal import Cryptography
internal import Endpoints
public import Sessions
internal import SQLiteStore
public import Telemetry

/// What comes from outside besides the configuration: the same for the server, the command line and a test.
public struct Surroundings: Sendable {
    /// The time.
    public var clock: WallClock
    /// Random bytes.
    public var random: RandomSource
    /// The log.
    public var logger: Logger
    /// The root keys themselves (`SOJOURN_ROOT_KEY`), which then take the place of the key file.
    public var rootKeyVariable: String?
    /// An admin key that is to exist (`SOJOURN_ADMIN_KEY`).
    public var adminKeyVariable: String?

    /// Surroundings.
    public init(
        clock: WallClock, random: RandomSource = .system, logger: Logger, rootKeyVariable: String? = nil,
        adminKeyVariable: String? = nil
    ) {
        self.clock = clock
        self.random = random
        self.logger = logger
        self.rootKeyVariable = rootKeyVariable
        self.adminKeyVariable = adminKeyVariable
    }
}
