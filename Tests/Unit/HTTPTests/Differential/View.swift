/// What one implementation made of the bytes of one connection.
struct View: Codable, CustomStringConvertible {
    /// A request that it saw.
    struct Seen: Codable, CustomStringConvertible {
        let method: String
        /// In the origin form: what an absolute target says of its authority is left out.
        let target: String
        /// The content in hexadecimal digits; nil where the implementation shows its length alone.
        var content: String?
        let length: Int
        /// Content, and the wish to go on in another protocol: some believe that it begins with the content.
        var isUpgradeWithContent = false
        /// Answered in a way that does not show what was seen.
        var isOpaque = false

        func isSame(as other: Seen) -> Bool {
            if isOpaque || other.isOpaque { return true }
            return method == other.method && target == other.target && length == other.length
                && (content == nil || other.content == nil || content == other.content)
        }

        var description: String { isOpaque ? "?" : "\(method) \(target) +\(length)" }
    }

    enum End: Equatable, Codable {
        /// Nothing is left over.
        case idle
        /// Something is left over, and more is waited for.
        case waiting
        /// The last request was the last one by its own words.
        case closed
        /// What follows was refused, and the connection closed.
        case refused(String)
    }

    var requests: [Seen] = []
    var end: End

    var description: String { "\(requests) \(end)" }
}

/// How another implementation and we stand to each other, for one input.
enum Agreement {
    /// Both read equal requests.
    case same
    /// One of the two refused where the other one went on, and closed: with its reason.
    case weRefuse(String)
    case theyRefuse(String)
    /// One of the two took a request for the last one and closed.
    case weClose
    case theyClose
    /// Both went on, and not with the same. This is what must never be.
    case split(at: Int)

    init(_ ours: View, _ theirs: View) {
        let common = zip(ours.requests, theirs.requests)
        if let index = zip(0..., common).first(where: { !$0.1.0.isSame(as: $0.1.1) })?.0 {
            let closes =
                ours.requests[index].isUpgradeWithContent && ours.end == .closed && ours.requests.count == index + 1
            self = closes ? .weClose : .split(at: index)
            return
        }
        let count = min(ours.requests.count, theirs.requests.count)
        let fewer = ours.requests.count < theirs.requests.count
        switch fewer ? ours.end : theirs.end {
        case _ where ours.requests.count == theirs.requests.count: self = .same
        case .refused(let reason): self = fewer ? .weRefuse(reason) : .theyRefuse(reason)
        case .closed: self = fewer ? .weClose : .theyClose
        case .idle, .waiting: self = .split(at: count)
        }
    }
}
