import Sessions

/// Reads an export into a store. Every step can be repeated, so an import that was interrupted is simply run once more: what is here
/// already stays as it is, what was deleted or ended here stays so (as far as the audit trail tells), and only what goes further in
/// the file is taken over: sessions, ends, cuts, logins that are off. Before there is any user here, the file's settings and clients are.
///
/// What is wrong with one line is told with its number, the line is left out, and the others go on; what makes the
/// lines after it useless is thrown.
struct Importer {
    /// Records that are written in one transaction.
    static let batchSize = 1000
    /// Events of the trail that are looked at in one step.
    private static let stepSize = 100_000
    /// So many refused lines are told one by one.
    static let toldMax = 20

    let store: any Store
    /// Whether the root keys of this server open a signing key.
    let canOpen: (StoredSigningKey) -> Bool
    let absoluteMaximum: Duration
    let now: Instant
    /// Whether what is here is overwritten, and what was deleted comes back.
    let replaces: Bool
    private var progress: ProgressBar
    /// Where refused lines are told.
    private let tell: (String) -> Void

    /// Records that were read, by kind.
    private(set) var counts: [TransferRecord.Kind: Int64] = [:]
    /// Of those, how many the store had already, as they are or further on.
    var keptCount: Int64 = 0
    /// Of those, how many are otherwise here, or were deleted here, and stay so.
    var differingCount: Int64 = 0
    /// How many lines were refused.
    private(set) var refusedCount: Int64 = 0

    /// What the feed of the store says; nil: nobody has asked yet.
    var feed: RevocationSummary?
    /// What must not be undone and belongs to no user; says nothing in an import that replaces.
    private(set) var memory = ImportLedger()
    /// Whether there was nobody here when the import began.
    private(set) var isNew = false
    /// What names of users in the file are here, by their keys, if they do not mean these users.
    var names: [String: NameHere] = [:]
    /// Sessions that were left out and that a provider is asked about.
    var leftOut: Set<Identifier<Session>> = []
    private var kind = TransferRecord.Kind.header
    private var batch: [(line: Int, record: TransferRecord)] = []
    private var hasHeader = false
    private var hasEnd = false

    /// An import into `store` at `now`.
    init(
        store: any Store, absoluteMaximum: Duration, now: Instant, replaces: Bool, progress: ProgressBar,
        canOpen: @escaping (StoredSigningKey) -> Bool, tell: @escaping (String) -> Void
    ) {
        self.store = store
        self.canOpen = canOpen
        self.absoluteMaximum = absoluteMaximum
        self.now = now
        self.replaces = replaces
        self.progress = progress
        self.tell = tell
    }

    /// Reads every line.
    mutating func run(_ reader: inout LineReader) async throws(Failure) {
        defer { progress.finish() }
        try await begin()
        try await read(&reader)
        try await finish()
    }

    /// Reads what must be known before the first line.
    mutating func begin() async throws(Failure) {
        do throws(StoreError) {
            isNew = try await store.users(matching: nil, after: nil, limit: 1).items.isEmpty
            if isNew { isNew = try await !hasSessions() }
            try await catchUp()
        } catch { throw Failure(error) }
    }

    /// Takes the lines of a file, or of a part of it.
    mutating func read(_ reader: inout LineReader) async throws(Failure) {
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

    /// Writes what is left, when everything was read.
    mutating func finish() async throws(Failure) {
        try await flush()
        if hasHeader, !hasEnd {
            throw Failure(
                .refused,
                "the file has no end line: it was cut off. What came is imported; get the whole file and import it again"
            )
        }
    }

    /// Takes up what the trail tells by now. Before each batch, so that the store, which reads the rest in the transaction that writes,
    /// has little to read there.
    mutating func catchUp() async throws(StoreError) {
        if replaces { return }
        var place: Int64
        repeat {
            place = memory.place
            memory.note(try await store.remembered(after: place, limit: Self.stepSize))
        } while memory.place > place
    }

    /// Whether there can be tokens that were issued by the settings of here.
    func hasSessions() async throws(StoreError) -> Bool {
        try await !store.exportSessions(after: nil, limit: 1).isEmpty
    }

    private mutating func take(_ record: TransferRecord, line: Int) async throws(Failure) {
        if hasEnd { return try refuse(line, LineProblem("nothing can follow the end", isFatal: true)) }
        switch record {
        case .header:
            if hasHeader || !counts.isEmpty { return try refuse(line, LineProblem("a header is the first line")) }
            hasHeader = true
        case .end(let expected):
            try await flush()
            hasEnd = true
            // A line that was refused because it says nothing is not counted: it was told already.
            if refusedCount == 0, TransferRecord.Kind.counted.contains(where: { expected[$0] != counts[$0] ?? 0 }) {
                try refuse(
                    line, LineProblem("the file should hold \(TransferRecord.summary(expected))", isFatal: true))
            }
        default:
            // Settings and clients must go together: they are written together.
            let goesOn = record.kind.isOfCatalogue ? kind.isOfCatalogue : record.kind == kind
            if !goesOn || !record.kind.isOfCatalogue && batch.count >= Self.batchSize { try await flush() }
            kind = record.kind
            counts[kind, default: 0] += 1
            batch.append((line, record))
        }
    }

    /// Tells that a line is left out.
    mutating func refuse(_ line: Int, _ problem: LineProblem) throws(Failure) {
        let sentence = "line \(line): \(problem.detail)"
        if problem.isFatal { throw Failure(.refused, sentence) }
        refusedCount += 1
        guard refusedCount <= Self.toldMax else { return }
        progress.finish()
        tell(refusedCount < Self.toldMax ? sentence : sentence + " (more such lines are not told)")
    }

    private mutating func flush() async throws(Failure) {
        let batch = batch
        self.batch.removeAll(keepingCapacity: true)
        if batch.isEmpty { return }
        let problems: [RefusedLine]
        do throws(StoreError) { problems = try await write(batch) } catch { throw Failure(error) }
        for (line, problem) in problems { try refuse(line, problem) }
    }
}
