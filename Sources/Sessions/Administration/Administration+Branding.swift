extension Administration {
    /// Changes what pages and mails show of the service. Throws `invalid` with a sentence.
    public func changeBranding(
        by origin: Origin, _ edit: @escaping @Sendable (inout Branding) -> Void
    ) async throws(ServiceError) -> Branding {
        let now = context.clock.now
        let result = try await inStore(
            await store.updateSettings { change -> Result<Branding, ServiceError> in
                var branding = change.settings.branding
                edit(&branding)
                if let problem = branding.problem { return .failure(.invalid(member: "branding", detail: problem)) }
                change.replaceBranding(by: branding, at: now, by: origin)
                return .success(branding)
            })
        return try result.get()
    }

    /// Sets or removes the logo of the service.
    public func setLogo(_ logo: Logo?, by origin: Origin) async throws(ServiceError) -> Branding {
        let now = context.clock.now
        return try await inStore(
            await store.updateCatalogue { catalogue in
                catalogue.newLogo = logo
                return catalogue.changeSettings { change in
                    var branding = change.settings.branding
                    branding.logo = logo?.name
                    change.replaceBranding(by: branding, at: now, by: origin)
                    return branding
                }
            })
    }

    /// Sets or removes the logo of a client. Throws `notFound`.
    public func setLogo(_ logo: Logo?, of id: String, by origin: Origin) async throws(ServiceError) -> Client {
        let now = context.clock.now
        let client = try await inStore(
            await store.updateCatalogue { catalogue -> Client? in
                guard catalogue.clients[id] != nil else { return nil }
                catalogue.newLogo = logo
                return catalogue.change(id) { change in
                    if change.client?.branding.logo != logo?.name {
                        change.client?.branding.logo = logo?.name
                        change.events.append(AuditEvent(.clientChanged, at: now, by: origin, clientID: id))
                    }
                    return change.client
                }
            })
        guard let client else { throw .notFound("client") }
        return client
    }

    /// A logo that the settings or a client show now; nil: none is named so.
    public func logo(named name: String) async throws(ServiceError) -> Logo? {
        guard let digest = Logo.digest(named: name) else { return nil }
        return try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in try reader.logo(digest).value() })
    }
}

extension SettingsChange {
    fileprivate mutating func replaceBranding(by branding: Branding, at now: Instant, by origin: Origin) {
        guard let difference = ValueDifference(from: settings.branding, to: branding) else { return }
        settings.branding = branding
        events.append(AuditEvent(.settingsChanged, at: now, by: origin, reason: difference.reason))
    }
}
