/// The location of a network address, as far as the database knows it. Names are in the language that was asked for, and English where the
/// database has none.
public struct Location: Hashable, Sendable {
    /// The country by ISO 3166-1: two capital letters.
    public var countryCode: String
    /// The country's name.
    public var countryName: String?
    /// The largest subdivision of the country: a state or a province.
    public var region: String?
    /// The city.
    public var city: String?

    /// Creates a location.
    public init(countryCode: String, countryName: String? = nil, region: String? = nil, city: String? = nil) {
        self.countryCode = countryCode
        self.countryName = countryName
        self.region = region
        self.city = city
    }
}
