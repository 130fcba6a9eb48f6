/// The life of a session, drawn to scale. Times are seconds since 1970.
public struct LifetimeDrawing: Sendable {
    /// The login.
    public var start: Int64
    /// The last refresh.
    public var refreshed: Int64
    /// The present.
    public var now: Int64
    /// The end without a further refresh.
    public var idleEnd: Int64
    /// The end however often it is refreshed.
    public var finalEnd: Int64
    /// When it has ended; nil: it lives.
    public var ended: Int64?

    /// A drawing.
    public init(start: Int64, refreshed: Int64, now: Int64, idleEnd: Int64, finalEnd: Int64, ended: Int64?) {
        self.start = start
        self.refreshed = refreshed
        self.now = now
        self.idleEnd = idleEnd
        self.finalEnd = finalEnd
        self.ended = ended
    }

    /// The width of the drawing; the bar has a margin for the labels at its ends.
    private static let (width, margin) = (1000, 10)

    /// The last time of the bar. After an end it is a little later than that, because what would have been is of little interest.
    private var last: Int64 {
        guard let ended else { return max(finalEnd, start + 1) }
        return max(start + 1, min(finalEnd, ended + max(1, (ended - min(start, ended)) / 4)))
    }

    /// The place of a time.
    private func place(_ time: Int64) -> Int {
        let first = min(start, refreshed)
        let room = Double(Self.width - 2 * Self.margin)
        let share = Double(max(0, min(time, last) - first)) / Double(max(1, last - first))
        return Self.margin + Int(room * share)
    }

    var html: HTML {
        let end = ended ?? min(idleEnd, finalEnd)
        let lived = ended ?? now
        let sentence =
            ended == nil
            ? "A bar from the login to the final end: lived until now, unless refreshed until the idle end."
            : "A bar from the login until the session ended, and a little beyond."
        return """
            <figure class="drawing">
            <svg viewBox="0 0 1000 56" role="img" aria-label="\(sentence)" preserveAspectRatio="none">
            <rect class="track" x="\(place(start))" y="20" width="\(max(2, place(last) - place(start)))" height="16" \
            rx="4"></rect>
            <rect class="window" x="\(place(start))" y="20" width="\(max(2, place(end) - place(start)))" height="16" \
            rx="4"></rect>
            <rect class="lived" x="\(place(start))" y="20" width="\(max(2, place(lived) - place(start)))" height="16" \
            rx="4"></rect>
            \(shortMark(refreshed, "refreshed"))\(ended == nil ? mark(now, "now") : nil)\(ended == nil ? mark(idleEnd, "idle") : nil)\
            \(ended.map { mark($0, "ended") })\(isFinalEndShown ? mark(finalEnd, ended == nil ? "final" : "would") : nil)</svg>
            <figcaption><ul class="legend">
            \(legend("lived", "signed in", start))\(legend("refreshed", "last refresh", refreshed))\
            \(ended == nil ? legend("now", "now", now) : nil)\(ended.map { legend("ended", "ended", $0) })\
            \(ended == nil ? legend("idle", "ends unless refreshed", idleEnd) : nil)\
            \(finalLegend)</ul></figcaption></figure>

            """
    }

    /// Whether the final end lies on the bar, and is not that by which the session ended.
    private var isFinalEndShown: Bool { ended == nil || (finalEnd <= last && finalEnd != ended) }

    private var finalLegend: HTML {
        if ended == nil { return legend("final", "ends in any case", finalEnd) }
        if finalEnd == ended { return HTML() }
        return legend(
            isFinalEndShown ? "would" : "beyond",
            "would have ended in any case\(isFinalEndShown ? "" : ", to the right of the bar")", finalEnd)
    }

    /// A wide mark that is no higher than the bar, so that one at the same time is seen before it.
    private func shortMark(_ time: Int64, _ name: String) -> HTML {
        "<rect class=\"mark-\(name)\" x=\"\(place(time) - 5)\" y=\"20\" width=\"10\" height=\"16\"></rect>\n"
    }

    private func mark(_ time: Int64, _ name: String) -> HTML {
        "<rect class=\"mark-\(name)\" x=\"\(place(time) - 2)\" y=\"10\" width=\"4\" height=\"36\"></rect>\n"
    }

    private func legend(_ name: String, _ label: String, _ time: Int64) -> HTML {
        let text: ConsoleText = "\(time: time)"
        return "<li><span class=\"dot mark-\(name)\"></span>\(label): \(text.html)</li>\n"
    }
}

/// The refresh tokens of a session, by their serials: those that are spent, the parent, the child, and the next.
public struct RotationDrawing: Sendable {
    /// The serial of the refresh token that was last presented; 0: none was.
    public var parent: UInt64
    /// The serial of the refresh token that was last given out.
    public var child: UInt64
    /// When the child was given out last.
    public var answered: Int64
    /// When the next rotation is due.
    public var rotationDue: Int64
    /// Whether the session lives.
    public var isLiving: Bool

    /// A drawing.
    public init(parent: UInt64, child: UInt64, answered: Int64, rotationDue: Int64, isLiving: Bool) {
        self.parent = parent
        self.child = child
        self.answered = answered
        self.rotationDue = rotationDue
        self.isLiving = isLiving
    }

    private struct Place {
        var number: String
        var label: String
        var look: String
    }

    private var places: [Place] {
        var places: [Place] = []
        if parent > 1 {
            places.append(Place(number: parent == 2 ? "#1" : "#1–\(parent - 1)", label: "spent", look: "spent"))
        }
        if parent > 0 { places.append(Place(number: "#\(parent)", label: "parent", look: "parent")) }
        places.append(Place(number: "#\(child)", label: "newest", look: isLiving ? "child" : "spent"))
        if isLiving { places.append(Place(number: "#\(child &+ 1)", label: "next", look: "next")) }
        return places
    }

    var html: HTML {
        let places = places
        return """
            <figure class="drawing rotation" tabindex="0" role="group" aria-label="Refresh tokens">
            <svg viewBox="0 0 \(places.count * 150) 78" width="\(places.count * 150)" height="78" role="img" \
            aria-label="The refresh tokens from the oldest to the next one.">
            \(places.enumerated().map { box($1, at: $0, of: places.count) })</svg></figure>

            """
    }

    private func box(_ place: Place, at index: Int, of count: Int) -> HTML {
        let x = index * 150 + 4
        let arrow: HTML? =
            index + 1 < count
            ? "<path class=\"arrow\" d=\"M\(x + 114) 27h24m-7-6 7 6-7 6\"></path>" : nil
        return """
            <rect class="token \(place.look)" x="\(x)" y="4" width="110" height="46" rx="10"></rect>
            <text class="serial" x="\(x + 55)" y="33">\(place.number)</text>
            <text class="name" x="\(x + 55)" y="70">\(place.label)</text>\(arrow)

            """
    }
}
