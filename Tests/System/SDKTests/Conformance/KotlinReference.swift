import Foundation
import Repository
import Testing

/// The reference in Kotlin, compiled by the compiler that `.ci/setup full` has brought.
enum KotlinReference {
    private static let sources = Repository.root.appendingPathComponent("Tests/Conformance/kotlin")
    private static let jars = Repository.root.appendingPathComponent(".build/kotlin")

    /// The paths of jars with names that begin so.
    private static func jars(_ names: [String]) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: jars.path).filter { $0.hasSuffix(".jar") }
        return try names.map { name in
            let file = try #require(files.first { $0.hasPrefix(name) }, "no jar \(name): run .ci/setup tests kotlin")
            return jars.appendingPathComponent(file).path
        }
    }

    /// Compiles the sources with warnings as errors, and returns the words that start the driver.
    static func driver() async throws -> [String] {
        let folder = try Conformance.folder("kotlin")
        let libraries = try jars(["kotlin-stdlib", "kotlinx-serialization-core", "kotlinx-serialization-json"])
        let compiler = try jars(["kotlin-jupyter-kernel", "kotlin-stdlib", "kotlin-script-runtime", "kotlin-reflect"])
        let files = try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".kt") }
        let settings = [
            "-no-stdlib", "-no-reflect", "-jvm-target", "17", "-language-version", "2.1", "-Werror", "-classpath",
            libraries.joined(separator: ":"), "-d", folder.path,
        ]
        let output = try await Tool.finish(
            ["java", "-cp", compiler.joined(separator: ":"), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"]
                + settings + files.map { sources.appendingPathComponent($0).path }, limit: 300)
        try #require(output.status == 0, "\(output.text)\(output.errors)")
        let classes = ([folder.path] + libraries).joined(separator: ":")
        // These start a small program in half the time.
        let quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        return ["java"] + quick + ["-cp", classes, "sojourn.DriverKt"]
    }
}
