// swift-tools-version: 6.2
import PackageDescription

// A target imports only from rows above its own; the build checks it
// (`swift build --explicit-target-dependency-import-check error`).

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    // Functions are inlined across targets. Exclusive access to memory is checked at run time in every test, and not paid for
    // where it matters: both together take an eighth off a request.
    .unsafeFlags(["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]
/// For the modules that touch raw memory: every unsafe expression is marked where it stands.
let strictMemory: [SwiftSetting] = strict + [.strictMemorySafety()]

let package = Package(
    name: "sojourn",
    products: [
        .executable(name: "sojourn", targets: ["sojourn"]),
        .executable(name: "sojourn-bench", targets: ["sojourn-bench"]),
    ],
    targets: [
        // Row 0: system libraries, a lock, and a way to write JSON
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMaxMindDB", providers: [.apt(["libmaxminddb-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "COpenAPI"),
        .target(name: "CCommonPasswords"),
        .target(name: "Locks", swiftSettings: strictMemory),
        .target(name: "JSON", swiftSettings: strictMemory),
        // Row 1: mechanisms that know nothing of tokens
        .target(name: "HTTP", swiftSettings: strictMemory),
        .target(name: "Cryptography", dependencies: ["COpenSSL", "CLinux", "Locks"], swiftSettings: strictMemory),
        .target(name: "EventLoops", dependencies: ["CLinux", "Locks"], swiftSettings: strictMemory),
        .target(name: "Telemetry", dependencies: ["JSON", "Locks"], swiftSettings: strict),
        .target(
            name: "Migrations", path: "migrations",
            resources: [
                .embedInCode("001_create_tables.sqlite.sql"), .embedInCode("001_create_tables.postgres.sql"),
                .embedInCode("002_add_foreign_tokens.sqlite.sql"), .embedInCode("002_add_foreign_tokens.postgres.sql"),
                .embedInCode("003_add_client_dpop.sqlite.sql"), .embedInCode("003_add_client_dpop.postgres.sql"),
                .embedInCode("004_guard_logins.sqlite.sql"), .embedInCode("004_guard_logins.postgres.sql"),
                .embedInCode("005_add_device_key.sqlite.sql"), .embedInCode("005_add_device_key.postgres.sql"),
                .embedInCode("006_add_client_keys.sqlite.sql"), .embedInCode("006_add_client_keys.postgres.sql"),
                .embedInCode("007_add_revocations.sqlite.sql"), .embedInCode("007_add_revocations.postgres.sql"),
                .embedInCode("008_add_identities.sqlite.sql"), .embedInCode("008_add_identities.postgres.sql"),
                .embedInCode("009_add_webhook.sqlite.sql"), .embedInCode("009_add_webhook.postgres.sql"),
                .embedInCode("010_add_presence.sqlite.sql"), .embedInCode("010_add_presence.postgres.sql"),
                .embedInCode("011_add_resources.sqlite.sql"), .embedInCode("011_add_resources.postgres.sql"),
                .embedInCode("012_add_session_resources.sqlite.sql"),
                .embedInCode("012_add_session_resources.postgres.sql"),
                .embedInCode("013_add_webhooks.sqlite.sql"), .embedInCode("013_add_webhooks.postgres.sql"),
                .embedInCode("014_add_used_tokens.sqlite.sql"), .embedInCode("014_add_used_tokens.postgres.sql"),
                .embedInCode("015_add_provider_checks.sqlite.sql"),
                .embedInCode("015_add_provider_checks.postgres.sql"),
                .embedInCode("016_add_verified_emails.sqlite.sql"),
                .embedInCode("016_add_verified_emails.postgres.sql"),
                .embedInCode("017_index_verified_emails.sqlite.sql"),
                .embedInCode("017_index_verified_emails.postgres.sql"),
                .embedInCode("018_tell_revocations.sqlite.sql"),
                .embedInCode("018_tell_revocations.postgres.sql"),
                .embedInCode("019_keep_served_maximum.sqlite.sql"),
                .embedInCode("019_keep_served_maximum.postgres.sql"),
                .embedInCode("020_share_guesses.sqlite.sql"), .embedInCode("020_share_guesses.postgres.sql"),
                .embedInCode("021_confirm_child.sqlite.sql"), .embedInCode("021_confirm_child.postgres.sql"),
            ], swiftSettings: strict),
        // Row 2: formats and sockets
        .target(name: "OAuth", dependencies: ["HTTP", "JSON"], swiftSettings: strict),
        .target(name: "JOSE", dependencies: ["Cryptography"], swiftSettings: strict),
        .target(name: "Sockets", dependencies: ["CLinux"], swiftSettings: strictMemory),
        .target(name: "TLS", dependencies: ["COpenSSL", "Cryptography", "Locks"], swiftSettings: strictMemory),
        .target(name: "HTTPClient", dependencies: ["CCurl", "HTTP", "Locks"], swiftSettings: strictMemory),
        // Row 3: the domain, and the engine that does not know it
        .target(
            name: "Sessions", dependencies: ["CCommonPasswords", "Cryptography", "JOSE", "JSON", "Locks"],
            swiftSettings: strict),
        .target(
            name: "HTTPServer", dependencies: ["HTTP", "EventLoops", "Sockets", "TLS", "CLinux", "Locks"],
            swiftSettings: strictMemory),
        .target(name: "Geolocation", dependencies: ["CMaxMindDB", "Sockets"], swiftSettings: strictMemory),
        // Row 4: the domain meets the wire and the disk
        .target(
            name: "Endpoints",
            dependencies: ["COpenAPI", "HTTP", "OAuth", "JOSE", "Cryptography", "Locks", "Sessions", "Telemetry"],
            swiftSettings: strict),
        .target(
            name: "Federation",
            dependencies: ["HTTP", "HTTPClient", "JOSE", "Cryptography", "Sessions", "Telemetry"],
            swiftSettings: strict),
        .target(
            name: "StoreFoundation", dependencies: ["Sessions", "Locks"], swiftSettings: strict),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "CSQLite", "CLinux", "StoreFoundation", "Migrations", "Cryptography", "Sessions", "Telemetry", "Locks",
            ], swiftSettings: strictMemory),
        .target(
            name: "PostgresStore",
            dependencies: ["CPostgres", "StoreFoundation", "Migrations", "Cryptography", "Sessions", "Locks"],
            swiftSettings: strictMemory),
        // Row 5: wiring
        .target(
            name: "Server",
            dependencies: [
                "Cryptography", "Telemetry", "HTTP", "HTTPClient", "EventLoops", "Sockets", "TLS", "HTTPServer",
                "Sessions",
                "Federation", "Geolocation",
                "Endpoints", "SQLiteStore", "PostgresStore", "Locks",
            ], swiftSettings: strict),
        // Row 6: programs
        .executableTarget(
            name: "sojourn",
            dependencies: [
                "CLinux", "Server", "Endpoints", "Sessions", "SQLiteStore", "PostgresStore", "StoreFoundation", "HTTP",
                "Sockets", "Geolocation", "TLS", "Cryptography", "JOSE", "Telemetry", "Locks",
            ], swiftSettings: strict),
        .executableTarget(
            name: "sojourn-bench",
            dependencies: ["Sessions", "SQLiteStore", "Sockets", "Cryptography", "CSQLite", "CLinux", "Locks"],
            swiftSettings: strict),
        // Tests
        .target(
            name: "HTTPConformance", dependencies: ["HTTP", "Sockets"], path: "Tests/HTTPConformance",
            swiftSettings: strict),
        .testTarget(
            name: "HTTPTests", dependencies: ["HTTP", "HTTPConformance", "HTTPServer", "EventLoops", "Sockets"],
            exclude: ["Differential/peers.py"], swiftSettings: strict),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
        .testTarget(
            name: "CryptographyTests", dependencies: ["Cryptography", "Locks"], exclude: ["Wycheproof"],
            swiftSettings: strict),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry", "Locks"], swiftSettings: strict),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth", "HTTP"], swiftSettings: strict),
        .testTarget(
            name: "JOSETests", dependencies: ["JOSE", "Cryptography"], exclude: ["Wycheproof"], swiftSettings: strict),
        .target(name: "TLSStage", dependencies: ["TLS"], path: "Tests/TLSStage", swiftSettings: strict),
        .target(name: "HostileServer", dependencies: ["Locks"], path: "Tests/HostileServer", swiftSettings: strict),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "HTTP", "HTTPConformance", "EventLoops", "Sockets", "TLS", "TLSStage", "CLinux",
                "COpenSSL",
                "Locks",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPClientTests",
            dependencies: [
                "HTTPClient", "HTTP", "HostileServer", "HTTPServer", "EventLoops", "Sockets", "TLS", "TLSStage",
            ], swiftSettings: strict),
        .testTarget(name: "SessionsTests", dependencies: ["Sessions", "Cryptography", "JOSE"], swiftSettings: strict),
        .target(
            name: "StoreConformance", dependencies: ["Sessions", "Cryptography", "JOSE", "Locks", "Migrations"],
            path: "Tests/StoreConformance",
            swiftSettings: strict),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "SQLiteStore", "StoreConformance", "Sessions", "JOSE", "Cryptography", "Migrations", "CSQLite",
                "Locks", "StoreFoundation",
            ],
            swiftSettings: strict),
        .target(name: "PostgresStage", path: "Tests/PostgresStage", swiftSettings: strict),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "PostgresStore", "SQLiteStore", "PostgresStage", "TLSStage", "StoreConformance", "StoreFoundation",
                "Sessions",
                "Cryptography",
                "Migrations", "Locks",
            ], swiftSettings: strict),
        .testTarget(
            name: "EndpointsTests",
            dependencies: [
                "Endpoints", "Federation", "HTTPClient", "HostileServer", "SQLiteStore", "StoreConformance", "Sessions",
                "OAuth", "JOSE", "HTTP", "Cryptography", "Telemetry", "Locks",
            ], swiftSettings: strict),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "sojourn", "Server", "Endpoints", "Federation", "Geolocation", "HTTPClient", "HostileServer",
                "SQLiteStore", "CSQLite",
                "Sessions",
                "OAuth", "JOSE", "HTTP",
                "HTTPConformance", "HTTPServer", "Sockets", "TLS", "TLSStage", "Cryptography", "Telemetry", "Locks",
                "Migrations", "PostgresStore", "PostgresStage",
            ], exclude: ["Clients", "Places", "RealProvider", "Snippets"], swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
