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

/// Clean-up in steps.
let sweepRules: [StoreRule] = [
    StoreRule("clean-up sees every session once, in steps, and deletes what is forgotten") { store in
        let user = try await store.given(Fixture.user())
        var sessions: [Session] = []
        for number in 0..<10 {
            sessions.append(try await store.given(Fixture.session(of: user.id, device: "d\(number)")))
        }
        let forgotten = Set(sessions.prefix(4).map(\.id))
        var cursor: Identifier<Session>?
        var deleted = 0
        var steps = 0
        repeat {
            let step = try await store.sweepSessions(after: cursor, limit: 3) { forgotten.contains($0.session.id) }
            deleted += step.deleted
            cursor = step.cursor
            steps += 1
        } while cursor != nil && steps < 20
        #expect(deleted == 4)
        #expect(steps == 4)
        for session in sessions {
            #expect((try await store.session(session.id) == nil) == forgotten.contains(session.id))
        }
        let all = try await store.sweepSessions(after: nil, limit: 100) { $0.user != user }
        #expect(all == SweepStep(cursor: nil, deleted: 0))
    },
    StoreRule("what a provider is asked with goes with the session that clean-up forgets, and no other") { store in
        let user = try await store.given(Fixture.user())
        for device in ["forgotten", "kept"] {
            let session = Fixture.session(of: user.id, device: device)
            _ = try await store.openSession(userID: user.id, clientID: session.clientID, deviceID: device) { opening in
                (opening.session, opening.providerCheck) = (session, Fixture.check(session))
            }
        }
        let step = try await store.sweepSessions(after: nil, limit: 5) { $0.session.device.id == "forgotten" }
        #expect(step == SweepStep(cursor: nil, deleted: 1))
        let now = Fixture.start + .seconds(100)
        let left = try await store.claimProviderChecks(of: "acme", dueBy: now, until: now, limit: 9)
        let kept = try await store.sessions(of: user.id, after: nil, limit: 9).items.map(\.session.id)
        #expect(left.map(\.sessionID) == kept)
    },
    StoreRule("clean-up of nothing is at its end at once") { store in
        let step = try await store.sweepSessions(after: nil, limit: 5) { _ in true }
        #expect(step == SweepStep(cursor: nil, deleted: 0))
    },
    StoreRule("a device whose tombstone was deleted can be used again") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        #expect(try await store.sweepSessions(after: nil, limit: 5) { _ in true }.deleted == 1)
        _ = try await store.given(Fixture.session(of: user.id))
        #expect(try await store.session(session.id) == nil)
    },
]
