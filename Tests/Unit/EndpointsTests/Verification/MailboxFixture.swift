import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// A server that queues mails, and what the mailboxes would get from a sender.
struct MailboxFixture: Sendable {
    let server: EndpointsFixture

    /// Gives `body` a server on which strangers make accounts by the client `mobile`.
    static func with(
        signUp: AccountRules.SignUp = .open, passkeys: PasskeyPolicy? = nil,
        _ edit: (inout AccountRules) -> Void = { _ in }, _ body: (MailboxFixture) async throws -> Void
    ) async throws {
        var rules = AccountRules()
        rules.signUp = signUp
        edit(&rules)
        try await EndpointsFixture.with(passkeys: passkeys, mails: MailWaker(), accounts: rules) { server in
            #expect(await server.admin(.patch, "/admin/v1/clients/mobile", #"{"sign_up":true}"#).status == 200)
            try await body(MailboxFixture(server: server))
        }
    }

    /// Makes the mailbox of anna a verified one.
    func verifyAnna() async throws {
        let answer = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#)
        #expect(answer.status == 200)
    }

    /// A verification as its app sees it.
    struct Asked: Sendable {
        let id: String
        let token: String
        let answer: Answer
    }

    /// Asks for a mail.
    func ask(
        _ purpose: String, _ email: String, more: String = "", address: String = "192.0.2.1", key: String? = nil
    ) async throws -> Asked {
        var fields: Fields = ["Content-Type": "application/json"]
        if let key { fields.append("Idempotency-Key", key) }
        let body = #"{"purpose":"\#(purpose)","email":"\#(email)"\#(more)}"#
        let answer = await server.send(
            Request(.post, "/v1/verifications", fields: fields, body: Array(body.utf8)), address: address)
        #expect(answer.status == 202, "\(answer.text)")
        return Asked(
            id: try #require(answer.string("verification_id")),
            token: try #require(answer.string("verification_token")),
            answer: answer)
    }

    /// Types a code.
    func type(_ code: String, for asked: Asked, token: String? = nil) async -> Answer {
        await server.call(
            .post, "/v1/verifications/\(asked.id)/code", #"{"code":"\#(code)"}"#, bearer: token ?? asked.token)
    }

    /// The row of a verification.
    func row(_ asked: Asked) async throws -> Verification {
        let id = try #require(Identifier<Verification>(asked.id))
        return try #require(
            try await server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.verification(id).value()
            })
    }

    /// The code of the row, whether a mail has it or not.
    func code(_ asked: Asked) async throws -> String {
        try #require(server.context.verificationSecrets.code(of: try await row(asked)))
    }

    /// The token of a link of the row.
    func link(_ link: VerificationSecrets.Link = .prove, _ asked: Asked) async throws -> String {
        try #require(server.context.verificationSecrets.token(link, of: try await row(asked)))
    }

    /// Asks for a mail, and types its code.
    func proven(_ purpose: String, _ email: String, more: String = "") async throws -> Asked {
        let asked = try await ask(purpose, email, more: more)
        let answer = await type(try await code(asked), for: asked)
        #expect(answer.status == 200 && answer.string("state") == "proven", "\(answer.text)")
        return asked
    }

    /// The mails that wait, without those of which nothing is sent.
    func mails() async throws -> [QueuedMail] {
        try await allMails().filter { $0.kind != .none }
    }

    /// Every mail that waits.
    func allMails() async throws -> [QueuedMail] {
        try await server.store.read(.short) { (reader) throws(TransactionError) in
            try reader.mails(dead: false, after: nil, limit: 10_000).value()
        }
    }

    /// Makes an account by a proven mailbox.
    func signUp(
        by asked: Asked, password: String = "battery staple", device: String = "phone-9", more: String = "",
        key: String? = nil
    ) async -> Answer {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await server.call(
            .post, "/v1/sign-up",
            #"{"verification_token":"\#(asked.token)","password":"\#(password)","device":{"id":"\#(device)"}\#(more)}"#,
            fields: fields)
    }

    /// The status of a login by password.
    func logIn(_ name: String, _ password: String, more: String = "") async -> Answer {
        await server.call(
            .post, "/v1/login",
            #"{"username":"\#(name)","password":"\#(password)","device":{"id":"phone-7"}\#(more)}"#)
    }
}
