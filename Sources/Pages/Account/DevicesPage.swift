/// A session of the account as the list of devices shows it. Times are seconds since 1970.
public struct AccountDevice: Hashable, Sendable {
    /// The id of the session.
    public var session: String
    /// The name of the device: given by its user, or its model.
    public var name: String?
    /// The name of the client.
    public var app: String
    /// City and country of the last address.
    public var place: String?
    /// When the session began.
    public var signedInAt: Int64
    /// When it was renewed last.
    public var lastSeenAt: Int64
    /// When it ends unless it is renewed; nil: never.
    public var idleEnd: Int64?
    /// When it ends in any case; nil: never.
    public var end: Int64?
    /// Whether the page is shown in this session.
    public var isThis: Bool
    /// Whether it is a phone or a tablet.
    public var isMobile: Bool
    /// The name of the device that has let this one in, if it is on another page; nil: none has, or it stands above.
    public var phone: String?
    /// The sessions that this one has let in and that end with it.
    public var children: [AccountDevice]

    /// A device.
    public init(
        session: String, name: String?, app: String, place: String?, signedInAt: Int64, lastSeenAt: Int64,
        idleEnd: Int64?, end: Int64?, isThis: Bool = false, isMobile: Bool = false, phone: String? = nil,
        children: [AccountDevice] = []
    ) {
        self.session = session
        self.name = name
        self.app = app
        self.place = place
        self.signedInAt = signedInAt
        self.lastSeenAt = lastSeenAt
        self.idleEnd = idleEnd
        self.end = end
        self.isThis = isThis
        self.isMobile = isMobile
        self.phone = phone
        self.children = children
    }
}

/// The devices of the account: where each is, when it ends, and buttons that end it.
public struct DevicesPage: HTMLPage {
    /// What the page says at its top.
    public enum Message: Hashable, Sendable {
        /// That many sessions have ended.
        case ended(Int)
        /// The session had ended before.
        case nothingToEnd
        /// The token of the form was stale.
        case pressAgain
    }

    /// Name and navigation.
    public var header: AccountHeader
    /// The devices; this one first, then the last seen first.
    public var devices: [AccountDevice]
    /// The time of the page in seconds since 1970, by which it tells near ends from far ones.
    public var now: Int64
    /// The page with the devices after these, and how many there are; nil: these are the last.
    public var more: (path: PagePath, count: Int)?
    /// Whether a page with other devices comes before.
    public var isContinued: Bool
    /// What has happened.
    public var message: Message?

    /// A list of devices.
    public init(
        header: AccountHeader, devices: [AccountDevice], now: Int64, more: (path: PagePath, count: Int)? = nil,
        isContinued: Bool = false, message: Message? = nil
    ) {
        self.header = header
        self.devices = devices
        self.now = now
        self.more = more
        self.isContinued = isContinued
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let list: HTML = """
            <p class="lead">\(words.devicesLead)</p>
            \(Controls.form(.accountEnd, header.form, "\(items(words))\(pages(words))\(endings(words))"))
            """
        return header.page(.devices, language, notice: notice(words), content: list)
    }

    private func notice(_ words: any Words) -> Notice? {
        switch message {
        case .ended(let count)?: Notice(kind: .success, text: "\(words.ended(count))")
        case .nothingToEnd?: Notice(kind: .note, text: "\(words.nothingToEnd)")
        case .pressAgain?: Notice(kind: .note, text: "\(words.pressAgain)")
        case nil: nil
        }
    }

    private func pages(_ words: any Words) -> HTML? {
        let links = [
            isContinued ? Controls.link(.account, words.latestDevices) : nil,
            more.map { Controls.link($0.path, words.moreDevices($0.count)) },
        ].compactMap(\.self)
        return links.isEmpty ? nil : "<p class=\"ways\">\(links.map { "<span>\($0)</span> " as HTML })</p>\n"
    }

    /// The button that is pressed sends the id of its session.
    private func items(_ words: any Words) -> HTML {
        """
        <ul class="list">
        \(devices.map { item($0, $0.phone.map { DisplayName($0) }, words) })</ul>
        """
    }

    private func item(_ device: AccountDevice, _ parent: DisplayName?, _ words: any Words) -> HTML {
        let name = DisplayName(device.name ?? words.unnamedDevice)
        let badge: HTML? = device.isThis ? " <span class=\"badge\">\(words.thisDevice)</span>" : nil
        let children: HTML? =
            device.children.isEmpty ? nil : "<ul>\n\(device.children.map { item($0, name, words) })</ul>\n"
        let seen: HTML =
            device.isThis ? "\(words.activeNow)" : "\(words.lastSeen) \(Controls.time(device.lastSeenAt, words))"
        return """
            <li><div class="item"><span class="kind\(device.isMobile ? " mobile" : "")"></span><div>
            <h2>\(name)\(badge)</h2>
            <p class="sub">\(DisplayName(device.app)) · \(place(device, words))</p>
            <p class="sub">\(seen)</p>
            \(parent.map { "<p class=\"sub\">\(words.letInBy($0))</p>\n" as HTML })\
            \(times(device, words))</div>
            \(device.isThis ? nil : endButton(device, name, words))</div>
            \(children)</li>

            """
    }

    private func place(_ device: AccountDevice, _ words: any Words) -> HTML {
        device.place.map { "\(DisplayName($0))" } ?? "\(words.unknownPlace)"
    }

    private func times(_ device: AccountDevice, _ words: any Words) -> HTML {
        func row(_ name: String, _ time: HTML?) -> HTML? { time.map { "<div><dt>\(name)</dt><dd>\($0)</dd></div>\n" } }
        func end(_ time: Int64?) -> HTML? { time.map { Controls.end($0, asOf: now, words) } }
        // The later one of two ends never comes.
        let idleEnd = device.end.map { end in device.idleEnd.flatMap { $0 < end ? $0 : nil } } ?? device.idleEnd
        return """
            <details><summary>\(words.moreOfDevice)</summary>
            <dl class="facts">
            \(row(words.signedInSince, Controls.day(device.signedInAt, words)))\
            \(row(words.endsUnused, end(idleEnd)))\
            \(row(words.endsAnyway, end(device.end)))</dl></details>
            """
    }

    private func endButton(_ device: AccountDevice, _ name: DisplayName, _ words: any Words) -> HTML {
        """
        <button class="secondary small" name="\(FormField.session)" value="\(device.session)" \
        aria-label="\(words.endOne(name))">\(words.endOne)</button>
        """
    }

    private func endings(_ words: any Words) -> HTML {
        let others = ending("others", words.endOthers, words.endOthersBody)
        return """
            <div class="stack">
            \(hasOthers ? others : nil)\
            \(ending("all", words.endAll, words.endAllBody))</div>
            """
    }

    private var hasOthers: Bool {
        isContinued || more != nil || devices.count > 1 || devices.contains { !$0.children.isEmpty }
    }

    /// A button that asks first, without script.
    private func ending(_ which: String, _ title: String, _ body: String) -> HTML {
        """
        <details class="ask"><summary>\(title)\u{A0}…</summary>
        <p>\(body)</p>
        \(Controls.button(.which, which, title, .danger))</details>

        """
    }
}
