internal import Sessions
internal import StoreFoundation

/// Every statement about PINs.
enum PINSQL {
    private static let columns = PINColumns.all.list

    static func select(_ id: Identifier<Session>, locked: String = "") -> Statement {
        Statement("SELECT \(columns) FROM pins WHERE session_id = $1::uuid \(locked)", id)
    }

    static func selectPage(after cursor: Identifier<Session>?, limit: Int) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM pins WHERE ($1::uuid IS NULL OR session_id > $1::uuid)
            ORDER BY session_id LIMIT $2::bigint
            """, cursor, limit)
    }

    static func replace(_ pin: PIN) -> Statement {
        Statement(
            """
            INSERT INTO pins (\(columns)) VALUES (\(PINColumns.all.placeholders()))
            ON CONFLICT (session_id) DO UPDATE SET \(PINColumns.all.replacements)
            """
        ) { row in PINColumns.write(pin, to: &row) }
    }

    static func delete(_ id: Identifier<Session>) -> Statement {
        Statement("DELETE FROM pins WHERE session_id = $1::uuid", id)
    }

    static func read(_ row: inout Row) throws(CorruptRow) -> PIN { try PINColumns.read(&row) }
}
