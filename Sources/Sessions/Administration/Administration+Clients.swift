internal import Cryptography

extension Administration {
    /// All clients, sorted by id.
    public func clients() async throws(ServiceError) -> [Client] {
        try await inStore(await store.clients())
    }

    /// The client with that id. Throws `notFound`.
    public func client(_ id: String) async throws(ServiceError) -> Client {
        guard let client = try await inStore(await store.client(id))
        else { throw .notFound("client") }
        return client
    }

    /// The client with that id beside the branding of the service, of one moment. Throws `notFound`.
    public func clientWithBranding(_ id: String) async throws(ServiceError) -> (client: Client, service: Branding) {
        let catalogue = try await inStore(await store.catalogue())
        guard let client = catalogue.clients[id] else { throw .notFound("client") }
        return (client, catalogue.settings.branding)
    }

    /// Creates a client; `edit` changes its defaults. Returns the client, and the secret of a client with a secret, which is
    /// never shown again.
    public func createClient(
        id: String, by origin: Origin, _ edit: @escaping @Sendable (inout Client) -> ServiceError?
    ) async throws(ServiceError) -> (client: Client, secret: String?) {
        guard Device.isValid(id: id) else {
            throw .invalid(member: "client_id", detail: "must have 1 to \(Device.idLengthMax) visible ASCII characters")
        }
        let now = context.clock.now
        let secret = Self.makeSecret(random: context.random)
        let client = try await update(id) { change -> Result<Client, ServiceError> in
            guard change.client == nil else {
                return .failure(.conflict(code: "client_exists", detail: "there is a client with this client_id"))
            }
            var client = Client(id: id, createdAt: now, epoch: change.settings.epoch + 1)
            if let error = edit(&client) { return .failure(error) }
            if client.authenticationMethod.hasSecret { client.secretHash = sha256(Array(secret.utf8)) }
            change.client = client
            change.events.append(AuditEvent(.clientCreated, at: now, by: origin, clientID: id))
            return .success(client)
        }
        return (client, client.authenticationMethod.hasSecret ? secret : nil)
    }

    /// Changes a client by `edit`. A new secret is made on request, and for a client that had none and now needs one.
    ///
    /// - Parameter overlap: how long the secret before the new one is accepted; without a new one, the remaining time of an
    ///   overlap that is under way.
    public func changeClient(
        _ id: String, newSecret: Bool = false, overlap: Duration? = nil, by origin: Origin,
        _ edit: @escaping @Sendable (inout Client) -> ServiceError?
    ) async throws(ServiceError) -> (client: Client, secret: String?) {
        let (now, policy) = (context.clock.now, context.policy)
        if let overlap, overlap > EarlierSecret.overlapMax {
            let seconds = EarlierSecret.overlapMax.wholeSeconds
            throw .invalid(member: "secret_overlap", detail: "must be at most \(seconds) seconds (30 days)")
        }
        let secret = Self.makeSecret(random: context.random)
        return try await update(id) { change -> Result<(client: Client, secret: String?), ServiceError> in
            guard let existing = change.client else { return .failure(.notFound("client")) }
            var client = existing
            if let error = edit(&client) { return .failure(error) }
            let hasSecret = client.authenticationMethod.hasSecret
            if newSecret, !hasSecret {
                return .failure(.invalid(member: "rotate_secret", detail: "is for clients that have a secret"))
            }
            let needsSecret = hasSecret && (newSecret || client.secretHash == nil)
            if needsSecret {
                client.rotateSecret(to: sha256(Array(secret.utf8)), overlap: overlap, at: now)
            } else if let overlap, !client.changeOverlap(to: overlap, at: now) {
                return .failure(
                    .invalid(member: "secret_overlap", detail: "is for a new secret, or while two secrets are accepted")
                )
            }
            if !hasSecret { (client.secretHash, client.earlierSecret) = (nil, nil) }
            if client != existing {
                change.replace(
                    existing, by: client, policy,
                    AuditEvent(
                        .clientChanged, at: now, by: origin, clientID: id,
                        reason: ValueDifference(from: existing, to: client)?.reason))
            }
            return .success((change.client ?? client, needsSecret ? secret : nil))
        }
    }

