import Foundation
import Repository
import SojournTestKit
import Testing

/// The TypeScript client as it is installed: its archive, its core without a platform, and its verbs against the real server.
@Suite(.enabled(if: TypeScriptReference.isBuildable), .timeLimit(.minutes(10)))
struct TypeScriptClientTests {
    /// The archive of the client, made twice.
    private static let archives = Task {
        let folder = try Conformance.folder("typescript-package")
        for name in ["one", "two"] {
            let output = try await Tool.finish(
                [".ci/package-typescript", "0.0.1", folder.appendingPathComponent(name).path], limit: 180)
            try #require(output.status == 0, "\(output.text)\(output.errors)")
        }
        return folder
    }

    private static let archive = "sojourn-client-0.0.1.tgz"

    /// A project that has unpacked the archive into `node_modules`, as `npm install` does.
    private static let project = Task {
        let folder = try await archives.value
        let project = folder.appendingPathComponent("project")
        let place = project.appendingPathComponent("node_modules/@sojourn/client")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let output = try await Tool.finish(
            ["tar", "xzf", folder.path + "/one/" + archive, "--strip-components=1", "-C", place.path], limit: 60)
        try #require(output.status == 0, "\(output.errors)")
        try Data(#"{"type": "module", "private": true}"#.utf8).write(to: project.appendingPathComponent("package.json"))
        return project
    }

    @Test("the archive of the client has the same bytes twice, and at most 37 000")
    func archive() async throws {
        let folder = try await Self.archives.value
        let archives = try ["one", "two"].map { name in
            try Data(contentsOf: folder.appendingPathComponent(name).appendingPathComponent(Self.archive))
        }
        #expect(archives[0] == archives[1])
        #expect(archives[0].count <= 37_000)
    }

    @Test("npm installs the archive without a network", .enabled(if: Conformance.exists("npm")))
    func npm() async throws {
        let folder = try await Self.archives.value
        let place = folder.appendingPathComponent("npm")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(#"{"type": "module", "private": true}"#.utf8).write(to: place.appendingPathComponent("package.json"))
        let words = [
            "npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", place.path,
            folder.path + "/one/" + Self.archive,
        ]
        let output = try await Tool.finish(words, limit: 120)
        #expect(output.status == 0, "\(output.text)\(output.errors)")
    }

    @Test("the types of the client resolve by the rules of bundlers and of Node", arguments: ["node16", "node"])
    func types(resolution: String) async throws {
        let project = try await Self.project.value
        let folder = project.appendingPathComponent("types-\(resolution)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = """
            import {Sojourn, SojournError, SessionState} from "@sojourn/client/node"
            import {FakeServer, ManualClock} from "@sojourn/client/testing"
            import {SessionStore} from "@sojourn/client/core"
            import {Sojourn as InBrowser} from "@sojourn/client"
            const client = new Sojourn({server: "https://login.test", clientID: "shop"}, {folder: "/tmp"})
            client.onState((state: SessionState) => { if (state.kind === "signedIn") isKept(state.isPersistent) })
            function isKept(kept: boolean): boolean { return kept }
            export const tokenOf = async (app: InBrowser): Promise<string> => (await app.accessToken()).value
            export const kindOf = (error: SojournError): string => error.kind
            export const server = new FakeServer(new ManualClock())
            export type Store = SessionStore
            // @ts-expect-error
            client.prepare()
            """
        try Data(script.utf8).write(to: folder.appendingPathComponent("app.ts"))
        let kind = resolution == "node" ? "es2020" : resolution
        let settings = """
            {"compilerOptions": {"strict": true, "noEmit": true, "target": "es2020", "lib": ["es2020", "dom"], "types": [],
            "module": "\(kind)", "moduleResolution": "\(resolution)"}, "files": ["app.ts"]}
            """
        try Data(settings.utf8).write(to: folder.appendingPathComponent("tsconfig.json"))
        let output = try await Tool.finish(["tsc", "-p", folder.path], limit: 120)
        #expect(output.status == 0, "\(output.text)")
    }

    @Test("the core runs without globals, without a server and without time")
    func core() async throws {
        let dist = try await Self.project.value.appendingPathComponent("node_modules/@sojourn/client/dist")
        let output = try await Tool.finish(["node", "Tests/Clients/typescript/core.mjs", dist.path], limit: 120)
        #expect(output.status == 0, "\(output.text)\(output.errors)")
    }

    @Test("every verb of the client succeeds at the real server")
    func verbs() async throws {
        let driver = try await TypeScriptReference.shared.value
        let folder = try #require(driver.last).replacingOccurrences(
            of: "/Tests/Conformance/typescript/driver.js", with: "")
        let program = "SOJOURN_BINARY=" + Conformance.program("sojourn")
        let output = try await Tool.finish(
            ["env", program, "node", "Tests/Clients/typescript/walk.mjs", folder], limit: 180)
        #expect(output.status == 0, "\(output.text)\(output.errors)")
    }
}
