import Dispatch
import Sessions
import Testing

/// What one page shows is of one moment.
let pageReadRules: [StoreRule] = [
    StoreRule("a read for a page sees no change that is committed while it runs") { store in
        let user = try await store.given(Fixture.user("anna"))
        let done = DispatchSemaphore(value: 0)
        let change = { @Sendable in
            _ = Task {
                defer { done.signal() }
                _ = try await store.updateUser(.id(user.id)) { $0.user.username = "bert" }
                _ = try await store.updateSettings { $0.settings.sessions.refreshAfter = .seconds(77) }
            }
            done.wait()
        }

        let seen = try await store.read(.page) { (reader) throws(TransactionError) in
            let before = try reader.user(.id(user.id)).value()
            change()
            let (after, catalogue) = (reader.user(.id(user.id)), reader.catalogue())
            return ([before?.username, try after.value()?.username], try catalogue.value().settings)
        }

        #expect(seen.0 == ["anna", "anna"])
        #expect(seen.1.sessions.refreshAfter != .seconds(77))
        #expect(try await store.user(.id(user.id))?.username == "bert")
        #expect(try await store.settings().sessions.refreshAfter == .seconds(77))
    }
]
