import Foundation
import Repository
import SojournTestKit
import Testing

/// The Kotlin client beside the scenarios: its own checks, the vendors' passages, and two processes that are killed.
@Suite(.enabled(if: Conformance.exists("java")))
struct KotlinClientTests {
    /// Everything of Kotlin in one module, so that it is compiled once.
    private static func start(_ main: String) async throws -> [String] {
        KotlinReference.java + ["-cp", try await KotlinReference.everything(), main]
    }

    @Test("the Kotlin client passes its own checks, and compiles the passages of the vendors")
    func checks() async throws {
        let output = try await Tool.finish(try await Self.start("org.sojourn.unit.ChecksKt"), limit: 120)
        #expect(output.status == 0, "\(output.text)\(output.errors)")
        #expect(output.text.contains(" passed, 0 failed"), "\(output.text)")
    }

    @Test("the core of the Kotlin client compiles without coroutines", .enabled(if: Lane.isFull))
    func core() async throws {
        let classes = try await KotlinReference.classes(["Sources/Clients/Kotlin/core"])
        #expect(!classes.contains("coroutines"))
    }

    @Test("two processes in Kotlin lose no session when they are killed and a fifth of the answers is lost")
    func twoProcesses() async throws {
        let (rounds, renewals) = Lane.isFull ? ("8", "60") : ("1", "5")
        let output = try await Self.prove(ServerSettings(), ["--rounds", rounds, "--renewals", renewals])
        #expect(output.status == 0, "\(output.text)\(output.errors)")
        #expect(output.text.contains("no session lost"))
    }

    @Test("a thief of a refresh token is found through the Kotlin client")
    func thief() async throws {
        let output = try await Self.prove(ServerSettings(rotationInterval: 0), ["--theft"])
        #expect(output.status == 0, "\(output.text)\(output.errors)")
        #expect(output.text.contains("the thief was found"))
    }

    /// Runs the proof of `TwoProcesses.kt` against a server of its own.
    private static func prove(_ settings: ServerSettings, _ words: [String]) async throws -> Tool.Output {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kotlin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = LocalServer.Options()
        options.settings = settings
        let server = try await LocalServer.start(options)
        let password = "correct horse battery staple"
        try await server.createUser("anna", password: password)
        let command = try await start("org.sojourn.conformance.TwoProcessesKt")
        return try await Tool.finish(
            command + [folder.path, "--server", server.url.absoluteString, "--password", password] + words, limit: 600)
    }
}
