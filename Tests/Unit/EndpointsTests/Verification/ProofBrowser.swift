import HTTP
import Locks
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// A browser on the pages on which a mailbox is proven, with the mails that a server would send.
final class ProofBrowser {
    let server: EndpointsFixture
    let browser: Browser
    private(set) var answer: Answer

    init(_ server: EndpointsFixture, _ browser: Browser? = nil) async {
        let own = browser ?? Browser(server)
        (self.server, self.browser) = (server, own)
        answer = await own.get("/assets/")
    }

    /// A server that sends mails, with the client `shop`, which takes sign-ups.
    static func with(
        signUp: AccountRules.SignUp = .open, usernames: AccountRules.Usernames = .mailbox, more: String = "",
        _ body: (EndpointsFixture) async throws -> Void
    ) async throws {
        try await PageLoginFixture.with(#","sign_up":true,"browser_session":"shared"\#(more)"#) { login in
            var rules = AccountRules()
            (rules.signUp, rules.usernames) = (signUp, usernames)
            let server = login.server
            let verified = #"{"email":"anna@example.org","email_verified":true}"#
            #expect(await server.admin(.patch, "/admin/v1/users/username:anna", verified).status == 200)
            try await body(server.over(server.store, mails: MailWaker(), accountRules: rules))
        }
    }

    var text: String { answer.text }
    /// The request of the first form.
    var request: String? { Page.value("r", in: text) }
    /// Where the answer leads.
    var location: String? { answer.field("Location") }

    @discardableResult func open(_ path: String) async -> ProofBrowser {
        answer = await browser.get(path)
        return self
    }

    /// Follows redirects on this server.
    @discardableResult func follow() async -> ProofBrowser {
        for _ in 1...4 {
            guard let location, location.hasPrefix(EndpointsFixture.issuer) else { break }
            answer = await browser.get(location)
        }
        return self
    }

    /// Opens an authorization request of the client.
    @discardableResult func authorize(_ changes: [String: String?] = [:]) async -> ProofBrowser {
        await open(PageLoginFixture.url(changes)).follow()
    }

    /// Opens a link of the page, such as that to `/forgot`.
    @discardableResult func press(linkTo path: String) async throws -> ProofBrowser {
        let start = try #require(text.firstRange(of: "href=\"\(path)?"), "\(text)").upperBound
        return await open("\(path)?" + text[start...].prefix { $0 != "\"" })
    }

    /// Sends the form of the page that goes to `path`.
    @discardableResult func send(_ path: String, _ fields: [String: String]) async throws -> ProofBrowser {
        let start = try #require(text.firstRange(of: "action=\"\(path)\""), "\(text)").upperBound
        let form = String(text[start...].prefix(upTo: text[start...].firstRange(of: "</form>")?.lowerBound ?? start))
        var sent = fields
        let csrf: String = try #require(Page.value("csrf", in: form))
        sent["csrf"] = csrf
        sent["r"] = sent["r"] ?? Page.value("r", in: form)
        answer = await browser.post(path, sent)
        return self
    }

    /// The verification of the page.
    func verification() async throws -> Verification {
        let sealed = try #require(request)
        let carried = try #require(server.context.requests.openVerification(sealed))
        let id = try #require(Identifier<Verification>(carried.id))
        return try await Self.verification(id, server)
    }

    static func verification(_ id: Identifier<Verification>, _ server: EndpointsFixture) async throws -> Verification {
        let found = try await server.store.read(.short) { (reader) throws(TransactionError) in
            try reader.verification(id).value()
        }
        return try #require(found)
    }

    /// The code of the mail.
    func code() async throws -> String {
        let row = try await verification()
        let code = try #require(server.context.verificationSecrets.code(of: row))
        server.environment.secrets.withLock { _ = $0.insert(code) }
        return code
    }

    /// The token of a link of the mail.
    func token(_ link: VerificationSecrets.Link) async throws -> String {
        let row = try await verification()
        let token = try #require(server.context.verificationSecrets.token(link, of: row))
        server.environment.secrets.withLock { _ = $0.insert(token) }
        return token
    }

    /// A code that is not that of the mail.
    func wrongCode() async throws -> String { try await code() == "00000000" ? "00000001" : "00000000" }

    /// Asks for a mail from a page, up to the page for the code.
    @discardableResult func ask(_ path: String, _ email: String) async throws -> ProofBrowser {
        try await send(path, ["email": email])
        return await follow()
    }
}
