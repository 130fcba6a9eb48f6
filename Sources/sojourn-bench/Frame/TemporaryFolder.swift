import FoundationEssentials
import Glibc

/// A temporary folder. It is deleted with its contents at the end of its scope.
struct TemporaryFolder: ~Copyable {
    let path: String

    /// Creates a folder in `parent`, or in the system's folder for temporary files.
    init(in parent: String?) throws {
        var template = Array(
            "\(parent ?? FileManager.default.temporaryDirectory.path)/sojourn-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.system("a folder in \(parent ?? "the temporary folder")") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
