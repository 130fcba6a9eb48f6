internal import Sessions

/// The file beside the database in which a server writes down what it believed of the time (`ClockGuard`). Without it, or
/// with one that cannot be read, the clock is believed.
struct ClockFile {
    /// Where it is.
    let path: String

    /// What the server before has written.
    func read() -> ClockGuard.Memory? {
        guard let bytes = try? PrivateFile.read(path, check: { (_) throws(PrivateFile.Failure) in }) else { return nil }
        let seconds = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard seconds.count == 2, let believed = seconds[0], let settled = seconds[1] else { return nil }
        return ClockGuard.Memory(
            believed: Instant(secondsSinceEpoch: believed), settled: Instant(secondsSinceEpoch: settled))
    }

    /// Puts `memory` in the place of what was there.
    func write(_ memory: ClockGuard.Memory) throws(PrivateFile.Failure) {
        let text = "\(memory.believed.secondsSinceEpoch) \(memory.settled.secondsSinceEpoch)\n"
        try PrivateFile.replace(path, Array(text.utf8), mode: 0o600)
    }
}
