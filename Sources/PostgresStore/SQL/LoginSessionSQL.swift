internal import Sessions
internal import StoreFoundation

/// Every statement about logins with a phone.
enum LoginSessionSQL {
    private static let select = "SELECT \(LoginSessionColumns.all.list) FROM logins WHERE state IS NOT NULL AND"

    static func read(_ row: inout Row) throws(CorruptRow) -> LoginSession { try LoginSessionColumns.read(&row) }

    static func select(_ key: LoginSession.Key, locked: String = "") -> Statement {
        switch key {
        case .id(let id): Statement("\(select) id = $1::uuid \(locked)", id)
        case .handle(let handle):
            Statement("\(select) scan_handle = $1::bytea AND ended_at IS NULL \(locked)", handle)
        case .userCode(let code): Statement("\(select) user_code = $1::text AND ended_at IS NULL \(locked)", code)
        case .poll(let hash): Statement("\(select) poll_hash = $1::bytea \(locked)", hash)
        }
    }

    static func selectForUpdate(ofPhone sessionID: Identifier<Session>) -> Statement {
        Statement(
            "\(select) phone_session_id = $1::uuid AND ended_at IS NULL ORDER BY id FOR UPDATE", sessionID)
    }

    static func insert(_ login: LoginSession) -> Statement {
        Statement(
            """
            INSERT INTO logins (\(LoginSessionColumns.all.list)) VALUES (\(LoginSessionColumns.all.placeholders()))
            """
        ) { row in LoginSessionColumns.write(login, to: &row) }
    }

    static func update(_ login: LoginSession) -> Statement {
        Statement("UPDATE logins SET \(LoginSessionColumns.variable.assignments(from: 2)) WHERE id = $1::uuid") { row in
            row.add(login.id)
            LoginSessionColumns.writeVariable(login, to: &row)
        }
    }
}
