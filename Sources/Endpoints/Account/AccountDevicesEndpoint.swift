internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page of the devices.
extension Endpoints {
    /// The devices on a page, so that it stays light for a user with many.
    private static let devicesMax = 6
    /// The largest number of events that are looked at for the places of sessions.
    private static let eventsMax = 200

    /// The events that a page looks at for the places of sessions; 0 if no place is known of any.
    var placeEventsMax: Int { remoteLogins.place == nil ? 0 : Self.eventsMax }

    /// `GET /account?page=`: the sessions of the user, those that were used last on the first page.
    func showAccountDevices(_ call: Call) async throws -> Response {
        try await account(call, .account) { stay in
            let flash = stay.flash(on: .account)
            let message: DevicesPage.Message? =
                switch flash?.word {
                case .gone: .nothingToEnd
                case .again: .pressAgain
                case .ended: .ended(flash?.count ?? 0)
                default: nil
                }
            return try await devicesPage(stay, message)
        }
    }

    /// `POST /account/end`: ends one session of the user, all others, or all.
    func endAccountDevices(_ call: Call) async throws -> Response {
        try await account(call, .account, act: .end) { stay in
            let form = try call.form()
            guard stay.sent(form, to: .accountEnd) else { return try await devicesPage(stay, .pressAgain) }
            return try await perform(.end, form, stay)
        }
    }

    /// Ends what the form of the page names.
    func endDevices(_ form: FormParameters, _ stay: AccountPageRequest) async throws -> Response {
        let (userID, current, origin) = (stay.user.id, stay.visit.session.id, stay.call.origin)
        switch form[.which] ?? form[.session].map({ _ in "one" }) {
        case "one":
            guard let id = form[.session].flatMap({ Identifier<Session>($0) }),
                try await endRow(of: id, userID, asking: current, stay.call)
            else { return redirect(stay, to: .account, saying: AccountFlash(.gone)) }
            return id == current ? leaveAccount() : redirect(stay, to: .account, saying: AccountFlash(.ended, 1))
        case "others":
            let ended = try await services.accounts.endSessions(
                of: userID, onDevice: nil, except: current, from: origin)
            return redirect(stay, to: .account, saying: ended > 0 ? AccountFlash(.ended, ended) : AccountFlash(.gone))
        case "all":
            _ = try await services.accounts.endSessions(of: userID, onDevice: nil, from: origin)
            return leaveAccount()
        default: return try await devicesPage(stay, nil)
        }
    }

    /// Ends the sessions of one row. False: none of them was left.
    private func endRow(
        of id: Identifier<Session>, _ userID: Identifier<User>, asking current: Identifier<Session>, _ call: Call
    ) async throws -> Bool {
        var hasEnded = false
        for session in try await services.accounts.sessions(inRowOf: id, of: userID) {
            let isEnded = try await services.logout.end(session, of: userID, asking: current, from: call.origin)
            hasEnded = hasEnded || isEnded
        }
        return hasEnded
    }

    private func devicesPage(_ stay: AccountPageRequest, _ message: DevicesPage.Message?) async throws -> Response {
        let overview = try await services.accounts.devices(of: stay.user.id, lookMax: placeEventsMax)
        let current = stay.visit.session.id
        // The store sorts them: the last used first.
        let others = overview.sessions.filter { $0.session.id != current }
        let tree = DeviceRow.families(of: DeviceRow.list([stay.visit.record] + others))
        let all = DeviceRow.sorted(tree)
        let count = (all.count + Self.devicesMax - 1) / Self.devicesMax
        let query = stay.call.query
        let number = min(max(1, query["page"].flatMap { Int($0) } ?? 1), count)
        let shown = Array(all.dropFirst((number - 1) * Self.devicesMax).prefix(Self.devicesMax))
        let rest = all.count - number * Self.devicesMax
        let families = shown.count == all.count ? tree : DeviceRow.families(of: shown)
        func name(of id: Identifier<Session>) -> String? {
            all.first { $0.id == id }?.record.session.device.shownName
        }
        func devices(under parent: Identifier<Session>?) -> [AccountDevice] {
            (families[parent] ?? []).map { row in
                let place = overview.addresses[row.id].flatMap { placeName($0, in: stay.language) }
                var shown = device(row, stay, place: place, devices(under: row.id))
                if parent == nil { shown.phone = row.record.session.phoneID.flatMap(name) }
                return shown
            }
        }
        return DevicesPage(
            header: stay.header, devices: devices(under: nil), now: context.clock.now.secondsSinceEpoch,
            more: rest > 0 ? (PagePath("/account", ["page": "\(number + 1)"]), rest) : nil, isContinued: number > 1,
            message: message
        ).response(.ok, in: stay.language)
    }

    private func device(
        _ row: DeviceRow, _ stay: AccountPageRequest, place: String?, _ children: [AccountDevice]
    ) -> AccountDevice {
        let record = row.record
        let (session, isThis) = (record.session, record.session.id == stay.visit.session.id)
        let lifetimes = context.policy.lifetimes(
            settings: record.settings, client: record.client, user: record.user)
        // Nearly every row has one session.
        func latest(_ time: (Session) -> Instant) -> Instant {
            row.records.dropFirst().reduce(time(session)) { max($0, time($1.session)) }
        }
        let idleEnd =
            isThis
            ? context.clock.now + stay.visit.idle
            : latest { $0.browserEnd(record.settings) ?? lifetimes.idleEnd(of: $0) }
        let startedAt = row.records.dropFirst().reduce(session.startedAt) { min($0, $1.session.startedAt) }
        return AccountDevice(
            session: session.id.description, name: session.device.shownName,
            app: record.client?.name ?? session.clientID, place: place,
            signedInAt: startedAt.secondsSinceEpoch, lastSeenAt: latest(\.renewedAt).secondsSinceEpoch,
            idleEnd: idleEnd.secondsSinceEpoch, end: latest(lifetimes.finalEnd).secondsSinceEpoch,
            isThis: isThis, isMobile: session.device.isMobile, children: children)
    }

    /// City and country of an address; nil if they are not known.
    func placeName(_ address: String, in language: PageLanguage = .english) -> String? {
        remoteLogins.place?(address, language.tag)?.name
    }
}

extension Device {
    /// Whether it is a phone or a tablet, as far as its name and its platform say.
    var isMobile: Bool {
        let known = [name, platform].compactMap { $0?.lowercased() }
        return known.contains { text in
            ["ios", "ipados", "android"].contains { text.hasPrefix($0) }
                || ["iphone", "ipad", "· android"].contains { text.contains($0) }
        }
    }
}

extension Route {
    static let showAccountDevices = Route(
        .get, "/account", errorFormat: .page, .open { try await $0.showAccountDevices($1) },
        Operation(
            "showAccountDevices", .accountPages, "The user's devices",
            "Shows the sessions of the user of the browser's session, with their ends.",
            parameters: ["done", "t"], answers: [.page, .toLogin]))

    static let endAccountDevices = Route(
        .post, "/account/end", errorFormat: .page, .open { try await $0.endAccountDevices($1) },
        Operation(
            "endAccountDevices", .accountPages, "End sessions",
            """
            Ends one session of the user, all others, or all. The form needs the page's token and the browser's \
            cookies, and comes from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page,
                .redirect("To `/account`; after the end of this very session to `/oauth/logout`, which says so."),
            ]))
}
