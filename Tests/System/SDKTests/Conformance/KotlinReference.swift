import Foundation
import Repository
import Testing

/// The Kotlin client, compiled by the compiler that `.ci/setup tests` has brought.
enum KotlinReference {
    /// Compiles the client, its driver and its checks with warnings as errors, and returns the words that start the driver. The same
    /// sources are compiled once.
    static func driver() async throws -> [String] {
        java + ["-cp", try await everything(), "org.sojourn.conformance.DriverKt"]
    }

    /// The class path of all of it, in one module.
    static func everything() async throws -> String {
        let parts = ["core", "coroutines", "events"].map { "Sources/Clients/Kotlin/\($0)" }
        return try await classes(options: ["--coroutines"], parts + ["Tests/Conformance/kotlin"])
    }

    /// These start a small program in half the time.
    static let java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]

    /// Compiles Kotlin, and returns the class path with the libraries. `options` are those of `.ci/kotlin`.
    static func classes(options: [String] = [], _ sources: [String]) async throws -> String {
        let script = Repository.root.appendingPathComponent(".ci/kotlin").path
        let output = try await Tool.finish([script] + options + sources, limit: 300)
        try #require(output.status == 0, "\(output.text)\(output.errors)")
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
