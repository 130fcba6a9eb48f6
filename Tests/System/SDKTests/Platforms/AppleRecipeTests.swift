import Foundation
import Repository
import Testing

/// The recipes of the manual that need modules of Apple platforms, compiled against stand-ins for these.
struct AppleRecipeTests {
    @Test("the recipe for background tasks compiles, without a warning")
    func background() throws {
        let products = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recipe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stub = try Tool.run([
            "swiftc", "-parse-as-library", "-swift-version", "6", "-emit-module", "-module-name", "BackgroundTasks",
            "-o", "\(folder.path)/BackgroundTasks.swiftmodule", "Tests/AppleStubs/BackgroundTasks.swift",
        ])
        #expect(stub.status == 0, "\(stub.errors)")
        let output = try Tool.run([
            "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
            "-I", folder.path, "-I", products.appendingPathComponent("Modules").path,
            "-I", "Sources/Libraries/CLinux", "-I", "Sources/Libraries/COpenSSL",
            "Tests/Unit/SojournClientTests/Snippets/BackgroundRefresh.swift",
        ])
        #expect(output.status == 0, "\(output.errors)")
    }
}
