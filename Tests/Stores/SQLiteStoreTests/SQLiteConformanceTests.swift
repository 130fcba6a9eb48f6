import SQLiteStore
import StoreConformance
import Testing

@Suite struct SQLiteConformanceTests {
    @Test(arguments: storeRules) func sqliteKeeps(_ rule: StoreRule) async throws {
        try await TemporaryFolder.with { folder in
            let store = try folder.open()
            try await rule.check(store)
            await store.close()
        }
    }
}
