internal import Glibc

/// What tells a file from the one that was there before, without reading it.
public struct FileVersion: Hashable, Sendable {
    private let device: UInt
    private let node: UInt
    private let bytes: Int
    private let modifiedSeconds: Int
    private let modifiedNanoseconds: Int

    /// The version of the file at `path`; nil: it cannot be examined.
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
