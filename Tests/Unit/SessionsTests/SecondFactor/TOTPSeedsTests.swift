import Cryptography
import Testing

@testable import Sessions

/// Seeds are worth nothing without the root key, and follow its replacement.
struct TOTPSeedsTests {
    private static func keys(_ secrets: SecretKey...) throws -> RootKeys { try #require(RootKeys(secrets)) }

    private static func factor(_ seeds: TOTPSeeds, _ seed: [UInt8]) -> TOTPFactor {
        let (id, user) = (Identifier<TOTPFactor>(random: .system), Identifier<User>(random: .system))
        return TOTPFactor(
            id: id, userID: user, name: "Phone", sealedSeed: seeds.seal(seed, of: id, user), createdAt: Sample.start)
    }

    @Test("A seed opens under its root key, in its own row alone")
    func ownRow() throws {
        let seeds = TOTPSeeds(rootKeys: try Self.keys(.random()), random: .system)
        let (factor, other) = (Self.factor(seeds, [1, 2, 3]), Self.factor(seeds, [4]))
        var moved = other
        moved.sealedSeed = factor.sealedSeed

        #expect(seeds.open(factor) == [1, 2, 3])
        #expect(seeds.open(moved) == nil)
        let stranger = TOTPSeeds(rootKeys: try Self.keys(.random()), random: .system)
        #expect(stranger.open(factor) == nil)
    }

    @Test("After a replacement of the root key a seed is sealed again, once, and opens without the older key")
    func replacement() throws {
        let (old, new) = (SecretKey.random(), SecretKey.random())
        let before = TOTPSeeds(rootKeys: try Self.keys(old), random: .system)
        let during = TOTPSeeds(rootKeys: try Self.keys(new, old), random: .system)
        let after = TOTPSeeds(rootKeys: try Self.keys(new), random: .system)
        let factor = Self.factor(before, [7])

        #expect(!before.hasOlderKeys && during.hasOlderKeys)
        let resealed = try #require(during.resealed(factor))
        #expect(after.open(factor) == nil)
        #expect(after.open(resealed) == [7])
        #expect(during.resealed(resealed) == nil)
    }
}
