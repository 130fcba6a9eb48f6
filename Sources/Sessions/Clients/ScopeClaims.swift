internal import JSON

/// Which claims of a user (`UserClaims`) each scope of a client brings into ID tokens and userinfo, beside those that OpenID
/// Connect has for it (Core section 5.4).
public struct ScopeClaims: Hashable, Sendable, CustomStringConvertible {
    /// The largest size of the JSON text in bytes.
    public static let byteCountMax = 1024
    /// What a client begins with: the scopes `groups` and `roles` bring the claim of their name.
    public static let preset = ScopeClaims(stored: ["groups": ["groups"], "roles": ["roles"]])
    /// The names of claims that ID tokens and userinfo have from the profile.
    static let profileNames: Set<String> = [
        "email", "email_verified", "name", "given_name", "family_name", "preferred_username", "phone_number",
    ]

    /// The names of the claims by scope, each list sorted.
    public let names: [String: [String]]

    private init(stored names: [String: [String]]) { self.names = names }

    /// The reason for which an object cannot be the claims of scopes.
    public struct Problem: Error, Hashable, Sendable {
        /// The sentence without its subject, which is the name of the member.
        public let detail: String
    }

    /// Creates the claims that `names` lists by scope.
    public init(_ names: [String: [String]]) throws(Problem) {
        guard names.keys.allSatisfy({ Scope($0)?.tokens == [$0] }) else {
            throw Problem(detail: "must have scope tokens as names of its members")
        }
        let claims = names.values.joined()
        if let name = claims.filter(UserClaims.reservedNames.union(Self.profileNames).contains).min() {
            throw Problem(detail: "must not name the claim \(name), which tokens have for something else")
        }
        guard claims.allSatisfy({ Text.isValid($0, lengthMax: UserClaims.nameLengthMax) }) else {
            throw Problem(
                detail:
                    "must name claims by 1 to \(UserClaims.nameLengthMax) bytes without control characters")
        }
        self.names = names.mapValues { Set($0).sorted() }
        guard text.utf8.count <= Self.byteCountMax else {
            throw Problem(detail: "must have at most \(Self.byteCountMax) bytes")
        }
    }

    /// Reads the JSON text; nil if it is not that of such claims.
    public init?(text: String) {
        guard let members = try? StrictJSON.object(Array(text.utf8)) else { return nil }
        do throws(Problem) {
            try self.init(members.mapValues { $0.elements.compactMap(\.string) })
        } catch { return nil }
    }

    /// The JSON text, with members in the order of their names.
    public var text: String { JSONText.compact(names).map { String(decoding: $0, as: UTF8.self) } ?? "{}" }

    /// The JSON text, because a dictionary has its members in any order.
    public var description: String { text }

    /// The members of the claims of `user` that `scope` brings, as JSON without the braces; empty for none.
    func members(of user: User, in scope: Scope) -> Substring {
        guard let claims = user.claims else { return "" }
        let wanted = Set(scope.tokens.compactMap { names[$0] }.joined())
        if wanted.isEmpty { return "" }
        let brought = claims.values.filter { wanted.contains($0.key) }
        return brought.isEmpty ? "" : UserClaims(stored: JSONValue.object(brought).compactText ?? "{}").members
    }
}
