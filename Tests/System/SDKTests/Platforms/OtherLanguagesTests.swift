import Foundation
import Repository
import SojournTestKit
import Testing

/// The recipes of the manual in other languages than Swift, with the compilers and programs that are here.
struct OtherLanguagesTests {
    private static let folder = "Tests/System/SDKTests/Programs"

    private static func exists(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    @Test("a browser's login, renewal and call succeed at the real server", .enabled(if: exists("node")))
    func browser() async throws {
        let server = try await LocalServer.start()
        let password = "correct horse battery staple"
        try await server.createUser("anna", password: password)
        let url = server.url.absoluteString
        let output = try Tool.run(["node", "\(Self.folder)/checks/renewal.mjs", url, password])
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("the store of a browser is JavaScript", .enabled(if: exists("node")))
    func syntax() throws {
        let output = try Tool.run(["node", "--check", "\(Self.folder)/http/record-store.mjs"])
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("the recipe for axios repeats a call once, against a stand-in", .enabled(if: exists("node")))
    func axios() throws {
        let output = try Tool.run(["node", "\(Self.folder)/checks/axios.mjs"])
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("the recipe for OkHttp compiles against stand-ins", .enabled(if: exists("javac")))
    func okhttp() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("java-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let stubs = ["Interceptor", "Request", "Response"].map { "\(Self.folder)/checks/okhttp3/\($0).java" }
        let output = try Tool.run(
            ["javac", "-Xlint:all", "-Werror", "-d", folder.path] + stubs
                + ["\(Self.folder)/http/SojournInterceptor.java"])
        #expect(output.status == 0, "\(output.errors)")
    }
}
