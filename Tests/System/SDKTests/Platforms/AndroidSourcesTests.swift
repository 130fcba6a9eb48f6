import Foundation
import Repository
import Testing

/// The parts of the Kotlin client for Android, compiled against stand-ins for the framework. This proves syntax, types and checks of
/// null, not that a Keystore or a prompt behaves as the tests assume.
@Suite("Kotlin for Android", .timeLimit(.minutes(20)))
struct AndroidSourcesTests {
    private static let stubs = "Tests/AndroidStubs"
    private static let python = Repository.path(".build/peers/bin/python")

    /// The folder of the published signatures, if `.ci/setup full` has brought them.
    private static let signatures: String? = {
        let libraries = Repository.path(".build/peers/lib")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: libraries)) ?? []
        return versions.map { "\(libraries)/\($0)/site-packages" }
            .first { FileManager.default.fileExists(atPath: $0 + "/android-stubs") }
    }()

    /// The classes of the client, of its parts for Android, of the stand-ins and of the checks.
    private static func classPath() async throws -> String {
        let files = try FileManager.default.subpathsOfDirectory(atPath: Repository.path(stubs))
            .filter { $0.hasSuffix(".java") }.sorted().map { "\(stubs)/\($0)" }
        // The folder's name changes with the stand-ins, because the script for Kotlin knows class paths by their names.
        let script = #"cat "$@" | sha256sum | cut -c 1-16"#
        let digest = try await Tool.finish(["sh", "-c", script, "sh"] + files, limit: 10)
        let name = digest.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let folder = try Conformance.folder("android-\(name)")
        let output = try await Tool.finish(
            ["javac", "-Xlint:all,-serial", "-Werror", "-d", folder.path] + files, limit: 180)
        try #require(output.status == 0, "\(output.text)\(output.errors)")
        let core = try await KotlinReference.classes(["Sources/Clients/Kotlin/core"]).prefix { $0 != ":" }
        return try await KotlinReference.classes(
            options: ["--classpath", "\(folder.path):\(core)"],
            ["Sources/Clients/Kotlin/android", stubs, "Tests/System/SDKTests/Programs/bridge"])
    }

    @Test(
        "the parts for Android compile without a warning, and keep every rule with a fake Keystore and a fake prompt",
        .enabled(if: Lane.isFull))
    func checks() async throws {
        let classes = try await Self.classPath()
        let output = try await Tool.finish(
            KotlinReference.java + ["-cp", classes, "org.sojourn.android.ChecksKt"], limit: 120)
        let lines = output.text.split(separator: "\n")
        #expect(output.status == 0 && !lines.contains { $0.hasPrefix("FAILED") }, "\(output.text)\(output.errors)")
        #expect(lines.count { $0.hasPrefix("passed ") } >= 35)
    }

    @Test("every member of the stand-ins is in the signatures of API 36", .enabled(if: signatures != nil))
    func members() async throws {
        let output = try await Tool.finish(
            [Self.python, "\(Self.stubs)/compare.py", try #require(Self.signatures)], limit: 60)
        #expect(output.status == 0, "\(output.text)\(output.errors)")
        #expect(output.text.hasSuffix(" classes and members, 0 not in API 36\n"))
        let page = try String(
            contentsOfFile: Repository.path("Sources/sojourn/Sojourn.docc/Apps/Platforms/FirstBuildOnAndroid.md"),
            encoding: .utf8)
        #expect(page.contains("each of the \(output.text.prefix { $0 != "," }) of the stand-ins"))
    }

    @Test("a stand-in that lies is noticed in each of its lies", .enabled(if: signatures != nil))
    func lies() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Intent.java")
        try """
        package android.content;

        public class Intent {
            public static final String ACTION_SOJOURN = "";
            public static final int ACTION_VIEW = 1;
            public Intent(boolean isNew) {}
            public String getAction() { return ""; }
            public @Nullable Intent addCategory(String category) { return null; }
            public void putExtras(Bundle extras) {}

            public static class Sojourn {}
        }
        """.write(to: file, atomically: true, encoding: .utf8)
        let output = try await Tool.finish(
            [Self.python, "\(Self.stubs)/compare.py", try #require(Self.signatures), file.path], limit: 60)
        #expect(output.status == 1)
        #expect(output.text.hasSuffix("8 classes and members, 7 not in API 36\n"), "\(output.text)\(output.errors)")
    }
}
