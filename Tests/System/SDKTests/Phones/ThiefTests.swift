import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A thief goes on with what was copied from a phone, and so does the phone.
@Suite("A thief", .timeLimit(.minutes(2)))
struct ThiefTests {
    private let folder: PhoneFolder
    private let server: LocalServer

    init() async throws {
        folder = try PhoneFolder()
        var options = LocalServer.Options()
        options.settings = ServerSettings(rotationInterval: 1, refreshAfter: 0)
        server = try await LocalServer.start(options)
        try await server.createUser("anna", password: "correct horse battery")
    }

    private func phone(_ name: String, renewal: String = "refresh-token") throws -> PhoneProcess {
        try PhoneProcess(folder.path + "/" + name, server: server.url, renewal: renewal)
    }

    /// Logs in on a phone, and returns its refresh token.
    private func begin(_ phone: PhoneProcess) async throws -> String {
        let members: [String: JSONValue] = [
            "username": .string("anna"), "password": .string("correct horse battery"),
        ]
        #expect(try await phone.ask("login", members).text("user") == "anna")
        let record = try Data(contentsOf: folder.url("phone/" + FileStore.fileName))
        return JSONValue(parsing: Array(record))?.members?.text("refresh_token") ?? ""
    }

    @Test("with the refresh token alone the session ends when both go on, and the phone is told")
    func token() async throws {
        let phone = try phone("phone")
        var stolen = try await begin(phone)
        #expect(stolen.hasPrefix("sjr_"))
        let client = ContractClient(server: server)
        var words: [String] = []
        for _ in 0..<6 where words.last != "ended" {
            try await Task.sleep(for: .milliseconds(1150))
            let answer = try await client.renew(stolen)
            if answer.status == 200 { stolen = answer.refreshToken }
            try await Task.sleep(for: .milliseconds(1150))
            words.append(try await phone.ask("token", ["need": .string("fresh")]).word)
        }
        #expect(words.last == "ended", "\(words)")
        #expect(try await phone.ask("state").text("reason") == "refresh_token_reused")
        #expect(try await client.renew(stolen).summary == "400 refresh_token_reused log in again")
        // The phone logs in again, on the same store.
        _ = try await begin(phone)
        #expect(try await phone.ask("state").word == "signed-in")
    }

    @Test("with a copy of the whole folder the session ends when both go on")
    func folderCopy() async throws {
        let phone = try phone("phone")
        _ = try await begin(phone)
        try FileManager.default.copyItem(atPath: folder.path + "/phone", toPath: folder.path + "/thief")
        let thief = try self.phone("thief")
        // A request of the same second as the last child proves nothing (`stale_request`), so that the thief waits as well.
        var words: [String] = []
        for _ in 0..<12 where words.suffix(3) != ["ended", "ended", "ended"] {
            for _ in 0..<2 {
                try await Task.sleep(for: .milliseconds(1150))
                words.append(try await phone.ask("token", ["need": .string("fresh")]).word)
            }
            try await Task.sleep(for: .milliseconds(1150))
            words.append(try await thief.ask("token", ["need": .string("fresh")]).word)
        }
        #expect(words.suffix(3) == ["ended", "ended", "ended"], "\(words)")
        #expect(try await phone.ask("state").text("reason") == "refresh_token_reused")
        #expect(try await thief.ask("state").text("reason") == "refresh_token_reused")
    }

    @Test("without the key of a bound session a copied record is worth nothing, and the phone goes on")
    func bound() async throws {
        let phone = try phone("phone", renewal: "bound")
        _ = try await begin(phone)
        let (mine, stolen) = (folder.path + "/phone/", folder.path + "/thief/")
        try FileManager.default.createDirectory(atPath: stolen, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: mine + FileStore.fileName, toPath: stolen + FileStore.fileName)
        let thief = try self.phone("thief", renewal: "bound")
        for _ in 0..<3 {
            try await Task.sleep(for: .milliseconds(1150))
            #expect(try await thief.ask("token", ["need": .string("fresh")]).word != "token")
            #expect(try await phone.ask("token", ["need": .string("fresh")]).word == "token")
        }
        #expect(try await phone.ask("state").word == "signed-in")
    }
}
