import FoundationEssentials
import Repository
import Testing

/// Every suite runs in a lane: `.ci/shards` is what `.ci/tests` runs.
struct ShardTests {
    private static func folders() throws -> [Substring] {
        let bytes = try #require(FileManager.default.contents(atPath: Repository.path(".ci/shards")))
        let rows = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return try rows.flatMap { row in
            let words = row.split(separator: " ")
            let width = try #require(words.count > 2 ? Int(words[1]) : nil, "\(row)")
            #expect((1...8).contains(width), "\(row)")
            return words.dropFirst(2)
        }
    }

    @Test("each folder of a shard exists, and no two shards have the same") func foldersExist() throws {
        let folders = try Self.folders()
        let repeated = folders.filter { folder in folders.count { $0 == folder } > 1 }
        #expect(repeated == [])
        for folder in folders {
            #expect(FileManager.default.fileExists(atPath: Repository.path(String(folder))), "\(folder)")
        }
    }

    @Test("each file with tests belongs to a shard, which finds it by the name of its suite")
    func everySuiteRuns() throws {
        let folders = try Self.folders()
        let files = try SourceFile.all(in: "Tests").filter { file in
            file.lines.contains { $0.contains(#/^ *@Test\b/#) }
        }
        #expect(files.count > 200)
        for file in files {
            let folder = folders.filter { file.path.hasPrefix($0 + "/") }.max { $0.count < $1.count }
            #expect(folder != nil, "\(file.path)")
            // Below a target's folder, `.ci/tests` knows tests by their suites.
            if let folder, folder.split(separator: "/").count > 3 {
                let isInASuite = !file.lines.contains { $0.hasPrefix("@Test") }
                #expect(isInASuite, "\(file.path)")
                #expect(file.declarations.contains { $0.isTopLevel }, "\(file.path)")
            }
        }
    }
}
