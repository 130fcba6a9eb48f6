import Foundation
import Repository
import Testing

/// The demonstration, as the README has it run.
struct DemonstrationTests {
    /// The last words name three commands and four pages.
    private struct Advice {
        private let lines: [String]

        init(_ output: String) throws {
            let start = try #require(output.firstRange(of: "What next?"))
            lines = output[start.upperBound...].split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }

        /// The commands as they are printed, without the words beside them.
        var commands: [String] {
            lines.filter { $0.hasPrefix("swift ") }.map { line in
                line.firstRange(of: "  ").map { String(line[..<$0.lowerBound]) } ?? line
            }
        }
        /// The paths of the pages.
        var pages: [String] {
            lines.compactMap { $0.split(separator: " ").first.map(String.init) }.filter { $0.hasSuffix(".md") }
        }
    }

    /// Runs the first command in the background and the others while it serves, and asks for the link that the last one prints.
    /// `swift` starts the built program in place of a release build.
    private static let script = """
        set -eu
        cd "$FOLDER"
        printf '%s\\n' '#!/bin/sh' 'test "$1 $2 $3" = "run -c release" || exit 64' 'program="$PROGRAMS/$4"' 'shift 4' \\
            'exec "$program" "$@"' > swift
        chmod +x swift
        PATH="$FOLDER:$PATH"
        eval "$1 &"
        server=$!
        trap 'kill $server; wait $server || true' EXIT
        until [ -S sojourn.sqlite.sock ]; do kill -0 $server; sleep 0.02; done
        echo 'correct horse battery staple' | eval "$2"
        link=$(eval "$3")
        curl -sS --fail -o page.html "$link"
        grep -q '<title>Sojourn console</title>' page.html
        """

    @Test("the demonstration keeps all that it states, leaves nothing behind, and its last words can be followed")
    func demonstration() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "demo-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let programs = (own as NSString).deletingLastPathComponent
        let output = try Tool.run([programs + "/sojourn-demo"], environment: ["TMPDIR": folder.path])
        #expect(output.status == 0, "\(output)")
        #expect(output.errors.isEmpty)
        #expect(output.text.contains("Every session went on as long as it should"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)

        let advice = try Advice(output.text)
        let sojourn = "swift run -c release sojourn"
        #expect(advice.commands == ["\(sojourn) serve", "\(sojourn) user create anna", "\(sojourn) console"])
        let help = try Tool.run([programs + "/sojourn", "serve", "--help"]).text
        #expect(output.text.contains("at http://127.0.0.1:8080, for admins at 127.0.0.1:8081"))
        #expect(help.contains("default 127.0.0.1:8080") && help.contains("default 127.0.0.1:8081"))
        let follow = try Tool.run(
            ["/bin/sh", "-c", Self.script, "sh"] + advice.commands,
            environment: [
                "FOLDER": folder.path, "PROGRAMS": programs, "SOJOURN_SERVER_PUBLIC_LISTEN": "127.0.0.1:0",
                "SOJOURN_SERVER_ADMIN_LISTEN": "127.0.0.1:0",
            ])
        #expect(follow.status == 0, "\(follow)")
        #expect(follow.text.contains("user anna was made"))
        #expect(output.text.contains("Then read on in Sources/sojourn/Sojourn.docc:"))
        #expect(advice.pages.count == 4)
        for page in advice.pages {
            let path = Repository.root.appending(path: "Sources/sojourn/Sojourn.docc/" + page).path
            #expect(FileManager.default.fileExists(atPath: path), "\(page)")
        }
    }
}
