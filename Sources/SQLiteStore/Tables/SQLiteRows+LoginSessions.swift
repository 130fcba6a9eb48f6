internal import Sessions
internal import StoreFoundation

/// Every statement about logins with a phone.
private enum LoginSessionRow {
    private static let select = "SELECT \(LoginSessionColumns.all.list) FROM logins WHERE state IS NOT NULL AND"

    static let selectByID = Query("\(select) id = ?")
    static let selectByHandle = Query("\(select) scan_handle = ? AND ended_at IS NULL")
    static let selectByUserCode = Query("\(select) user_code = ? AND ended_at IS NULL")
    static let selectByPoll = Query("\(select) poll_hash = ?")
    static let selectOfPhone = Query("\(select) phone_session_id = ? AND ended_at IS NULL ORDER BY id")
    static let insert = Query(inserting: nil, LoginSessionColumns.all, into: "logins")
    static let update = Query(
        """
        UPDATE logins SET \(LoginSessionColumns.variable.names.map { "\($0) = ?" }.joined(separator: ", "))
        WHERE id = ?
        """)

    static func read(_ row: inout Row) throws(CorruptRow) -> LoginSession { try LoginSessionColumns.read(&row) }
}

extension SQLiteRows {
    func loginSession(_ key: LoginSession.Key) -> Answer<LoginSession?> {
        answer { (connection) throws(DatabaseError) in
            switch key {
            case .id(let id):
                try connection.first(LoginSessionRow.selectByID, id, read: LoginSessionRow.read)
            case .handle(let handle):
                try connection.first(LoginSessionRow.selectByHandle, handle, read: LoginSessionRow.read)
            case .userCode(let code):
                try connection.first(LoginSessionRow.selectByUserCode, code, read: LoginSessionRow.read)
            case .poll(let hash):
                try connection.first(LoginSessionRow.selectByPoll, hash, read: LoginSessionRow.read)
            }
        }
    }

    func loginSessionForUpdate(_ id: Identifier<Session>) -> Answer<LoginSession?> { loginSession(.id(id)) }

    func loginSessionsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[LoginSession]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(LoginSessionRow.selectOfPhone, sessionID, read: LoginSessionRow.read)
        }
    }

    func insert(_ login: LoginSession) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginSessionRow.insert) { row in LoginSessionColumns.write(login, to: &row) }
        }
    }

    func update(_ login: LoginSession) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(LoginSessionRow.update) { row in
                LoginSessionColumns.writeVariable(login, to: &row)
                row.add(login.id)
            }
        }
    }
}
