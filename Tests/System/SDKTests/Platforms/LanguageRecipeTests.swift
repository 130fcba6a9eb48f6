import Foundation
import Repository
import SojournTestKit
import Testing

/// The recipes of the manual for other languages and frameworks, with the compilers and programs that are here.
@Suite("Recipes for other languages", .timeLimit(.minutes(20)))
struct LanguageRecipeTests {
    private static let folder = "Tests/System/SDKTests/Programs"
    private static let python = Repository.path(".build/peers/bin/python")
    private static let password = "correct horse battery staple"

    /// A folder that is deleted with it.
    private final class Folder: Sendable {
        let path: String

        init() throws {
            path = FileManager.default.temporaryDirectory.appendingPathComponent("recipe-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    @Test("the client in Python keeps every rule that it has a verb for", .enabled(if: Lane.isFull))
    func pythonRules() async throws {
        let run = try await Conformance.run(driver: [
            Self.python, "-B", Repository.path("Tests/Conformance/python/driver.py"),
        ])
        #expect(run.failed.isEmpty && run.passed >= 31 && run.status == 0, "\(run.text)")
    }

    @Test(
        "the tool in Python logs in, calls, and is ended by an admin",
        .enabled(if: FileManager.default.isExecutableFile(atPath: python)))
    func pythonTool() async throws {
        let server = try await LocalServer.start()
        try await server.createUser("anna", password: Self.password)
        let folder = try Folder()
        func tool(_ words: String...) async throws -> String {
            let environment = ["PYTHONPATH": Repository.path("Tests/Conformance/python")]
            let output = try Tool.run(
                [Self.python, "-B", "\(Self.folder)/python/tool.py", folder.path, server.url.absoluteString] + words,
                environment: environment)
            return (output.text + output.errors).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #expect(try await tool() == "log in: not-signed-in")
        #expect(try await tool("anna", Self.password) == "anna: 200")
        #expect(try await tool() == "anna: 200")
        try await server.revokeAll("anna")
        #expect(try await tool() == "log in: revoked_by_admin")
    }

    @Test(
        "the program in C# logs in, renews, keeps unknown members, and tells the end",
        .enabled(if: Conformance.exists("mcs") && Conformance.exists("mono")))
    func cSharp() async throws {
        let folder = try Folder()
        let libraries = ["System.Net.Http", "System.Runtime.Serialization", "System.Xml", "System.Xml.Linq"]
        let compiled = try await Tool.finish(
            ["mcs", "-warnaserror", "-out:\(folder.path)/session.exe"] + libraries.map { "-r:\($0)" }
                + ["\(Self.folder)/csharp/Session.cs", "\(Self.folder)/csharp/Program.cs"], limit: 120)
        try #require(compiled.status == 0, "\(compiled.text)\(compiled.errors)")
        let server = try await LocalServer.start()
        try await server.createUser("anna", password: Self.password)
        func run(_ words: String...) throws -> String {
            let arguments = ["mono", "\(folder.path)/session.exe", "\(folder.path)/store", server.url.absoluteString]
            let output = try Tool.run(arguments + words)
            return (output.text + output.errors).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #expect(try run("call") == "not-signed-in")
        #expect(try run("login", "anna", "wrong") == "refused: invalid_credentials")
        #expect(try run("login", "anna", Self.password) == "200")
        let record = "\(folder.path)/store/session.json"
        let old = try Self.members(record)
        try Self.write(old.merging(["refresh_after": 0, "later": ["a": 1]]) { $1 }, to: record)
        #expect(try run("call") == "200")
        let new = try Self.members(record)
        #expect(new["access_token"] as? String != old["access_token"] as? String)
        #expect((new["later"] as? [String: Int]) == ["a": 1])
        try await server.revokeAll("anna")
        try Self.write(new.merging(["refresh_after": 0]) { $1 }, to: record)
        #expect(try run("call") == "ended: revoked_by_admin")
        #expect(try run("call") == "ended: revoked_by_admin")
    }

    private static func members(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private static func write(_ members: [String: Any], to path: String) throws {
        try JSONSerialization.data(withJSONObject: members).write(to: URL(fileURLWithPath: path))
    }

    @Test(
        "the facade for React Native passes each call to its module, against a stand-in",
        .enabled(if: Conformance.exists("tsc") && Conformance.exists("node")))
    func reactNative() async throws {
        let folder = try Folder()
        try await TypeScriptReference.compile(
            [
                "--strict", "--target", "es2020", "--module", "es2020", "--outDir", folder.path,
                "\(Self.folder)/bridge/sojourn.ts",
            ], to: URL(fileURLWithPath: folder.path))
        let output = try await Tool.finish(["node", "\(Self.folder)/checks/bridge.mjs", folder.path], limit: 60)
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("the bridge in Swift compiles against a stand-in for Flutter, without a warning")
    func swiftBridge() async throws {
        let products = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        let folder = try Folder()
        let stub = try await Tool.finish(
            [
                "swiftc", "-parse-as-library", "-swift-version", "5", "-emit-module", "-module-name", "Flutter", "-o",
                "\(folder.path)/Flutter.swiftmodule", "Tests/AppleStubs/Flutter.swift",
            ], limit: 180)
        try #require(stub.status == 0, "\(stub.errors)")
        let output = try await Tool.finish(
            [
                "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "5", "-warnings-as-errors", "-I",
                folder.path, "-I", products.appendingPathComponent("Modules").path, "-I", "Sources/Libraries/CLinux",
                "-I", "Sources/Libraries/COpenSSL", "\(Self.folder)/bridge/SojournBridge.swift",
                "\(Self.folder)/bridge/SojournPlugin.swift",
            ], limit: 180)
        #expect(output.status == 0, "\(output.errors)")
    }

    @Test("the ten calls of the bridges are the same in each language")
    func calls() throws {
        let calls: Set = [
            "start", "state", "signIn", "signInByPage", "accessToken", "authorize", "reject", "signOut", "unlock",
            "settle",
        ]
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: Repository.path("\(Self.folder)/bridge/\(name)"), encoding: .utf8)
        }
        let kotlin = try text("SojournBridge.kt").matches(of: #/^ {12}"(\w+)" ->/#.anchorsMatchLineEndings())
        let swift = try text("SojournBridge.swift").matches(of: #/^ {8}case "(\w+)":/#.anchorsMatchLineEndings())
        let dart = try text("sojourn.dart").matches(of: #/_call\('(\w+)'/#)
        let script = try text("sojourn.ts").matches(of: #/this\.call(?:<.+?>)?\("(\w+)"/#)
        #expect(Set(kotlin.map { String($0.1) }) == calls)
        #expect(Set(swift.map { String($0.1) }) == calls)
        #expect(Set(dart.map { String($0.1) }) == calls)
        // The facade has the state by its event.
        #expect(Set(script.map { String($0.1) }) == calls.subtracting(["state"]))
    }
}
