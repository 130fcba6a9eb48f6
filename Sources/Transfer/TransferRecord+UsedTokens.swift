internal import Cryptography
internal import Sessions

// ID tokens and assertions that were used, and are still young enough to be used again.
extension OneTimeToken {
    /// A token that was used at another server; its use counts here from `now` on.
    init(_ line: inout TransferLine, now: Instant) throws(LineProblem) {
        guard let digest = Hex.decode(try line.text("sha256")), digest.count == Self.digestCount else {
            throw LineProblem("'sha256' must be 64 hexadecimal digits")
        }
        self.init(digest: digest, goodUntil: try line.instant("good_until"), at: now)
    }

    /// The line of a used token.
    var members: TransferMembers {
        var members = TransferMembers(.usedToken)
        members.add("sha256", Hex.encode(digest))
        members.add("good_until", goodUntil)
        return members
    }
}
