internal import Glibc

/// Reads a file or standard input line by line, with one piece of it in memory.
public struct LineReader: ~Copyable {
    /// The longest line; records of an export have a few kibibytes.
    static let lineLengthMax = 1 << 20
    private static let pieceLength = 1 << 16

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var peeked: [ArraySlice<UInt8>] = []
    /// The number of the line that was last read, from 1.
    private(set) var number = 0
    /// The number of bytes that have been read.
    private(set) var byteCount: Int64 = 0
    /// The length of the file; nil for a pipe.
    let length: Int64?

    /// Opens the file at `path`; `-` is standard input.
    public init(_ path: String) throws(TransferError) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw TransferError(errno == ENOENT ? .notFound : .failed, "\(name) cannot be read: \(lastError)")
        }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        length = isFile ? Int64(status.st_size) : nil
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Reads up to `count` of the first lines, which `next` returns again.
    public mutating func peek(_ count: Int) throws(TransferError) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        while lines.count < count, let line = try next() { lines.append(line) }
        peeked = lines
        number -= lines.count
        return lines
    }

    /// The next line, without its line feed; nil at the end.
    mutating func next() throws(TransferError) -> ArraySlice<UInt8>? {
        if !peeked.isEmpty {
            number += 1
            return peeked.removeFirst()
        }
        var searched = start
        while true {
            if let feed = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = feed + 1 }
                number += 1
                return buffer[start..<feed]
            }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                number += 1
                return buffer[start...]
            }
            guard buffer.count - start <= Self.lineLengthMax else {
                throw TransferError(
                    .refused, "line \(number + 1) of \(name) is longer than \(Self.lineLengthMax) bytes")
            }
            buffer.removeSubrange(..<start)
            start = 0
            searched = buffer.count
            try readPiece()
        }
    }

    private mutating func readPiece() throws(TransferError) {
        var piece = [UInt8](repeating: 0, count: Self.pieceLength)
        var count = -1
        repeat {
            count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw TransferError(.failed, "\(name) cannot be read: \(lastError)") }
        if count == 0 { isAtEnd = true }
        byteCount += Int64(count)
        buffer += piece[..<count]
    }
}

/// Writes lines to standard output, or to a file that gets its name when it is complete and durable.
public struct LineWriter: ~Copyable {
    private static let pieceLength = 1 << 16

    private let descriptor: Int32
    private let path: String?
    private var buffer: [UInt8] = []
    private var isFinished = false

    private static func temporary(_ path: String) -> String { path + ".part" }

    /// Opens a file at `path` that only its owner can read, because it will contain password hashes. Nil: standard output.
    public init(_ path: String?) throws(TransferError) {
        self.path = path
        if let path {
            unlink(Self.temporary(path))
            descriptor = open(Self.temporary(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw TransferError(.failed, "\(path) cannot be written: \(lastError)") }
        } else {
            descriptor = STDOUT_FILENO
        }
    }

    deinit {
        guard let path else { return }
        close(descriptor)
        if !isFinished { unlink(Self.temporary(path)) }
    }

    /// Appends a line with its line feed.
    mutating func write(_ line: [UInt8]) throws(TransferError) {
        buffer += line
        if buffer.count >= Self.pieceLength { try flush() }
    }

    /// Writes the remaining lines; a file is then durable and gets its name.
    mutating func finish() throws(TransferError) {
        try flush()
        guard let path else { return }
        guard fsync(descriptor) == 0, rename(Self.temporary(path), path) == 0 else {
            throw TransferError(.failed, "\(path) cannot be written: \(lastError)")
        }
        isFinished = true
    }

    private mutating func flush() throws(TransferError) {
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw TransferError(.failed, "\(path ?? "standard output") cannot be written: \(lastError)")
            }
            rest = rest.dropFirst(count)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

private var lastError: String { String(cString: strerror(errno)) }
