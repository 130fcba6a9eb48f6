/// What the sources still hold against the rules. Nothing may be added: a number is an upper bound, and shrinks to the number in
/// the comment; a list shrinks to nothing.
enum Remaining {
    /// Comment lines of `Sources` with a pronoun for persons, in a thousand. Goal: 10.
    static let pronounsPerThousand = 97
    /// Docstrings that begin with "The same". Goal: 0.
    static let sameDocstrings = 46
    /// Requirements of `Store`. Goal: 10.
    static let storeRequirements = 55
    /// Files with `@inline(never)` or `@unchecked Sendable` that do not say why, with a figure, in their first lines. Goal: 0.
    static let unexplainedSpeed = 15
    /// Folders with more than 20 files.
    static let crowdedFolders: Set = ["migrations"]
    /// Targets without a file of their name.
    static let unopenedTargets: Set = [
        "EventLoops", "Geolocation", "Server", "Sockets", "TLS", "JSON", "Locks", "Sessions",
    ]
    /// Types named like a module.
    static let moduleNames: Set = [
        "HTTPClient", "HTTPServer", "SQLiteStore", "PostgresStore", "Endpoints", "JSON", "Server", "Sessions",
    ]
    /// Types with a coined name.
    static let coinages: Set = ["Disguise", "Entrance", "Patience", "DomainStage"]
    /// Suites that share a name with another.
    static let sharedSuiteNames: Set = ["MigrationTests", "EarlierDatabaseTests"]
}
