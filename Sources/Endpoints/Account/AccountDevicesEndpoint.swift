internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page of the devices.
extension Endpoints {
    /// The largest number of devices and of events on a page.
    private static let devicesMax = 200

    /// `GET /account`: the sessions of the user.
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
            switch form[.which] {
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
        let shown = [stay.visit.record] + others.prefix(Self.devicesMax)
        let ids = Set(shown.map(\.session.id))
        // What a phone has let in stands under it.
        let families = Dictionary(grouping: shown) { record in
            record.session.phoneID.flatMap { ids.contains($0) ? $0 : nil }
        }
        func devices(under phone: Identifier<Session>?) -> [AccountDevice] {
            (families[phone] ?? []).map { record in
                let place = addresses[record.session.id].flatMap { placeName($0) }
                return device(record, stay, place: place, devices(under: record.session.id))
            }
        }
        return DevicesPage(header: stay.header, devices: devices(under: nil), message: message)
            .response(.ok, in: stay.language)
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
        let events = try await services.accounts.history(of: userID, limit: Self.devicesMax)
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
