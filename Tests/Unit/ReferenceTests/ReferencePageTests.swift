import FoundationEssentials
import Repository
import Telemetry
import Testing

@testable import Endpoints

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

    @Test("the document of the API") func document() throws {
        try Self.compare(file: APIDocumentFile.path, APIDocumentFile.made().text())
    }

    @Test("the pages of the API, one for each tag") func calls() throws {
        let pages = try APIPages.all()
        #expect(pages.count == Route.Tag.allCases.count + 3)
        for page in pages { try Self.compare(page.name, page.text) }
        let folder = Repository.path("Sources/sojourn/Sojourn.docc/Reference/API")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).map { "API/\($0)" }
        #expect(Set(files) == Set(pages.map { "\($0.name).md" }.filter { $0.hasPrefix("API/") }))
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
        try compare(file: "Sources/sojourn/Sojourn.docc/Reference/\(name).md", text)
    }

    private static func compare(file path: String, _ text: String) throws {
        let file = Repository.path(path)
        if ProcessInfo.processInfo.environment["SOJOURN_WRITE_REFERENCE"] == "1" {
            try FileManager.default.createDirectory(
                at: URL(filePath: file).deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
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
