import HTTP
import Testing

@testable import Endpoints

/// Names of two scripts that look alike: the id stands beside the name wherever an admin acts.
struct ConsoleNameTests {
    /// A name with a Cyrillic a at its start, which looks like anna.
    private static let lookalike = "\u{430}nna"

    /// The questions of the acts on a page, as HTML.
    private static func questions(_ page: Answer) -> [String] {
        page.text.split(separator: "<details class=\"act").dropFirst().map { part in
            String(part.prefix(upTo: part.firstRange(of: "</form>")?.lowerBound ?? part.endIndex))
        }
    }

    @Test("each act on a user or a session names the id beside the name, and so does each list")
    func idsBesideNames() async throws {
        try await EndpointsFixture.with { server in
            let console = ConsoleBrowser(server)
            try await console.enter()
            let body = #"{"username":"\#(Self.lookalike)","password":"\#(EndpointsFixture.password)"}"#
            let made = await server.admin(.post, "/admin/v1/users", body)
            let other = try #require(made.string("user_id"), "\(made.text)")
            let anna = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
            for (name, id, stranger) in [("anna", anna, other), (Self.lookalike, other, anna)] {
                let session = try Tokens(
                    await server.call(
                        .post, "/v1/login",
                        #"{"username":"\#(name)","password":"\#(EndpointsFixture.password)","device":{"id":"d"}}"#)
                ).sessionID
                let user = await console.get("/console/users/\(id)")
                #expect(
                    user.text.contains("User <strong><bdi>\(name)</bdi></strong> (<code>\(id)</code>)"), "\(user.text)")
                let acts = Self.questions(user)
                #expect(acts.count >= 4, "\(user.text)")
                for act in acts { #expect(act.contains(name) && act.contains("(<code>\(id)</code>)"), "\(act)") }
                #expect(!user.text.contains(stranger))
                let page = await console.get("/console/sessions/\(session)")
                let ends = Self.questions(page)
                #expect(ends.count == 1 && ends.allSatisfy { $0.contains("(<code>\(id)</code>)") }, "\(page.text)")
            }
            let users = await console.get("/console/users?q=nna")
            #expect(users.text.contains(anna) && users.text.contains("(<code>\(other)</code>)"), "\(users.text)")
            let bulk = await console.get("/console/bulk?client=mobile")
            #expect(bulk.text.contains("(<code>\(anna)</code>)") && bulk.text.contains("(<code>\(other)</code>)"))
        }
    }
}
