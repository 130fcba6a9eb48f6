internal import Cryptography
internal import Federation
internal import HTTPClient
internal import Sessions

/// An entry of `identity_providers`, read member by member. Every problem is one line that names the entry.
struct ProviderEntry {
    private let members: [String: ConfigurationValue]
    private let place: String
    private(set) var problems: [String] = []
    private var asked: Set<String> = []

    /// The providers that the entries are; tells all that is wrong with them.
    static func providers(
        _ entries: [[String: ConfigurationValue]], tell: (String) -> Void
    ) -> [IdentityProvider] {
        var providers: [IdentityProvider] = []
        for (index, members) in entries.enumerated() {
            var entry = ProviderEntry(members: members, place: "identity_providers[\(index)]")
            let provider = entry.provider()
            entry.problems.forEach(tell)
            if providers.contains(where: { $0.name == provider.name }) {
                tell("\(entry.place).name is '\(provider.name)', as that of another provider")
            }
            providers.append(provider)
        }
        return providers
    }

    private init(members: [String: ConfigurationValue], place: String) {
        self.members = members
        self.place = place
    }

    private mutating func provider() -> IdentityProvider {
        let isPlain = flag("allow_http_on_loopback")
        let name = text("name", "1 to 64 lower-case letters, digits and hyphens") { Identity.Key.isValid(provider: $0) }
        let issuer = text("issuer", "the iss of the provider's tokens, an https URL") {
            OutboundURL($0, plainLoopback: isPlain) != nil
        }
        var provider = IdentityProvider(name: name ?? "", issuer: issuer ?? "", audiences: audiences())
        if name == nil { requireMember("name") }
        if issuer == nil { requireMember("issuer") }
        provider.keysURL = url("jwks_uri", isPlain)
        provider.discoveryURL = url("discovery_uri", isPlain)
        if provider.keysURL != nil, provider.discoveryURL != nil {
            problems.append("\(place) has jwks_uri and discovery_uri: leave one out")
        }
        if provider.keysURL == nil, provider.discoveryURL == nil, let issuer {
            let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
            provider.discoveryURL = OutboundURL(
                base + "/.well-known/openid-configuration", plainLoopback: isPlain)
        }
        if let algorithms = algorithms() { provider.algorithms = algorithms }
        if let nonce = word("nonce", as: IdentityProvider.NonceDemand.self) { provider.nonce = nonce }
        if let form = word("nonce_form", as: IdentityProvider.NonceForm.self) { provider.nonceForm = form }
        let ageMax = Int(TokenService.identityTokenAgeMax.wholeSeconds) - 120
        if let age = seconds("token_age_seconds", 30...ageMax) { provider.tokenAge = age }
        if let lifetime = seconds("key_lifetime_seconds", 60...604_800) { provider.keyLifetime = lifetime }
        if let stale = seconds("stale_key_seconds", 0...2_592_000) { provider.staleKeyLifetime = stale }
        provider.authorities = text("ca_file", "a path") { !$0.isEmpty && !$0.utf8.contains(0) }
        provider.linksByProvenEmail = flag("link_by_proven_email")
        readClaims(into: &provider.claims)
        for member in members.keys.filter({ !asked.contains($0) }).sorted() {
            let hint = Spelling.nearest(to: member, among: asked.sorted()).map { "; did you mean \($0)?" } ?? ""
            problems.append("\(place): unknown key \(member)\(hint)")
        }
        return provider
    }

    private mutating func value(_ name: String) -> ConfigurationValue? {
        asked.insert(name)
        return members[name] == .null ? nil : members[name]
    }

    private mutating func refuse(_ name: String, _ expectation: String, _ value: ConfigurationValue) {
        problems.append("\(place).\(name) must be \(expectation), not \(value)")
    }

    private mutating func requireMember(_ name: String) {
        if members[name] == nil || members[name] == .null { problems.append("\(place).\(name) is missing") }
    }

    private mutating func text(_ name: String, _ expectation: String, isValid: (String) -> Bool) -> String? {
        guard let value = value(name) else { return nil }
        if case .string(let text) = value, isValid(text) { return text }
        refuse(name, expectation, value)
        return nil
    }

    private mutating func flag(_ name: String) -> Bool {
        guard let value = value(name) else { return false }
        if case .boolean(let isOn) = value { return isOn }
        refuse(name, "true or false", value)
        return false
    }

    private mutating func url(_ name: String, _ isPlain: Bool) -> OutboundURL? {
        text(name, "an https URL") { OutboundURL($0, plainLoopback: isPlain) != nil }
            .flatMap { OutboundURL($0, plainLoopback: isPlain) }
    }

    private mutating func seconds(_ name: String, _ range: ClosedRange<Int>) -> Duration? {
        guard let value = value(name) else { return nil }
        if case .integer(let number) = value, range.contains(number) { return .seconds(number) }
        refuse(name, "a whole number of seconds from \(range.lowerBound) to \(range.upperBound)", value)
        return nil
    }

    private mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, as: Word.Type
    ) -> Word? {
        let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return text(name, "one of \(words)") { Word(rawValue: $0) != nil }.flatMap(Word.init(rawValue:))
    }

    private mutating func audiences() -> [String] {
        guard let value = value("audiences") else {
            problems.append("\(place).audiences is missing")
            return []
        }
        if case .list(let audiences) = value, !audiences.isEmpty,
            audiences.allSatisfy({ Text.isValid($0, lengthMax: 256) })
        {
            return audiences
        }
        refuse("audiences", "a list of the ids that the apps have at the provider", value)
        return []
    }

    private mutating func algorithms() -> [VerificationAlgorithm]? {
        guard let value = value("algorithms") else { return nil }
        if case .list(let names) = value, !names.isEmpty {
            let algorithms = names.compactMap(VerificationAlgorithm.init(rawValue:))
            if algorithms.count == names.count { return algorithms }
        }
        let known = VerificationAlgorithm.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        refuse("algorithms", "a list of some of \(known)", value)
        return nil
    }

    private mutating func readClaims(into claims: inout IdentityProvider.ClaimNames) {
        guard let value = value("claims") else { return }
        guard case .object(let names) = value else { return refuse("claims", "an object", value) }
        let known: [String: WritableKeyPath<IdentityProvider.ClaimNames, String?>] = [
            "username": \.username, "email": \.email, "phone_number": \.phoneNumber, "display_name": \.displayName,
            "country": \.country,
        ]
        for (member, name) in names.sorted(by: { $0.key < $1.key }) {
            guard let path = known[member] else {
                problems.append("\(place).claims: unknown key \(member)")
                continue
            }
            switch name {
            case .null: claims[keyPath: path] = nil
            case .string(let claim) where Text.isValid(claim, lengthMax: 128): claims[keyPath: path] = claim
            default: refuse("claims.\(member)", "the name of a claim, or null", name)
            }
        }
    }
}

extension ConfigurationKey {
    /// In the file alone: a list of objects does not fit into a variable.
    static let identityProviders = ConfigurationKey(
        path: "identity_providers",
        expectation: "a list of objects with name, issuer and audiences, in the file",
        set: { configuration, value in
            switch value {
            case .null, .list([]), .objects([]): configuration.identityProviders = []
            case .objects(let entries):
                var hasProblem = false
                configuration.identityProviders = ProviderEntry.providers(entries) { _ in hasProblem = true }
                return !hasProblem
            default: return false
            }
            return true
        },
        // A name stands for each: what a provider is does not fit into a value.
        get: { .list($0.identityProviders.map(\.name)) })
}
