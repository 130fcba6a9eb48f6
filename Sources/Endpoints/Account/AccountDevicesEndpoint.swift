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

    /// `GET /account?page=`: the sessions of the user, those that were used last on the first page.
    func showAccountDevices(_ call: Call) async throws -> Response {
        try await account(call, .account) { stay in
            let word = stay.word(on: .account)
            let message: DevicesPage.Message? =
                switch word {
                case AccountWord.gone: .nothingToEnd
                case let count?: Int(count).map { .ended($0) }
                case nil: nil
                }
            return try await devicesPage(stay, message)
        }
    }

    /// `POST /account/end`: ends one session of the user, all others, or all.
    func endAccountDevices(_ call: Call) async throws -> Response {
        try await account(call, .account) { stay in
            let form = try call.form()
            guard stay.sent(form, to: .accountEnd) else { return try await devicesPage(stay, .pressAgain) }
            let (userID, current) = (stay.user.id, stay.visit.session.id)
            switch form[.which] ?? form[.session].map({ _ in "one" }) {
            case "one":
                guard let id = form[.session].flatMap({ Identifier<Session>($0) }),
                    try await services.logout.end(id, of: userID, asking: current, from: call.origin)
                else { return redirect(stay, to: .account, saying: AccountWord.gone) }
                return id == current ? leaveAccount() : redirect(stay, to: .account, saying: "1")
            case "others":
                let ended = try await services.accounts.endSessions(
                    of: userID, onDevice: nil, except: current, from: call.origin)
                return redirect(stay, to: .account, saying: ended > 0 ? "\(ended)" : AccountWord.gone)
            case "all":
                _ = try await services.accounts.endSessions(of: userID, onDevice: nil, from: call.origin)
                return leaveAccount()
            default: return try await devicesPage(stay, nil)
            }
        }
    }

    private func devicesPage(_ stay: AccountStay, _ message: DevicesPage.Message?) async throws -> Response {
        let living = try await services.accounts.livingSessions(of: stay.user.id)
        let addresses = try await addresses(of: stay.user.id)
        let current = stay.visit.session.id
        let others = living.filter { $0.session.id != current }.sorted { $0.session.renewedAt > $1.session.renewedAt }
        let all = Self.byPhone([stay.visit.record] + others)
        let count = (all.count + Self.devicesMax - 1) / Self.devicesMax
        let query = AuthorizationParameters((try? stay.call.request.queryItems()) ?? [])
        let number = min(max(1, query["page"].flatMap { Int($0) } ?? 1), count)
        let shown = Array(all.dropFirst((number - 1) * Self.devicesMax).prefix(Self.devicesMax))
        let rest = all.count - number * Self.devicesMax
        let names = Dictionary(all.map { ($0.session.id, $0.session.device.shownName) }) { first, _ in first }
        let families = Self.families(of: shown)
        func devices(under phone: Identifier<Session>?) -> [AccountDevice] {
            (families[phone] ?? []).map { record in
                let place = addresses[record.session.id].flatMap { placeName($0) }
                var shown = device(record, stay, place: place, devices(under: record.session.id))
                if phone == nil { shown.phone = record.session.phoneID.flatMap { names[$0] ?? nil } }
                return shown
            }
        }
        return DevicesPage(
            header: stay.header, devices: devices(under: nil),
            more: rest > 0 ? (PagePath("/account", ["page": "\(number + 1)"]), rest) : nil, isContinued: number > 1,
            message: message
        ).response(.ok, in: stay.language)
    }

    /// The sessions by the phone that has let them in, if it is among them.
    private static func families(of records: [SessionRecord]) -> [Identifier<Session>?: [SessionRecord]] {
        let ids = Set(records.map(\.session.id))
        return Dictionary(grouping: records) { record in
            record.session.phoneID.flatMap { ids.contains($0) ? $0 : nil }
        }
    }

    /// The sessions in their order, with what a phone has let in behind it.
    private static func byPhone(_ records: [SessionRecord]) -> [SessionRecord] {
        let families = families(of: records)
        func sorted(under phone: Identifier<Session>?) -> [SessionRecord] {
            (families[phone] ?? []).flatMap { [$0] + sorted(under: $0.session.id) }
        }
        return sorted(under: nil)
    }

    private func device(
        _ record: SessionRecord, _ stay: AccountStay, place: String?, _ children: [AccountDevice]
    ) -> AccountDevice {
        let (session, isThis) = (record.session, record.session.id == stay.visit.session.id)
        let lifetimes = context.policy.lifetimes(
            settings: record.settings, client: record.client, user: record.user)
        let idleEnd = isThis ? context.clock.now + stay.visit.idle : lifetimes.idleEnd(of: session)
        return AccountDevice(
            session: session.id.description, name: session.device.shownName,
            app: record.client?.name ?? session.clientID, place: place,
            signedInAt: session.startedAt.secondsSinceEpoch, lastSeenAt: session.renewedAt.secondsSinceEpoch,
            idleEnd: idleEnd.secondsSinceEpoch, end: lifetimes.finalEnd(of: session).secondsSinceEpoch,
            isThis: isThis, children: children)
    }

    /// The last address of each session in the newest events of the user. Refreshes leave no event, so that this is the address
    /// of the login for most.
    func addresses(of userID: Identifier<User>) async throws(ServiceError) -> [Identifier<Session>: String] {
        let events = try await services.accounts.history(of: userID, limit: Self.eventsMax)
        let pairs = events.compactMap { recorded -> (Identifier<Session>, String)? in
            let event = recorded.event
            guard event.actor == Origin.userActor, let id = event.sessionID, let address = event.remoteAddress
            else { return nil }
            return (id, address)
        }
        return Dictionary(pairs) { newest, _ in newest }
    }

    /// City and country of an address; nil if they are not known.
    func placeName(_ address: String) -> String? { remoteLogins.place(address)?.name }
}

extension Device {
    /// The name of the device as its user knows it: its own, or else its platform.
    var shownName: String? { name ?? platform }
}
