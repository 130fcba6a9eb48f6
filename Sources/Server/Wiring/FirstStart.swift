internal import Configuration
internal import Sessions

/// The content of a new database before the first request: the default client and an admin key.
struct FirstStart {
    let context: ServiceContext

    /// Checks the settings, creates the content of a new database, and returns the new admin key, if any.
    ///
    /// - Parameter adminKey: the secret of the environment's admin key, if it has one.
    func run(isNew: Bool, absoluteMaximum: Duration, adminKey: String?) async throws(StartError) -> String? {
        try await checkSettings(absoluteMaximum: absoluteMaximum)
        if isNew { try await makeDefaultClient() }
        if let adminKey {
            try await addAdminKey(secret: adminKey)
            return nil
        }
        return isNew ? try await makeAdminKey() : nil
    }

    /// The default app: public, first-party, with offline access, and with the account of its users.
    func makeDefaultClient() async throws(StartError) {
        let now = context.clock.now
        guard let scope = Scope("offline_access \(Scope.account)") else { return }
        do throws(StoreError) {
            try await context.store.updateClient(Client.mobileID) { change in
                if change.client != nil { return }
                let client = Client(
                    id: Client.mobileID, name: "Mobile app", scope: scope, createdAt: now,
                    epoch: change.settings.epoch + 1)
                change.client = client
                change.events.append(AuditEvent(.clientCreated, at: now, by: .system, clientID: client.id))
            }
        } catch { throw .store(error) }
    }

    /// Makes the first admin key, and returns its secret, which is never stored.
    func makeAdminKey() async throws(StartError) -> String {
        do throws(ServiceError) {
            return try await Administration(context).createAdminKey(name: "first start", by: .system).1
        } catch { throw Self.startError(error) }
    }

    /// Creates the admin key of the environment, which replaces the former key of that variable.
    func addAdminKey(secret: String) async throws(StartError) {
        let name = ServerConfiguration.SpecialVariable.adminKey.rawValue
        do throws(ServiceError) {
            _ = try await Administration(context).addAdminKey(
                name: name, secret: secret, replacingNamesakes: true, by: .system)
        } catch { throw Self.startError(error) }
    }

    /// Checks the settings, because settings that were valid under another configuration can be invalid under this one.
    func checkSettings(absoluteMaximum: Duration) async throws(StartError) {
        let settings: Settings
        let clients: [Client]
        do throws(StoreError) {
            settings = try await context.store.settings()
            clients = try await context.store.clients()
        } catch { throw .store(error) }
        let problem = Lifetimes.problem(
            settings: settings.sessions, clients: clients, absoluteMaximum: absoluteMaximum)
        if let problem { throw .settings(problem) }
    }

    static func startError(_ error: ServiceError) -> StartError {
        switch error {
        case .store(let error): .store(error)
        case .invalid(_, let detail): .adminKey(detail)
        default: .adminKey("\(error)")
        }
    }
}
