import Sessions
import Testing

/// Lists in parts.
public let pagingRules: [StoreRule] = [
    StoreRule("sessions come newest first, tombstones included, page by page without gap or repetition") { store in
        let user = try await store.given(Fixture.user())
        var expected: [Session] = []
        for number in 0..<7 {
            // Two share each second: the place in the list must still be unique.
            let at = Fixture.start + .seconds(number / 2)
            var session = try await store.given(Fixture.session(of: user.id, device: "d\(number)", at: at))
            if number.isMultiple(of: 3) {
                session.end(.loggedOut, at: at)
                let ended = session
                try await store.updateSession(session.id) { $0.session = ended }
            }
            expected.append(session)
        }
        var listed: [Session] = []
        var cursor: String?
        var pages = 0
        repeat {
            let page = try await store.sessions(of: user.id, after: cursor, limit: 3)
            #expect(page.items.count <= 3)
            #expect(page.items.allSatisfy { $0.user == user && $0.client == nil && $0.settings == Settings() })
            listed += page.items.map(\.session)
            cursor = page.nextCursor
            pages += 1
        } while cursor != nil && pages < 10
        #expect(pages == 3)
        #expect(Set(listed) == Set(expected))
        #expect(listed.count == expected.count)
        #expect(listed.map(\.startedAt) == listed.map(\.startedAt).sorted(by: >))
    },
    StoreRule("a full last page has no next cursor") { store in
        let user = try await store.given(Fixture.user())
        for number in 0..<2 { _ = try await store.given(Fixture.session(of: user.id, device: "d\(number)")) }
        #expect(try await store.sessions(of: user.id, after: nil, limit: 2).nextCursor == nil)
        #expect(try await store.users(matching: nil, after: nil, limit: 1).nextCursor == nil)
    },
    StoreRule("an invalid cursor gives an empty page") { store in
        let user = try await store.given(Fixture.user())
        _ = try await store.given(Fixture.session(of: user.id))
        for cursor in ["", "?", "1.2", "x.\(Fixture.sessionID())", "1..2"] {
            let page = try await store.sessions(of: user.id, after: cursor, limit: 2)
            #expect(page.items.isEmpty)
            #expect(page.nextCursor == nil)
        }
    },
    StoreRule("the sessions of somebody unknown are an empty page") { store in
        let page = try await store.sessions(of: Fixture.userID(), after: nil, limit: 2)
        #expect(page.items.isEmpty && page.nextCursor == nil)
    },
    StoreRule("users come in the order of their usernames' keys, page by page") { store in
        for name in ["delta", "Alpha", "charlie", "BRAVO", "écho"] { _ = try await store.given(Fixture.user(name)) }
        var listed: [String] = []
        var cursor: String?
        var pages = 0
        repeat {
            let page = try await store.users(matching: nil, after: cursor, limit: 2)
            listed += page.items.map(\.username)
            cursor = page.nextCursor
            pages += 1
        } while cursor != nil && pages < 10
        #expect(listed == ["Alpha", "BRAVO", "charlie", "delta", "écho"])
        #expect(pages == 3)
    },
    StoreRule("users are found by a part of username, e-mail, telephone or name, and wildcards mean themselves") {
        store in
        let anna = try await store.given(Fixture.user("Anna_1"))
        var bert = Fixture.user("bert")
        bert.profile.email = "bert@100%.example"
        bert = try await store.given(bert)
        var carl = Fixture.user("carl")
        carl.profile.displayName = "Carl \\ Annasson"
        carl.profile.familyName = "Żółć"
        carl.profile.phoneNumber = "+43 316 12_34"
        carl = try await store.given(carl)
        func found(_ query: String) async throws -> [String] {
            try await store.users(matching: query, after: nil, limit: 10).items.map(\.username)
        }
        #expect(try await found("anna") == [anna.username, carl.username])
        #expect(try await found("ANNA_") == [anna.username])
        #expect(try await found("_") == [anna.username, carl.username])
        #expect(try await found("%") == [bert.username])
        #expect(try await found("100%.") == [bert.username])
        #expect(try await found("\\") == [carl.username])
        #expect(try await found("BERT@") == [bert.username])
        #expect(try await found("Żół") == [carl.username])
        #expect(try await found("316 12") == [carl.username])
        #expect(try await found("nobody").isEmpty)
        #expect(try await found("").count == 3)
    },
]
