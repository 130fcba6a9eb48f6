import FoundationEssentials
import Glibc

/// A folder that is gone, with all that is in it, when its owner goes.
struct TemporaryFolder: ~Copyable {
    let path: String

    /// A new folder in `parent`, or where the system keeps temporary files.
    init(in parent: String?) throws {
        var template = Array(
            "\(parent ?? FileManager.default.temporaryDirectory.path)/sojourn-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.system("a folder in \(parent ?? "the temporary folder")") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