    /// Deletes a client and ends its sessions. They remain ended if a client with the same id is created again.
    public func deleteClient(_ id: String, by origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        try await update(id) { change -> Result<Void, ServiceError> in
            guard change.client != nil else { return .failure(.notFound("client")) }
            change.client = nil
            var event = AuditEvent(.clientDeleted, at: now, by: origin, clientID: id)
            event.revokes = .clientDeleted
            change.events.append(event)
            return .success(())
        }
    }

    /// Changes a client. Throws `invalid` if the client contradicts the settings, and writes nothing then.
    private func update<Value: Sendable>(
        _ id: String, _ edit: @escaping @Sendable (inout ClientChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        let (policy, now) = (context.policy, context.clock.now)
        let result = try await inStore(
            await store.updateCatalogue { catalogue -> Result<Value, ServiceError> in
                let result = catalogue.change(id) { change -> Result<Value, ServiceError> in
                    var edited = change
                    let result = edit(&edited)
                    guard case .success = result else { return result }
                    if let client = edited.client, let problem = client.problem(with: edited.settings, policy) {
                        return .failure(.invalid(member: "client", detail: problem))
                    }
                    change = edited
                    return result
                }
                catalogue.addBrowserClientIfUsed(at: now)
                return result
            })
        return try result.get()
    }

    private static func makeSecret(random: RandomSource) -> String {
        ClientRefusal.secretPrefix + Base64URL.encode(random.bytes(32))
    }
}

extension CatalogueChange {
    /// Adds the built-in client of browser sessions, once another client has them.
    fileprivate mutating func addBrowserClientIfUsed(at now: Instant) {
        if clients.values.contains(where: { $0.page.browserSession != .none }) { addBrowserClient(at: now) }
    }

    /// Adds the built-in client of browser sessions, unless it is there.
    mutating func addBrowserClient(at now: Instant) {
        guard clients[Client.browserID] == nil else { return }
        change(Client.browserID) { change in
            change.client = .browser(createdAt: now, epoch: change.settings.epoch + 1)
            change.events.append(AuditEvent(.clientCreated, at: now, by: .system, clientID: Client.browserID))
        }
    }
}

extension Client {
    /// The error in the client beside the settings, as one sentence; nil if there is none.
    func problem(with settings: Settings, _ policy: RefreshPolicy) -> String? {
        if let name, !Device.isValid(text: name) {
            return "client_name must have 1 to \(Device.textLengthMax) bytes and no control characters"
        }
        if isPublic, grantTypes.contains(.clientCredentials) {
            return "grant_types of a public client cannot have client_credentials (RFC 6749 section 4.4)"
        }
        if isPublic, grantTypes.contains(.backchannel) {
            return "grant_types of a public client cannot have \(GrantType.backchannel.rawValue) (OpenID Connect CIBA)"
        }
        if let problem = backchannel.problem ?? branding.problem { return problem }
        if authenticationMethod == .privateKeyJWT, keys == nil {
            return "jwks must hold the keys of a client with private_key_jwt"
        }
        if authenticationMethod != .privateKeyJWT, keys != nil {
            return "jwks is for clients with private_key_jwt"
        }
        if isAuthenticationMethodPinned, !authenticationMethod.hasSecret {
            return "token_endpoint_auth_method_pinned is for clients with a secret"
        }
        if isPublic, page.pkce == .optional {
            return "pkce of a public client must be required (RFC 9700 section 2.1.1)"
        }
        if let problem = Resource.problem(with: resources) ?? WebOrigin.problem(in: allowedOrigins) { return problem }
        if tokenStyle == .single, !allowedOrigins.isEmpty {
            return "token_style must be separate for a client with allowed_origins, because APIs see a single token"
        }
        if let problem = page.problem(with: grantTypes) { return problem }
        if grantTypes.contains(.authorizationCode), !grantTypes.contains(.refreshToken), staysLoggedIn {
            return "stay_logged_in must be false for a client with authorization_code and without refresh_token"
        }
        return Lifetimes.problem(
            settings: settings.sessions, clients: [self], absoluteMaximum: policy.absoluteMaximum(beside: settings))
    }
}
