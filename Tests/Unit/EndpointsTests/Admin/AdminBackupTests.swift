import HTTP
import Testing

@testable import Endpoints

@Suite struct AdminBackupTests {
    @Test func anAdminKeyIsNotEnoughForABackup() async throws {
        try await EndpointsFixture.with { server in
            let begun = await server.admin(.post, "/admin/v1/backup", #"{"file":"/tmp/x"}"#)
            #expect(begun.status == 403)
            #expect(begun.string("code") == "local_only")
            #expect(await server.admin(.get, "/admin/v1/backup").status == 403)
        }
    }

    @Test func aDatabaseWithToolsOfItsOwnHasNoBackups() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.send(Request(.get, "/admin/v1/backup"), on: .adminSocket)
            #expect(answer.status == 409)
            #expect(answer.string("code") == "no_backup")
        }
    }
}
