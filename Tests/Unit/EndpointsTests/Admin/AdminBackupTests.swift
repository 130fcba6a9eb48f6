import HTTP
import Testing

@testable import Endpoints

@Suite struct AdminBackupTests {
    @Test func anAdminKeyIsNotEnoughForABackup() async throws {
        try await EndpointsFixture.with { stage in
            let begun = await stage.admin(.post, "/admin/v1/backup", #"{"file":"/tmp/x"}"#)
            #expect(begun.status == 403)
            #expect(begun.string("code") == "local_only")
            #expect(await stage.admin(.get, "/admin/v1/backup").status == 403)
        }
    }

    @Test func aDatabaseWithToolsOfItsOwnHasNoBackups() async throws {
        try await EndpointsFixture.with { stage in
            let answer = await stage.send(Request(.get, "/admin/v1/backup"), on: .adminSocket)
            #expect(answer.status == 409)
            #expect(answer.string("code") == "no_backup")
        }
    }
}
