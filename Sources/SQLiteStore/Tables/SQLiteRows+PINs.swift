internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func pin(of id: Identifier<Session>) -> Answer<PIN?> {
        first(PINRow.select, id, read: PINRow.read)
    }

    func pinForUpdate(of id: Identifier<Session>) -> Answer<PIN?> { pin(of: id) }

    func pins(after id: Identifier<Session>?, limit: Int) -> Answer<[PIN]> {
        all(PINRow.selectPage, id?.bytes ?? [], limit, read: PINRow.read)
    }

    func replace(_ pin: PIN) {
        perform(PINRow.replace) { row in PINColumns.write(pin, to: &row) }
    }

    func deletePIN(of id: Identifier<Session>) {
        perform(PINRow.delete, id)
    }
}

/// Every statement about PINs.
enum PINRow {
    private static let columns = PINColumns.all.list

    static let select = Query("SELECT \(columns) FROM pins WHERE session_id = ?")
    static let selectPage = Query("SELECT \(columns) FROM pins WHERE session_id > ? ORDER BY session_id LIMIT ?")
    static let replace = Query(replacing: nil, PINColumns.all, in: "pins")
    static let delete = Query("DELETE FROM pins WHERE session_id = ?")

    static func read(_ row: inout Row) throws(CorruptRow) -> PIN { try PINColumns.read(&row) }
}
