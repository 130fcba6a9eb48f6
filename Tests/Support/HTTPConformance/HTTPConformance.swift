// HTTPConformance: what RFC 9110 and RFC 9112 demand of an origin server, as data: which bytes go in, what must happen.
//
// It owns the rows and the client that judges them; it knows neither parser nor engine beyond their public errorFormat. Three
// suites run the same rows: HTTPTests feeds them to the parser, cut at every place; HTTPServerTests sends them to a small
// server over TCP and a Unix socket; ServerTests sends them to the whole program. Answers that only a table of routes can
// give have rows of their own (EndpointRows).
//
// Reading order: Row (one row), Messages (how inputs are written), Rows… (the rows, by section), Sections (every section
// with normative statements: by rows, or why it does not concern an origin server), Transcript and Judge (the client).

public import HTTP

/// How much a row matters.
public enum Level: String, Sendable, CaseIterable {
    /// MUST or MUST NOT.
    case must = "MUST"
    /// SHOULD or SHOULD NOT, followed.
    case should = "SHOULD"
    /// What the grammar allows and peers send: it must be understood.
    case robust = "ROBUST"
    /// Where the RFC leaves a choice, or says nothing, and the strict one is taken.
    case harden = "HARDEN"
}

/// One row: an input and what must come of it.
public struct Row: Sendable, CustomStringConvertible {
    /// What becomes of the connection after the requests that were read.
    public enum End: Sendable, Equatable {
        /// It stays open: a further request is answered.
        case open
        /// It closes after the last answer: a further request is not answered.
        case closed
        /// One more answer with this status, then it closes.
        case refused(Int)
        /// Nothing more is answered: the rest is no complete request, also when the client sends no more.
        case incomplete
    }

    /// The section: `9112 6.3`.
    public let clause: String
    /// How much it matters.
    public let level: Level
    /// What is special about the input.
    public let title: String
    /// The bytes, one for each scalar up to U+00FF. Where `Row.pause` stands, the client waits for `100 Continue`.
    public let input: String
    /// What handlers get to see, each as `Row.summary` writes it.
    public let reads: [String]
    /// What becomes of the connection.
    public let end: End

    /// Where the client waits for `100 Continue`; no byte.
    public static let pause: Unicode.Scalar = "\u{2026}"

    /// The clause, the level and the title.
    public var description: String { "RFC \(clause) \(level.rawValue): \(title)" }

    /// The input in the pieces between the pauses.
    public var pieces: [[UInt8]] {
        input.unicodeScalars.split(separator: Self.pause, omittingEmptySubsequences: false).map { piece in
            piece.map { UInt8(truncatingIfNeeded: $0.value) }
        }
    }

    /// The input without pauses.
    public var bytes: [UInt8] { pieces.flatMap { $0 } }
}

extension Row {
    /// What must come of an input, in short.
    public enum Verdict: Sendable {
        /// These requests are read and answered, and the connection stays open.
        case reads([String])
        /// These requests are read and answered, then the connection closes.
        case closes([String])
        /// Refused with this status after those requests.
        case refused(Int, after: [String] = [])
        /// Not complete after those requests.
        case incomplete(after: [String] = [])

        /// One request is read, and the connection stays open.
        public static func reads(_ one: String) -> Verdict { .reads([one]) }
        /// One request is read, then the connection closes.
        public static func closes(_ one: String) -> Verdict { .closes([one]) }
    }

    /// A title, an input, and what must come of it.
    public typealias Case = (title: String, input: String, verdict: Verdict)

    init(_ clause: String, _ level: Level, _ title: String, _ input: String, _ verdict: Verdict) {
        self.clause = clause
        self.level = level
        self.title = title
        self.input = input
        switch verdict {
        case .reads(let reads): (self.reads, end) = (reads, .open)
        case .closes(let reads): (self.reads, end) = (reads, .closed)
        case .refused(let status, let reads): (self.reads, end) = (reads, .refused(status))
        case .incomplete(let reads): (self.reads, end) = (reads, .incomplete)
        }
    }

    /// Rows of one clause and level.
    static func rows(_ clause: String, _ level: Level, _ cases: [Case]) -> [Row] {
        cases.map { Row(clause, level, $0.title, $0.input, $0.verdict) }
    }

    /// What a handler got to see, in one line: method and target; the authority, or none, if it is not `a`; the values of fields
    /// named `X`; the content.
    public static func summary(_ request: Request) -> String {
        var text = "\(request.method) \(request.target.path)"
        if let query = request.target.query { text += "?" + query }
        if request.authority != "a" { text += " @" + (request.authority ?? "") }
        for value in request.fields.values("X") { text += " X=[\(value)]" }
        if !request.body.isEmpty {
            text += " "
            for byte in request.body { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
        return text
    }

    /// Every row.
    public static let all: [Row] =
        lines + requestLines + versions + methods + targets + targetForms + hosts + fieldLines + fieldValues + folding
        + lists + lengths + codings + bothLengths + chunks + chunkExtensions + trailers + incomplete + persistence
        + pipelining + expectations + interimAnswers + upgrades + sizes + ignoredFields
}
