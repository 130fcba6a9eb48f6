import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A row of a table: what a clause demands of the answer to a request. In texts, `{name}` stands for what the scene has
/// under that name.
struct Demand: Sendable, CustomTestStringConvertible {
    let clause: String
    let says: String
    let request: Sent
    let status: Int
    /// The `error` of an OAuth answer, the `code` of a problem.
    var error: String?
    /// Fields of the answer: all of each name, in their order, as they have to stand; nil: not there.
    var fields: [(name: StaticString, value: String?)] = []
    /// Members that have to be there, with that value if one is given: a string, or how `Answer.text(at:)` writes it. A dot leads
    /// into an object.
    var members: [String: String?] = [:]
    /// Members that must not be there.
    var without: Set<String> = []

    init(
        _ clause: String, _ says: String, _ request: Sent, _ status: Int, _ error: String? = nil,
        fields: [(name: StaticString, value: String?)] = [], members: [String: String?] = [:], without: Set<String> = []
    ) {
        self.clause = clause
        self.says = says
        self.request = request
        self.status = status
        self.error = error
        self.fields = fields
        self.members = members
        self.without = without
    }

    var testDescription: String { "\(clause): \(says)" }

    /// Plays the row on a server of its own, which asks for such proofs of possession. With `device`, the scene has sessions that are
    /// bound to its key, too.
    func check(proofs: DPoPPolicy = DPoPPolicy(), boundTo device: ProvingDevice? = nil) async throws {
        try await EndpointsFixture.with(proofs: proofs) { server in
            var scene = try await Scene(server)
            if let device { try await scene.bind(to: device) }
            let answer = await scene.send(request)
            #expect(answer.status == status, "\(testDescription): \(answer.text)")
            if let error {
                #expect(answer.string("error") ?? answer.string("code") == error, "\(testDescription)")
                let isOAuth = answer.names.contains("error")
                #expect(answer.field("Content-Type") == (isOAuth ? "application/json" : "application/problem+json"))
            } else {
                #expect(!answer.names.contains("error"), "\(testDescription): \(answer.text)")
            }
            for (name, _) in fields {
                let demanded = fields.filter { $0.name.description == name.description }
                    .compactMap { $0.value.map(scene.filled) }
                #expect(answer.response.fields.values(name) == demanded, "\(testDescription): \(name)")
            }
            for (name, value) in members {
                let found = answer.text(at: name)
                #expect(found != nil, "\(testDescription): \(name) in \(answer.text)")
                if let value { #expect(found == scene.filled(value), "\(testDescription): \(name)") }
            }
            #expect(answer.names.isDisjoint(with: without), "\(testDescription): \(answer.text)")
        }
    }
}
