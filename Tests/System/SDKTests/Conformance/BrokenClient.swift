import Foundation
import SojournTestKit
import Testing

/// The reference in TypeScript with one rule broken: a row of `breaks.json`.
struct BrokenClient: Decodable, Sendable, CustomTestStringConvertible {
    struct Edit: Decodable, Sendable {
        let file: String
        /// Text that occurs once in the file.
        let from: String
        let to: String
    }

    let rule: Int
    /// What it does wrong.
    let what: String
    /// The scenarios in which it fails.
    let red: [String]
    let edits: [Edit]
    /// The place in the file.
    private(set) var number = 0

    var testDescription: String { "\(rule): \(what)" }

    private enum CodingKeys: CodingKey { case rule, what, red, edits }

    static func all() throws -> [BrokenClient] {
        let data = try Data(contentsOf: TypeScriptReference.sources.appendingPathComponent("breaks.json"))
        var clients = try JSONDecoder().decode([BrokenClient].self, from: data)
        for number in clients.indices { clients[number].number = number }
        return clients
    }

    /// The folder in which each broken client has a folder of that number, compiled. One run of the compiler serves all, because
    /// most of its time goes into its own libraries. Types are not checked strictly: a broken client may be ugly.
    static let built = Task {
        let folder = try Conformance.folder("broken")
        let (sources, output) = (folder.appendingPathComponent("src"), folder.appendingPathComponent("js"))
        let files = try FileManager.default.contentsOfDirectory(atPath: TypeScriptReference.sources.path)
            .filter { $0.hasSuffix(".ts") }
        var texts: [String: String] = [:]
        for file in files {
            texts[file] = try String(
                contentsOf: TypeScriptReference.sources.appendingPathComponent(file), encoding: .utf8)
        }
        for client in try all() {
            let place = sources.appendingPathComponent("\(client.number)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            for (file, text) in texts where file != "node.d.ts" {
                let edited = client.edits.filter { $0.file == file }.reduce(text) { text, edit in
                    #expect(text.components(separatedBy: edit.from).count == 2, "\(client.what): \(edit.from)")
                    return text.replacingOccurrences(of: edit.from, with: edit.to)
                }
                try edited.write(to: place.appendingPathComponent(file), atomically: false, encoding: .utf8)
            }
        }
        try texts["node.d.ts"]?.write(
            to: sources.appendingPathComponent("node.d.ts"), atomically: false, encoding: .utf8)
        let settings = """
            {"compilerOptions": {"target": "es2022", "module": "commonjs", "lib": ["es2022", "dom"], "types": [],
            "rootDir": "\(sources.path)", "outDir": "\(output.path)"}, "include": ["\(sources.path)"]}
            """
        try settings.write(
            to: folder.appendingPathComponent("tsconfig.json"), atomically: false, encoding: .utf8)
        try await TypeScriptReference.compile(["-p", folder.path])
        return output
    }
}
