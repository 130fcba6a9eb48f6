import Configuration
import AdminActs
import FoundationEssentials
import Repository
import Sessions
import Testing

@testable import sojourn

/// The command lines that a reader copies from the README and the manual are those of this program: its own parser takes them.
@Suite("Commands of the manual")
struct ManualCommandTests {
    private struct Line {
        let place: String
        let words: [String]
    }

    /// The pages that people write. `ReferencePageTests` makes the others out of the program.
    private static func pages() throws -> [String] {
        let catalog = "Sources/sojourn/Sojourn.docc"
        let names = try FileManager.default.subpathsOfDirectory(atPath: Repository.path(catalog)).sorted()
        return ["README.md"]
            + names.filter { $0.hasSuffix(".md") && !$0.hasPrefix("Reference/") }.map { "\(catalog)/\($0)" }
    }

    /// The words for this program, without what another program before them takes; nil for another program.
    private static func own(_ words: [String]) -> [String]? {
        var rest = words[...]
        while let first = rest.popFirst() {
            switch first {
            case "sudo", "env": while rest.first?.hasPrefix("-") == true { rest = rest.dropFirst(2) }
            case "docker": rest = rest.drop { $0 != "exec" }.dropFirst(2)
            case "until", "while", "if", "do", "then", "!": continue
            case _ where first.contains(#/^[A-Z_]+=/#): continue
            default: return first == "sojourn" || first.hasSuffix("/sojourn") ? Array(rest) : nil
            }
        }
        return nil
    }

    /// The command lines in blocks for a shell, and those between backticks in the text.
    private static func lines() throws -> (blocks: [Line], spans: [Line]) {
        var (blocks, spans): ([Line], [Line]) = ([], [])
        for page in try pages() {
            let bytes = try #require(FileManager.default.contents(atPath: Repository.path(page)))
            let parts = String(decoding: bytes, as: UTF8.self).split(separator: "```", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index % 2 == 0 {
                    for span in part.matches(of: #/`([^`\n]+)`/#) {
                        let commands = ShellText(String(span.1).replacing("\\|", with: "|")).commands
                        spans += commands.compactMap(own).map { Line(place: page, words: $0) }
                    }
                } else if part.hasPrefix("sh\n") {
                    let commands = ShellText(String(part.dropFirst(3))).commands
                    blocks += commands.compactMap(own).map { Line(place: page, words: $0) }
                }
            }
        }
        return (blocks, spans)
    }

    private static func outcome(_ words: [String]) -> Result<Arguments?, Failure> {
        do throws(Failure) {
            switch try Arguments.parse(words, commands: Commands.all) {
            case .help: return .success(nil)
            case .run(_, let arguments): return .success(arguments)
            }
        } catch { return .failure(error) }
    }

    /// Values that are read after the parser, but without a server.
    private static func faults(of arguments: Arguments) -> [String] {
        let durations = arguments.command.options.filter { $0.value == "DURATION" }
            .compactMap { arguments.value($0.name) }
        let grants = arguments.value("--grants")?.split(separator: ",").map(String.init) ?? []
        return durations.filter { DurationText.seconds($0) == nil && $0 != "inherit" }
            + grants.filter { Client.GrantType(rawValue: $0) == nil }
    }

    @Test("each command line in a block is one that the program takes") func blocks() throws {
        let lines = try Self.lines().blocks
        #expect(lines.count > 70)
        for line in lines {
            switch Self.outcome(line.words) {
            case .success(let arguments):
                let faults = arguments.map(Self.faults) ?? []
                #expect(faults == [], "\(line.place): \(line.words)")
            case .failure(let failure): Issue.record("\(line.place): \(line.words): \(failure.lines)")
            }
        }
    }

    /// The text names a command often without what it is about: `sojourn session explain`.
    @Test("each command in the text is one of the program, with options that it has") func spans() throws {
        let lines = try Self.lines().spans
        #expect(lines.count > 100)
        for line in lines {
            let words = line.words.filter { $0 != "…" }
            guard !words.isEmpty, case .failure(let failure) = Self.outcome(words) else { continue }
            #expect(failure.lines.first?.hasSuffix(" is missing") == true, "\(line.place): \(words): \(failure.lines)")
        }
    }

    /// Pages and lines about the build and the tests have variables of their own.
    @Test("each variable in the manual is one that the server or the test kit reads") func variables() throws {
        let testKit = ["SOJOURN_BINARY", "SOJOURN_URL", "SOJOURN_ADMIN_URL"]
        let known = Set(
            ConfigurationKey.all.map(\.variable) + ServerConfiguration.SpecialVariable.allCases.map(\.rawValue)
                + testKit)
        let secrets = ["SOJOURN_CLIENT_SECRET_", "SOJOURN_WEBHOOK_SECRET_"]
        var count = 0
        for page in try Self.pages() where !page.contains("/Internals/") {
            let bytes = try #require(FileManager.default.contents(atPath: Repository.path(page)))
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter {
                !$0.contains("--filter")
            }
            for match in lines.flatMap({ $0.matches(of: #/SOJOURN_[A-Z_0-9]+/#) }) {
                let name = String(match.output)
                #expect(known.contains(name) || secrets.contains { name.hasPrefix($0) }, "\(page): \(name)")
                count += 1
            }
        }
        #expect(count > 30)
    }

    @Test("a text for a shell is taken apart as a shell does") func shell() {
        let text = """
            A=1 sojourn client create 'a b' \\
                --scope "x $(sojourn key list | head -1) y" # --wrong
            until [ -e /tmp/ready ]; do sleep 0.1; done && sudo -u x sojourn serve --a='b' 2>/dev/null &
            echo "it's" > file | cat
            """
        let expected = [
            ["sojourn", "key", "list"], ["head", "-1"],
            ["A=1", "sojourn", "client", "create", "a b", "--scope", "x value y"],
            ["until", "[", "-e", "/tmp/ready", "]"], ["do", "sleep", "0.1"], ["done"],
            ["sudo", "-u", "x", "sojourn", "serve", "--a=b"], ["echo", "it's"], ["cat"],
        ]
        let commands = ShellText(text).commands
        #expect(commands == expected)
        #expect(commands.compactMap(Self.own).map { $0[0] } == ["key", "client", "serve"])
    }
}
