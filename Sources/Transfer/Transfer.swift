// Transfer: exports of a whole store, and imports of exports or of the tables of another system, as JSON lines.
//
// This module owns the format of the lines, the order of an export, and the rules by which an import keeps what has gone
// further in the store. It must not know the command line, the configuration or the kind of the database: it reads and
// writes through `Sessions.Store`, and reports progress and refused lines to its caller.
//
// Reading order: TransferRecord (the kinds of lines), TransferLine (one line), the TransferRecord+ files (each kind),
// LineFiles, Exporter, Importer with Importer+Writing, Importer+Catalogue and Importer+ForeignTokens.

internal import Sessions

/// The reason why a transfer stops.
public struct TransferError: Error, Hashable, Sendable {
    /// The kinds of reasons.
    public enum Kind: Hashable, Sendable {
        /// A file or the database does not work.
        case failed
        /// The file does not exist.
        case notFound
        /// The file is invalid, or does not fit this server.
        case refused
        /// The transfer can be repeated.
        case unavailable
    }

    /// The kind of the reason.
    public let kind: Kind
    /// The reason in one sentence, for the operator.
    public let detail: String

    init(_ kind: Kind, _ detail: String) { (self.kind, self.detail) = (kind, detail) }

    /// The failure of a store.
    init(_ error: StoreError) {
        switch error {
        case .unavailable(let cause): self.init(.unavailable, "the database cannot answer: \(cause)")
        case .corrupted(let cause): self.init(.failed, "the database contradicts itself: \(cause); run: sojourn doctor")
        }
    }
}

/// Receives the progress of a transfer.
public protocol TransferProgress: Sendable {
    /// Shows the completed part, if it is known, and the number of records.
    mutating func show(_ done: Double?, _ count: Int64, _ noun: String)
    /// Ends the display.
    mutating func finish()
}
