internal import Glibc

/// Identifies the version of a file without reading it: device, inode, size and modification time.
public struct FileVersion: Hashable, Sendable {
    private let device: UInt
    private let node: UInt
    private let bytes: Int
    private let modifiedSeconds: Int
    private let modifiedNanoseconds: Int

    /// Returns the version of the file at `path`; nil if it cannot be examined.
    public init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        (device, node, bytes) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
        (modifiedSeconds, modifiedNanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
