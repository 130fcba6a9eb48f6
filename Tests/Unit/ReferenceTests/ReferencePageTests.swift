import FoundationEssentials
import Repository
import Telemetry
import Testing

/// The reference pages of the manual say what the tables in the code say. Each page is made in memory and compared with its
/// file; with `SOJOURN_WRITE_REFERENCE=1` in the environment the files are written instead.
@Suite("Reference pages")
struct ReferencePageTests {
    @Test("the page of the configuration") func configuration() throws {
        try Self.compare("Configuration", ConfigurationPage.text())
    }

    @Test("the page of the command line") func commandLine() throws {
        try Self.compare("CommandLine", CommandLinePage.text())
    }

    @Test("the page of the API") func calls() throws {
        try Self.compare("API", APIPage.text())
    }

    @Test("the page of the metrics") func metrics() throws {
        try Self.compare("Metrics", MetricsPage.text())
    }

    @Test("each metric that the code names is on the page") func allMetricsAreNamed() throws {
        let listed = Set(try MetricsPage.groups().flatMap(\.metrics).map(\.name))
        let differences = listed.symmetricDifference(try Self.metricNames())
        #expect(differences == [])
    }

    @Test("the comment of a number begins with its unit") func unitsAreNamed() throws {
        for row in try ConfigurationPage.rows() {
            guard let unit = row.unit else { continue }
            #expect(row.form.lowercased().hasPrefix(unit), "\(row.path): \(row.form)")
        }
    }

    @Test("the description of each call for admins names its scope") func scopesAreNamed() throws {
        let calls = try APIPage.callsWithoutScope()
        #expect(calls == [])
    }

    /// The names of metrics in the sources of the server.
    private static func metricNames() throws -> Set<String> {
        let folder = Repository.path("Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("sojourn-bench/") }
        return Set(
            try files.flatMap { file in
                let bytes = try #require(FileManager.default.contents(atPath: "\(folder)/\(file)"))
                return String(decoding: bytes, as: UTF8.self).matches(of: #/"(sojourn_[a-z_]+)"/#).map { String($0.1) }
            })
    }

    private static func compare(_ name: String, _ text: String) throws {
        let path = "Sources/sojourn/Sojourn.docc/Reference/\(name).md"
        let file = Repository.path(path)
        if ProcessInfo.processInfo.environment["SOJOURN_WRITE_REFERENCE"] == "1" {
            try FileManager.default.createDirectory(
                atPath: Repository.path("Sources/sojourn/Sojourn.docc/Reference"), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: file))
            return
        }
        let found = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } ?? ""
        if found == text { return }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let foundLines = found.split(separator: "\n", omittingEmptySubsequences: false)
        let line = zip(lines, foundLines).prefix { $0 == $1 }.count
        Issue.record(
            """
            \(path) differs from the code in line \(line + 1); write it again: \
            SOJOURN_WRITE_REFERENCE=1 swift test --filter ReferencePageTests
            """)
    }
}
