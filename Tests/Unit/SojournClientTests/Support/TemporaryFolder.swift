import Foundation
import SojournClient

/// A folder that does not exist yet, and that is removed with this object.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sojourn-test-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The content of a file; nil if there is none.
    func content(_ name: String) -> [UInt8]? { (try? Data(contentsOf: file(name))).map { Array($0) } }

    /// Writes a file as another program does.
    func put(_ bytes: [UInt8], _ name: String) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(bytes).write(to: file(name))
    }

    /// The names of the files.
    var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []) }

    /// The permission bits of a file, or of the folder.
    func permissions(_ name: String = "") throws -> Int? {
        let path = name.isEmpty ? url.path : file(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}

extension SessionRecord {
    /// The bytes of a record that differ by `number`.
    static func bytes(_ number: Int64) -> [UInt8] {
        var record = SessionRecord(deviceID: "d", retrySecret: [1])
        record.clockOffset = number
        return record.json
    }
}
