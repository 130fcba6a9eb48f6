import Foundation
import Repository
import Testing

/// The programs of the manual that are files of packages of their own.
struct ProgramSnippetTests {
    private static let folder = "Tests/System/SDKTests/Programs/shop"

    @Test("the command-line app compiles against the SDK")
    func program() throws {
        let products = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        let output = try Tool.run([
            "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I",
            products.appendingPathComponent("Modules").path, "-I", "Sources/Libraries/CLinux", "-I",
            "Sources/Libraries/COpenSSL", "\(Self.folder)/main.swift",
        ])
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("its manifest can be read")
    func manifest() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(
            atPath: Repository.path("\(Self.folder)/Package.swift"),
            toPath: folder.appendingPathComponent("Package.swift").path)
        let output = try Tool.run(["swift", "package", "--package-path", folder.path, "dump-package"])
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.text.contains(#""SojournClient""#))
    }
}
