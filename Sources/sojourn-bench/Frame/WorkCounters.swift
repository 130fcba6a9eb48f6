import FoundationEssentials
import Glibc

/// The work of the server and its disk since their start.
struct WorkCounters {
    /// Committed transactions of the store, and the changes in them.
    private(set) var commits: Double
    private(set) var changes: Double
    /// Checkpoints of SQLite, and their total duration in seconds.
    private(set) var checkpoints: Double
    private(set) var checkpointSeconds: Double
    /// Write operations and bytes of the device, from all processes.
    private(set) var writes: Double
    private(set) var bytesWritten: Double

    /// Reads the counters now; `folder` selects the device.
    init(_ calls: AdminCalls, folder: String) throws {
        let metrics = try calls.metrics()
        commits = metrics["sojourn_store_batches_total"] ?? .nan
        changes = metrics["sojourn_store_changes_total"] ?? .nan
        checkpoints = metrics["sojourn_store_checkpoint_duration_seconds_count"] ?? .nan
        checkpointSeconds = metrics["sojourn_store_checkpoint_duration_seconds_sum"] ?? .nan
        (writes, bytesWritten) = Self.disk(under: folder)
    }

    /// Returns the work since `earlier`.
    static func - (later: WorkCounters, earlier: WorkCounters) -> WorkCounters {
        var work = later
        work.commits -= earlier.commits
        work.changes -= earlier.changes
        work.checkpoints -= earlier.checkpoints
        work.checkpointSeconds -= earlier.checkpointSeconds
        work.writes -= earlier.writes
        work.bytesWritten -= earlier.bytesWritten
        return work
    }

    /// Reads the device's line in sysfs (Documentation/block/stat.rst of Linux); NaN if there is no such device.
    private static func disk(under folder: String) -> (writes: Double, bytes: Double) {
        var information = stat()
        guard stat(folder, &information) == 0 else { return (.nan, .nan) }
        // gnu_dev_major(3) and gnu_dev_minor(3) are macros, so their formulas are repeated here.
        let (device, low, high) = (information.st_dev, UInt(0xff), UInt(0xfff))
        let (major, minor) = (device >> 8 & high | device >> 32 & ~high, device & low | device >> 12 & ~low)
        let path = "/sys/dev/block/\(major):\(minor)/stat"
        let line = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let values = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard values.count > 6 else { return (.nan, .nan) }
        return (values[4], values[6] * 512)
    }
}
