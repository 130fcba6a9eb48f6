public import Sessions

/// Reads an export into a store. Every step can be repeated, so an interrupted import is run again. Existing records stay as
/// they are, and records that were deleted or ended in the store stay so, as far as the audit trail shows. The import takes
/// over only what has gone further in the file: sessions, ends, cuts and disabled logins. Settings and clients are taken over
/// while the store has no user.
///
/// An invalid line is reported with its number and skipped. A problem that makes all later lines useless is thrown.
public struct Importer {
    /// The records of one transaction.
    static let batchSize = 1000
    /// The events of the audit trail that are read in one step.
    private static let stepSize = 100_000
    /// The number of refused lines that are reported one by one.
    static let reportedMax = 20

    let store: any Store
    /// True for a signing key that the root keys of this server open.
    let canOpen: (StoredSigningKey) -> Bool
    let absoluteMaximum: Duration
    let now: Instant
    /// True if the import overwrites existing records and restores deleted ones.
    let replaces: Bool
    private var progress: any TransferProgress
    /// Receives the refused lines.
    private let report: (String) -> Void

    /// The records that were read, by kind.
    private(set) var counts: [TransferRecord.Kind: Int64] = [:]
    /// The number of records that the store had already, equal or further on.
    public internal(set) var keptCount: Int64 = 0
    /// The number of records that differ from the store or were deleted there, and stay so.
    public internal(set) var differingCount: Int64 = 0
    /// The number of refused lines.
    public private(set) var refusedCount: Int64 = 0

    /// The summary of the store's revocation feed; nil before its first use.
    var feed: RevocationSummary?
    /// The changes of the audit trail that must not be undone; empty in an import that replaces.
    private(set) var ledger = ImportLedger()
    /// True if the store had no user when the import began.
    private(set) var isNew = false
    /// The usernames of the file that do not mean the same user in the store, by their keys.
    var names: [String: NameConflict] = [:]
    /// The skipped sessions with rechecks.
    var leftOut: Set<Identifier<Session>> = []
    private var kind = TransferRecord.Kind.header
    private var batch: [(line: Int, record: TransferRecord)] = []
    private var hasHeader = false
    private var hasEnd = false

    /// An import into `store` at `now`.
    public init(
        store: any Store, absoluteMaximum: Duration, now: Instant, replaces: Bool, progress: any TransferProgress,
        canOpen: @escaping (StoredSigningKey) -> Bool, report: @escaping (String) -> Void
    ) {
        self.store = store
        self.canOpen = canOpen
        self.absoluteMaximum = absoluteMaximum
        self.now = now
        self.replaces = replaces
        self.progress = progress
        self.report = report
    }

    /// The numbers of the records that were read, for the operator.
    public var summary: String { TransferRecord.summary(counts) }

    /// Reads every line.
    public mutating func run(_ reader: inout LineReader) async throws(TransferError) {
        defer { progress.finish() }
        try await begin()
        try await read(&reader)
        try await finish()
    }

    /// Reads the state of the store before the first line.
    mutating func begin() async throws(TransferError) {
        do throws(StoreError) {
            isNew = try await store.users(matching: nil, after: nil, limit: 1).items.isEmpty
            if isNew { isNew = try await !hasSessions() }
            try await catchUp()
        } catch { throw TransferError(error) }
    }

    /// Reads the lines of a file, or of a part of one.
    mutating func read(_ reader: inout LineReader) async throws(TransferError) {
        while let text = try reader.next() {
            if text.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            let record: TransferRecord
            do throws(LineProblem) {
                record = try TransferRecord(TransferLine(text: text), now: now)
            } catch {
                try refuse(reader.number, error)
                continue
            }
            try await take(record, line: reader.number)
            let done = reader.length.map { Double(reader.byteCount) / Double(max($0, 1)) }
            progress.show(done, counts.values.reduce(0, +), "records")
        }
    }

    /// Writes the remaining records after the last line.
    mutating func finish() async throws(TransferError) {
        try await flush()
        if hasHeader, !hasEnd {
            throw TransferError(
                .refused,
                "the file has no end line: it was cut off. What came is imported; get the whole file and import it again"
            )
        }
    }

    /// Reads the new events of the audit trail. This happens before each batch, so that the store has few events left to
    /// read in the transaction that writes.
    mutating func catchUp() async throws(StoreError) {
        if replaces { return }
        var place: Int64
        repeat {
            place = ledger.place
            ledger.note(try await store.remembered(after: place, limit: Self.stepSize))
        } while ledger.place > place
    }

    /// True if tokens can exist that were issued under the current settings.
    func hasSessions() async throws(StoreError) -> Bool {
        try await !store.exportSessions(after: nil, limit: 1).isEmpty
    }

    private mutating func take(_ record: TransferRecord, line: Int) async throws(TransferError) {
        if hasEnd { return try refuse(line, LineProblem("nothing can follow the end", isFatal: true)) }
        switch record {
        case .header:
            if hasHeader || !counts.isEmpty { return try refuse(line, LineProblem("a header is the first line")) }
            hasHeader = true
        case .end(let expected):
            try await flush()
            hasEnd = true
            // An unreadable line is in no count, and was reported already.
            if refusedCount == 0, TransferRecord.Kind.counted.contains(where: { expected[$0] != counts[$0] ?? 0 }) {
                try refuse(
                    line, LineProblem("the file should hold \(TransferRecord.summary(expected))", isFatal: true))
            }
        default:
            // Settings and clients are written in one transaction.
            let goesOn = record.kind.isOfCatalogue ? kind.isOfCatalogue : record.kind == kind
            if !goesOn || !record.kind.isOfCatalogue && batch.count >= Self.batchSize { try await flush() }
            kind = record.kind
            counts[kind, default: 0] += 1
            batch.append((line, record))
        }
    }

    /// Reports a line that is skipped.
    mutating func refuse(_ line: Int, _ problem: LineProblem) throws(TransferError) {
        let sentence = "line \(line): \(problem.detail)"
        if problem.isFatal { throw TransferError(.refused, sentence) }
        refusedCount += 1
        guard refusedCount <= Self.reportedMax else { return }
        progress.finish()
        report(refusedCount < Self.reportedMax ? sentence : sentence + " (more such lines are not told)")
    }

    private mutating func flush() async throws(TransferError) {
        let batch = batch
        self.batch.removeAll(keepingCapacity: true)
        if batch.isEmpty { return }
        let problems: [RefusedLine]
        do throws(StoreError) { problems = try await write(batch) } catch { throw TransferError(error) }
        for (line, problem) in problems { try refuse(line, problem) }
    }
}
