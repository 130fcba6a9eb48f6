internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func pin(of id: Identifier<Session>) -> Answer<PIN?> { first(PINSQL.select(id), PINSQL.read) }

    func pinForUpdate(of id: Identifier<Session>) -> Answer<PIN?> {
        firstForUpdate(PINSQL.select(id, locked: "FOR UPDATE"), PINSQL.read)
    }

    func pins(after id: Identifier<Session>?, limit: Int) -> Answer<[PIN]> {
        all(PINSQL.selectPage(after: id, limit: limit), PINSQL.read)
    }

    func replace(_ pin: PIN) { perform(PINSQL.replace(pin)) }

    func deletePIN(of id: Identifier<Session>) { perform(PINSQL.delete(id)) }
}
