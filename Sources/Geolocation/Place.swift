/// Where a network address is, as far as a database of such places knows it. Names are English.
public struct Place: Hashable, Sendable {
    /// The country, as ISO 3166-1 has it: two capital letters.
    public var countryCode: String
    /// The country's name.
    public var countryName: String?
    /// The largest part of the country: a state, a land, a province.
    public var region: String?
    /// The city.
    public var city: String?

    /// A place.
    public init(countryCode: String, countryName: String? = nil, region: String? = nil, city: String? = nil) {
        self.countryCode = countryCode
        self.countryName = countryName
        self.region = region
        self.city = city
    }
}
