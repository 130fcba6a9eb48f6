import Foundation
import SojournTestKit
import Testing

/// The client in TypeScript with one rule broken: a row of `breaks.json`.
struct BrokenClient: Decodable, Sendable, CustomTestStringConvertible {
    struct Edit: Decodable, Sendable {
        /// With a folder a file of the client's sources, else one of the driver's.
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
        let data = try Data(
            contentsOf: TypeScriptReference.root.appendingPathComponent(TypeScriptReference.driver + "/breaks.json"))
        var clients = try JSONDecoder().decode([BrokenClient].self, from: data)
        for number in clients.indices { clients[number].number = number }
        return clients
    }

    /// Below it each broken client has a folder of that number, compiled. One run of the compiler serves all, because most of its time
    /// goes into its own libraries. Types are not checked strictly: a broken client may be ugly.
    static let built = Task {
        let folder = try Conformance.folder("broken")
        let (sources, output) = (folder.appendingPathComponent("src"), folder.appendingPathComponent("js"))
        let texts = try Self.texts()
        for client in try all() {
            let place = sources.appendingPathComponent("\(client.number)")
            for (file, text) in texts {
                let edited = client.edits.filter { $0.path == file }.reduce(text) { text, edit in
                    #expect(text.components(separatedBy: edit.from).count == 2, "\(client.what): \(edit.from)")
                    return text.replacingOccurrences(of: edit.from, with: edit.to)
                }
                try Self.write(edited, to: place.appendingPathComponent(file))
            }
            for edit in client.edits { #expect(texts[edit.path] != nil, "\(client.what): no file \(edit.file)") }
        }
        // What Node declares counts for the whole run.
        let node = TypeScriptReference.root.appendingPathComponent(TypeScriptReference.client + "/node/node.d.ts")
        try Self.write(
            try String(contentsOf: node, encoding: .utf8), to: sources.appendingPathComponent("node.d.ts"))
        let settings = """
            {"compilerOptions": {"target": "es2020", "module": "es2020", "moduleResolution": "node", "types": [],
            "lib": ["es2020", "dom", "dom.iterable"], "rootDir": "\(sources.path)", "outDir": "\(output.path)"},
            "include": ["\(sources.path)"]}
            """
        try Self.write(settings, to: folder.appendingPathComponent("tsconfig.json"))
        try await TypeScriptReference.compile(["-p", folder.path], to: output)
        return output
    }

    /// The client's and the driver's files, by their paths in the repository.
    private static func texts() throws -> [String: String] {
        var texts: [String: String] = [:]
        let folders = [(TypeScriptReference.client, ["core", "web", "node"]), (TypeScriptReference.driver, [""])]
        for (folder, parts) in folders {
            for part in parts {
                let place = TypeScriptReference.root.appendingPathComponent(folder).appendingPathComponent(part)
                for file in try FileManager.default.subpathsOfDirectory(atPath: place.path)
                where file.hasSuffix(".ts") && !file.hasSuffix(".d.ts") {
                    let path = [folder, part, file].filter { !$0.isEmpty }.joined(separator: "/")
                    texts[path] = try String(contentsOf: place.appendingPathComponent(file), encoding: .utf8)
                }
            }
        }
        return texts
    }

    private static func write(_ text: String, to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }
}

extension BrokenClient.Edit {
    /// The path of the file in the repository.
    var path: String { (file.contains("/") ? TypeScriptReference.client : TypeScriptReference.driver) + "/" + file }
}
