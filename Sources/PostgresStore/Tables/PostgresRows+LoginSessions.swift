internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func loginSession(_ key: LoginSession.Key) -> Answer<LoginSession?> {
        first(LoginSessionSQL.select(key), LoginSessionSQL.read)
    }

    func loginSessionForUpdate(_ id: Identifier<Session>) -> Answer<LoginSession?> {
        first(LoginSessionSQL.select(.id(id), locked: "FOR UPDATE"), LoginSessionSQL.read)
    }

    func loginSessionsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[LoginSession]> {
        all(LoginSessionSQL.selectForUpdate(ofPhone: sessionID), LoginSessionSQL.read)
    }

    func insert(_ login: LoginSession) { perform(LoginSessionSQL.insert(login)) }

    func update(_ login: LoginSession) { perform(LoginSessionSQL.update(login)) }
}
