internal import Glibc

/// The free room of the disk of a folder.
public enum DiskRoom {
    /// The free room; nil if the folder does not exist or cannot be read.
    public static func freeMebibytes(in folder: String) -> UInt64? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) / 1_048_576
    }
}
