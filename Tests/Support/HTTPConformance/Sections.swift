/// A section of an RFC with normative statements: which of them concern an origin server, and why the others do not.
public struct Section: Sendable {
    /// `9112 6.3`
    public let clause: String
    /// How many normative statements the section has.
    public let statements: Int
    /// Those that this server has to keep, counted from 1. The others bind other parties, or leave a choice.
    public let ours: [Int]
    /// Where they are checked, when not by rows of this section: a suite, or `Transcript`, which looks at every answer.
    public let checkedIn: String?
    /// Why the others have no row.
    public let others: String

    init(
        _ clause: String, _ statements: Int, ours: [Int] = [], checkedIn: String? = nil, others: String = ""
    ) {
        self.clause = clause
        self.statements = statements
        self.ours = ours
        self.checkedIn = checkedIn
        self.others = others
    }

    /// Every section with a statement that has one of the words of BCP 14.
    public static let all = rfc9112 + rfc9110

    static let rfc9112 = [
        Section("9112 1.1", 1, others: "words"),
        Section(
            "9112 2.2", 10, ours: [1, 4, 7, 9, 10],
            others: "a bare LF could be taken for a line end, and is not; the others bind senders and user agents"),
        Section(
            "9112 2.3", 3, ours: [3],
            others: "binds intermediaries; an answer of 1.0 to a broken client is a choice that is not made"),
        Section("9112 3", 3, ours: [2, 3], others: "other blanks could be taken for a space, and are not"),
        Section("9112 3.2", 6, ours: [1, 2, 6], others: "binds clients"),
        Section("9112 3.2.1", 2, others: "binds clients; what they send is read"),
        Section("9112 3.2.2", 6, ours: [5, 6], others: "binds clients and proxies"),
        Section("9112 3.2.3", 1, others: "binds clients"),
        Section("9112 3.2.4", 2, others: "binds clients and proxies; what they send is read"),
        Section("9112 3.3", 1, others: "a choice: there is no default authority"),
        Section("9112 4", 3, ours: [3], checkedIn: "Transcript", others: "binds clients"),
        Section("9112 5.1", 2, ours: [1], others: "binds intermediaries"),
        Section("9112 5.2", 4, ours: [2], others: "binds senders, proxies and user agents"),
        Section(
            "9112 6.1", 14, ours: [1, 7, 9, 11, 13, 14],
            others: "binds clients and senders of codings, of which answers here have none, or leaves a choice"),
        Section("9112 6.2", 1, ours: [1], checkedIn: "Transcript"),
        Section(
            "9112 6.3", 15, ours: [3, 4, 5, 8, 9],
            others: "binds clients and intermediaries; 411 is a choice that is not made"),
        Section("9112 7.1", 3, ours: [1, 2, 3]),
        Section("9112 7.1.1", 1, ours: [1]),
        Section("9112 7.1.2", 3, ours: [2, 3], others: "trailers may be discarded, and are"),
        Section("9112 7.2", 1, others: "no compression coding is there"),
        Section("9112 7.3", 4, others: "binds those who register names"),
        Section("9112 7.4", 3, others: "binds clients"),
        Section(
            "9112 8", 2, others: "an answer to half a request is a choice that is not made; the other binds clients"),
        Section("9112 9.2", 2, others: "binds clients"),
        Section("9112 9.3", 7, ours: [1, 5], others: "binds clients, proxies and servers without persistence"),
        Section("9112 9.3.2", 7, ours: [2], others: "binds clients"),
        Section(
            "9112 9.5", 6, ours: [1, 2, 4], checkedIn: "DeadlineTests", others: "binds clients, or leaves a choice"),
        Section("9112 9.6", 8, ours: [1, 3, 4, 5, 6, 7], others: "binds clients"),
        Section("9112 9.7", 1, ours: [1], checkedIn: "TLSNegotiationTests"),
        Section(
            "9112 9.8", 7, ours: [5, 6], checkedIn: "TLSNegotiationTests", others: "binds clients, or leaves a choice"),
        Section("9112 10.1", 1, others: "message/http is not read"),
    ]
}
