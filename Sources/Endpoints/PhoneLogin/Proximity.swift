internal import Sessions

/// Where a network address is.
public struct Place: Hashable, Sendable {
    /// City and country, as a page shows them.
    public let name: String
    /// The country by ISO 3166-1: two capital letters.
    public let countryCode: String

    /// A place.
    public init(name: String, countryCode: String) { (self.name, self.countryCode) = (name, countryCode) }
}

/// What a device has to share with the phone that lets it in. A code that travels by eye can be relayed to a phone anywhere; such
/// a rule keeps the phone near, and refuses a phone and a computer of one user that reach the server on different ways.
public enum ProximityRule: String, CaseIterable, Sendable {
    /// Nothing.
    case off
    /// The country of their network addresses. An address without a known country shares it with others without one.
    case country
    /// The network: the IPv4 address, or the leading bits of the IPv6 address.
    case network
}

/// Compares the place of a device with that of the phone that lets it in.
public struct Proximity: Sendable {
    /// What both have to share.
    public var same = ProximityRule.off
    /// The place of a network address, with its name in a language; nil for an unknown one. Without a function no place is known.
    public var place: (@Sendable (_ address: String, _ language: String) -> Place?)?
    /// The leading bits of an IPv6 address that name its network.
    public var ipv6PrefixBits = 64

    /// No rule, and no places.
    public init() {}

    /// Whether the device may be let in from the address of the phone. A login that no device at a distance waits for may always
    /// be: a link leads to the browser of the phone itself, and the address of a backend says nothing of its user.
    func allows(_ login: PhoneLogin, _ arrival: PhoneLogin.Arrival, from phone: String?) -> Bool {
        guard login.isAtADistance, arrival != .linked else { return true }
        return switch (same, login.request.remoteAddress, phone) {
        case (.off, _, _): true
        case (.country, let device, let phone):
            country(of: device) == country(of: phone)
        case (.network, let device?, let phone?):
            CallerNetwork(device, ipv6PrefixBits: ipv6PrefixBits)
                == CallerNetwork(phone, ipv6PrefixBits: ipv6PrefixBits)
        case (.network, _, _): false
        }
    }

    /// Whether the device is known to be in another country than the address of the phone.
    func isAbroad(_ login: PhoneLogin, from phone: String?) -> Bool {
        guard login.isAtADistance, let device = country(of: login.request.remoteAddress), let own = country(of: phone)
        else { return false }
        return device != own
    }

    private func country(of address: String?) -> String? { address.flatMap { place?($0, "en") }?.countryCode }
}

extension PhoneLogin {
    /// Whether the device of the login can be elsewhere than the phone, and its address is known.
    fileprivate var isAtADistance: Bool { kind == .authorize || kind == .device }
}
