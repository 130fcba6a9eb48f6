internal import Sessions

/// The file beside the database with the memory of the `ClockGuard`, for the next start. Without a readable file, the clock
/// guard trusts the clock.
struct ClockFile {
    let path: String

    /// The memory that the previous server wrote; nil without a readable file.
    func read() -> ClockGuard.Memory? {
        guard let bytes = try? PrivateFile.read(path, check: { (_) throws(PrivateFile.Failure) in }) else { return nil }
        let seconds = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard seconds.count == 2, let believed = seconds[0], let settled = seconds[1] else { return nil }
        return ClockGuard.Memory(
            believed: Instant(secondsSinceEpoch: believed), settled: Instant(secondsSinceEpoch: settled))
    }

    /// Replaces the file in one step.
    func write(_ memory: ClockGuard.Memory) throws(PrivateFile.Failure) {
        let text = "\(memory.believed.secondsSinceEpoch) \(memory.settled.secondsSinceEpoch)\n"
        try PrivateFile.replace(path, Array(text.utf8), mode: 0o600)
    }
}
