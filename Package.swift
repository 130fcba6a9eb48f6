// swift-tools-version: 6.2
import PackageDescription

// A target imports only from rows above its own; the build checks it
// (`swift build --explicit-target-dependency-import-check error`).

/// For the modules that apps depend on: no unsafe flags, because SwiftPM refuses packages with them in some versions.
let portable: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]
let strict: [SwiftSetting] =
    portable + [
        // Functions are inlined across targets. Exclusive access to memory is checked at run time in every test, and not paid for
        // where it matters: both together take an eighth off a request.
        .unsafeFlags(["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release))
    ]
/// For the modules that touch raw memory: every unsafe expression is marked where it stands.
let strictMemory: [SwiftSetting] = strict + [.strictMemorySafety()]

/// For the modules that do nothing but compute, and for the tests that explore with them: optimized in a debug build as well,
/// because their tests take several times as long otherwise. What `assert` says is checked all the same.
/// `SOJOURN_OPTIMIZED=no` leaves that out.
let optimized: [SwiftSetting] =
    Context.environment["SOJOURN_OPTIMIZED"] == "no"
    ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// The tests that are built: all of them, or those that `SOJOURN_TESTS` names, by lane (`unit`, `stores`, `system`, `none`) or
/// by target, separated by commas.
let chosenTests = Context.environment["SOJOURN_TESTS"].map { Set($0.split(separator: ",").map(String.init)) }

func tests(
    _ name: String, _ lane: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    more: [SwiftSetting] = []
) -> [Target] {
    if let chosenTests, !chosenTests.contains(lane), !chosenTests.contains(name) { return [] }
    let folder = lane.prefix(1).uppercased() + lane.dropFirst()
    return [
        .testTarget(
            name: name, dependencies: dependencies, path: "Tests/\(folder)/\(name)", exclude: exclude,
            swiftSettings: strict + more)
    ]
}

func testSupport(_ name: String, _ dependencies: [Target.Dependency], in folder: String = "Support") -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(folder)/\(name)", swiftSettings: strict)
}

let package = Package(
    name: "sojourn",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "SojournClient", targets: ["SojournClient"]),
        .library(name: "SojournEvents", targets: ["SojournEvents"]),
        .library(name: "SojournTestKit", targets: ["SojournTestKit"]),
        .executable(name: "sojourn", targets: ["sojourn"]),
        .executable(name: "sojourn-demo", targets: ["sojourn-demo"]),
        .executable(name: "sojourn-bench", targets: ["sojourn-bench"]),
        .executable(name: "sojourn-conformance", targets: ["sojourn-conformance"]),
    ],
    targets: [
        // Row 0: system libraries, embedded files, a lock, JSON and the calendar
        .systemLibrary(
            name: "CSQLite", path: "Sources/Libraries/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/Libraries/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgres", path: "Sources/Libraries/CPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/Libraries/CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CMaxMindDB", path: "Sources/Libraries/CMaxMindDB", providers: [.apt(["libmaxminddb-dev"])]),
        .systemLibrary(
            name: "CUnistring", path: "Sources/Libraries/CUnistring", providers: [.apt(["libunistring-dev"])]),
        .systemLibrary(name: "CQREncode", path: "Sources/Libraries/CQREncode"),
        .systemLibrary(name: "CLinux", path: "Sources/Libraries/CLinux"),
        .target(name: "COpenAPI", path: "Sources/Libraries/COpenAPI"),
        .target(name: "CCommonPasswords", path: "Sources/Libraries/CCommonPasswords"),
        .target(name: "Locks", path: "Sources/Foundations/Locks", swiftSettings: portable + [.strictMemorySafety()]),
        .target(name: "JSON", path: "Sources/Foundations/JSON", swiftSettings: strictMemory + optimized),
        .target(name: "Calendar", path: "Sources/Foundations/Calendar", swiftSettings: strict),
        .target(name: "Texts", path: "Sources/Foundations/Texts", swiftSettings: strict),
        // Row 1: mechanisms that know nothing of tokens
        .target(name: "HTTP", dependencies: ["Calendar"], swiftSettings: strictMemory + optimized),
        .target(
            name: "Cryptography", dependencies: ["COpenSSL", "CLinux", "Locks"],
            swiftSettings: portable + [.strictMemorySafety()]),
        .target(name: "PRECIS", dependencies: ["CUnistring"], swiftSettings: strictMemory),
        .target(name: "EventLoops", dependencies: ["CLinux", "Locks"], swiftSettings: strictMemory),
        .target(
            name: "Telemetry", dependencies: ["Calendar", "JSON", "Locks"], path: "Sources/Foundations/Telemetry",
            swiftSettings: strict),
        // Every file in `migrations/sql`.
        .target(
            name: "Migrations", path: "migrations", resources: [.embedInCode("sql")], swiftSettings: strict),
        // Row 2: formats and sockets
        .target(name: "OAuth", dependencies: ["HTTP", "JSON"], swiftSettings: strict),
        .target(name: "JOSE", dependencies: ["Cryptography", "JSON"], swiftSettings: strict + optimized),
        // HTML, with the style sheet and the modules of script in `Assets/Files`.
        .target(
            name: "Pages", dependencies: ["Calendar", "Cryptography", "HTTP", "Texts"],
            resources: [.embedInCode("Assets/Files")], swiftSettings: strict + optimized),
        .target(name: "WebAuthn", dependencies: ["Cryptography", "JSON"], swiftSettings: strict + optimized),
        .target(name: "Sockets", dependencies: ["CLinux"], swiftSettings: strictMemory),
        .target(name: "QRCode", dependencies: ["CQREncode"], swiftSettings: strictMemory),
        .target(
            name: "TLS", dependencies: ["COpenSSL", "Calendar", "Cryptography", "Locks"], swiftSettings: strictMemory),
        .target(
            name: "HTTPClient", dependencies: ["CCurl", "HTTP", "Locks", "Sockets"], swiftSettings: strictMemory),
        .target(
            name: "SojournClient",
            dependencies: [
                .target(name: "Cryptography", condition: .when(platforms: [.linux])),
                .target(name: "Locks", condition: .when(platforms: [.linux])),
            ], swiftSettings: portable),
        .target(
            name: "SojournTestKit",
            dependencies: ["SojournClient", .target(name: "Locks", condition: .when(platforms: [.linux]))],
            swiftSettings: portable),
        // Row 3: the domain, and the engine that does not know it; the vendors' words over the SDK
        .target(name: "SojournEvents", dependencies: ["SojournClient"], swiftSettings: portable),
        .target(
            name: "Sessions",
            dependencies: ["CCommonPasswords", "Cryptography", "JOSE", "JSON", "Locks", "PRECIS", "WebAuthn"],
            swiftSettings: strict + optimized),
        .target(
            name: "HTTPServer", dependencies: ["HTTP", "EventLoops", "Sockets", "TLS", "CLinux", "Locks"],
            swiftSettings: strictMemory),
        .target(name: "Geolocation", dependencies: ["CMaxMindDB", "Sockets"], swiftSettings: strictMemory),
        // Row 4: what admins can do, and the words of mails
        .target(name: "Mail", dependencies: ["Calendar", "Sessions"], swiftSettings: strict),
        .target(name: "AdminActs", dependencies: ["HTTP", "JSON", "Sessions"], swiftSettings: strict),
        // Row 5: the console, which is words and forms
        .target(
            name: "Console",
            dependencies: ["AdminActs", "Calendar", "Cryptography", "HTTP", "JSON", "Pages", "Sessions"],
            swiftSettings: strict),
        // Row 6: the domain meets the wire and the disk
        .target(
            name: "Endpoints",
            dependencies: [
                "AdminActs", "Console", "COpenAPI", "HTTP", "JSON", "OAuth", "JOSE", "Pages", "QRCode", "Cryptography",
                "Locks", "Sessions",
                "Telemetry", "WebAuthn",
            ],
            swiftSettings: strict),
        .target(
            name: "Federation",
            dependencies: ["HTTP", "HTTPClient", "JOSE", "JSON", "Cryptography", "Sessions", "Telemetry"],
            swiftSettings: strict),
        .target(
            name: "StoreFoundation", dependencies: ["JSON", "Sessions", "Locks", "WebAuthn"], swiftSettings: strict),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "CSQLite", "CLinux", "Calendar", "StoreFoundation", "Migrations", "Cryptography", "Sessions",
                "Telemetry", "Locks",
            ], swiftSettings: strictMemory),
        .target(
            name: "PostgresStore",
            dependencies: ["CPostgres", "StoreFoundation", "Migrations", "Cryptography", "Sessions", "Locks"],
            swiftSettings: strictMemory),
        .target(
            name: "Transfer", dependencies: ["JSON", "Cryptography", "Sessions", "WebAuthn"], swiftSettings: strict),
        // Row 7: what is sent to other programs
        .target(
            name: "Deliveries",
            dependencies: [
                "Calendar", "JSON", "Cryptography", "Telemetry", "HTTP", "HTTPClient", "Sessions", "Geolocation",
                "Endpoints", "Locks", "Mail", "Sockets",
            ], swiftSettings: strict),
        // Row 8: what an operator decides
        .target(
            name: "Configuration",
            dependencies: [
                "JSON", "Cryptography", "Telemetry", "HTTP", "HTTPClient", "Sockets", "Sessions", "Federation",
                "Endpoints", "Deliveries", "Mail", "Pages", "Texts",
            ], swiftSettings: strict),
        // Row 9: wiring
        .target(
            name: "Server",
            dependencies: [
                "Calendar", "Cryptography", "Telemetry", "HTTP", "HTTPClient", "EventLoops", "Sockets", "TLS",
                "HTTPServer", "Sessions", "Federation", "Geolocation", "Endpoints", "SQLiteStore", "PostgresStore",
                "Deliveries", "Configuration", "Locks", "Mail", "Pages",
            ], swiftSettings: strict),
        // Row 10: diagnosis of what is wired
        .target(
            name: "Doctor",
            dependencies: [
                "Calendar", "JSON", "Configuration", "Deliveries", "Endpoints", "Mail", "Server", "Sessions",
                "SQLiteStore", "PostgresStore",
                "StoreFoundation", "HTTP", "HTTPClient", "Sockets", "Geolocation", "QRCode", "TLS", "Telemetry",
            ], swiftSettings: strict),
        // Row 11: programs
        .executableTarget(
            name: "sojourn",
            dependencies: [
                "AdminActs", "CLinux", "Calendar", "JSON", "Transfer", "Configuration", "Deliveries", "Doctor",
                "Mail", "Server",
                "Endpoints", "Pages", "Sessions",
                "SQLiteStore", "PostgresStore",
                "StoreFoundation", "HTTP",
                "Sockets", "Geolocation", "TLS", "Cryptography", "JOSE", "Telemetry", "Locks",
            ], swiftSettings: strict,
            // No library looks for symbols in the program, and their names alone take 3 MiB of a server that has just started.
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(platforms: [.linux], configuration: .release))
            ]),
        .executableTarget(
            name: "sojourn-bench",
            dependencies: ["Sessions", "SQLiteStore", "Sockets", "Cryptography", "CSQLite", "CLinux", "Locks"],
            swiftSettings: strict),
        .executableTarget(
            name: "sojourn-demo",
            dependencies: [
                "SojournClient", "SojournTestKit", "Configuration", "Server", "Sessions", "HTTP", "JSON", "Sockets",
                "Telemetry", "Locks",
            ], swiftSettings: strict),
        .executableTarget(
            name: "sojourn-phone", dependencies: ["SojournClient", "SojournTestKit"], swiftSettings: portable),
        .executableTarget(
            name: "sojourn-conformance", dependencies: ["SojournClient", "SojournTestKit"], swiftSettings: portable),
        // What tests share
        testSupport("Repository", []),
        testSupport("HTTPConformance", ["HTTP", "Sockets"]),
        testSupport("TLSFixture", ["TLS"]),
        testSupport("HostileServer", ["Locks"]),
        testSupport("PageSamples", ["Pages", "HTTP"]),
        testSupport("PostgresFixture", []),
        testSupport("WebAuthnFixture", ["Cryptography", "JSON"]),
        testSupport(
            "StoreConformance",
            ["Sessions", "Cryptography", "JOSE", "JSON", "Locks", "Migrations", "WebAuthn", "WebAuthnFixture"],
            in: "Stores"),
    ]
        // Tests of one module, without processes
        + tests("TidyTests", "unit", ["Migrations", "Repository"], exclude: ["PublicAPI"], more: optimized)
        + tests("JSONTests", "unit", ["JSON"])
        + tests("CalendarTests", "unit", ["Calendar"])
        + tests("TelemetryTests", "unit", ["Telemetry", "Locks"])
        + tests(
            "HTTPTests", "unit", ["HTTP", "HTTPConformance", "HTTPServer", "EventLoops", "Sockets", "Repository"],
            exclude: ["Differential/peers.py"])
        + tests("CryptographyTests", "unit", ["Cryptography", "Locks"], exclude: ["Wycheproof"])
        + tests("OAuthTests", "unit", ["OAuth", "HTTP"])
        + tests("PRECISTests", "unit", ["PRECIS"])
        + tests("QRCodeTests", "unit", ["QRCode", "Repository"])
        + tests(
            "PagesTests", "unit", ["Pages", "PageSamples", "HTTP", "Sessions", "Texts", "Repository"], more: optimized)
        + tests(
            "JOSETests", "unit", ["JOSE", "JSON", "Cryptography", "Repository"],
            exclude: ["Wycheproof", "Encryption"])
        + tests(
            "WebAuthnTests", "unit", ["WebAuthn", "WebAuthnFixture", "JSON", "Cryptography", "Repository"],
            exclude: ["Vectors", "Differential/peers.py"])
        + tests(
            "HTTPClientTests", "unit",
            [
                "HTTPClient", "HTTP", "HostileServer", "HTTPServer", "EventLoops", "Sockets", "TLS", "TLSFixture",
            ])
        + tests("SessionsTests", "unit", ["Sessions", "Cryptography", "JOSE", "Repository"], more: optimized)
        + tests(
            "EndpointsTests", "unit",
            [
                "AdminActs", "Console", "Deliveries", "Endpoints", "Federation", "HTTPClient", "HostileServer",
                "SQLiteStore",
                "StoreConformance", "Sessions",
                "Pages", "OAuth", "JOSE", "JSON", "HTTP", "Cryptography", "Telemetry", "Locks", "Repository",
                "WebAuthn",
                "WebAuthnFixture",
            ])
        + tests(
            "SojournClientTests", "unit",
            ["SojournClient", "SojournTestKit", "HTTP", "Sessions", "JOSE", "Cryptography", "Repository"],
            more: optimized)
        + tests("SojournEventsTests", "unit", ["SojournEvents", "SojournClient", "SojournTestKit", "Repository"])
        + tests(
            "ReferenceTests", "unit",
            [
                "AdminActs", "Console", "sojourn", "Server", "Configuration", "Deliveries", "Endpoints", "Federation",
                "HTTPServer",
                "HTTPClient", "EventLoops", "Sessions", "JSON", "Telemetry", "Repository",
            ])
        + tests(
            "ConfigurationTests", "unit",
            [
                "Configuration", "Deliveries", "Federation", "HTTPClient", "Sessions", "Cryptography", "JSON",
                "Telemetry", "Repository", "WebAuthn", "Mail", "Pages",
            ])
        + tests("DeliveriesTests", "unit", ["Deliveries", "HTTPClient", "Sessions"])
        + tests("MailTests", "unit", ["Mail", "Sessions"])
        // Tests of the stores
        + tests(
            "SQLiteStoreTests", "stores",
            [
                "SQLiteStore", "StoreConformance", "Sessions", "JOSE", "Cryptography", "Migrations", "CSQLite", "Locks",
                "StoreFoundation", "Repository",
            ])
        + tests(
            "PostgresStoreTests", "stores",
            [
                "PostgresStore", "SQLiteStore", "PostgresFixture", "TLSFixture", "StoreConformance", "StoreFoundation",
                "Sessions", "Cryptography", "Migrations", "Locks", "Repository",
            ])
        // Tests over sockets and of whole programs
        + tests(
            "HTTPServerTests", "system",
            [
                "HTTPServer", "HTTP", "HTTPConformance", "EventLoops", "Sockets", "TLS", "TLSFixture", "CLinux",
                "COpenSSL", "Locks",
            ])
        + tests(
            "ServerTests", "system",
            [
                "AdminActs", "sojourn", "Transfer", "Configuration", "Deliveries", "Doctor", "Server", "Endpoints",
                "Federation",
                "Geolocation",
                "HTTPClient", "HostileServer",
                "SQLiteStore", "CSQLite", "Sessions", "OAuth", "JOSE", "JSON", "HTTP", "HTTPConformance", "HTTPServer",
                "Sockets", "TLS", "TLSFixture", "Cryptography", "Telemetry", "Locks", "Migrations", "PostgresStore",
                "PostgresFixture", "StoreConformance", "StoreFoundation", "Repository", "WebAuthn", "WebAuthnFixture",
            ], exclude: ["Scripts", "Snippets"])
        + tests(
            "MailerTests", "system",
            [
                "sojourn", "Server", "Configuration", "Deliveries", "HTTPClient", "HostileServer", "JSON", "Mail",
                "Sessions", "Sockets", "Cryptography", "Telemetry", "TLSFixture", "Locks", "Repository",
            ], exclude: ["Scripts"])
        + tests(
            "BrowserTests", "system",
            [
                "sojourn", "sojourn-phone", "sojourn-conformance", "PageSamples", "TLSFixture", "PostgresFixture",
                "Repository",
            ], exclude: ["Scripts"])
        + tests(
            "SDKTests", "system",
            [
                "SojournClient", "SojournTestKit", "sojourn", "sojourn-demo", "sojourn-phone", "sojourn-conformance",
                "HostileServer", "PostgresFixture", "Repository",
            ], exclude: ["Programs"]),
    swiftLanguageModes: [.v6]
)
