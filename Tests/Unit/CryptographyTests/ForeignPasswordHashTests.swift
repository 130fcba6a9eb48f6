import Testing

@testable import Cryptography

@Suite struct ForeignPasswordHashTests {
    /// The vectors of crypt_blowfish (openwall.com/crypt), of which other implementations test themselves.
    @Test(
        arguments: [
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", Array("U*U".utf8)),
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", Array("U*U*".utf8)),
            ("$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a", Array("U*U*U".utf8)),
            (
                "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui",
                Array(
                    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored"
                        .utf8)
            ),
            ("$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e", [0xFF, 0xFF, 0xA3]),
            ("$2b$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e", [0xFF, 0xFF, 0xA3]),
            ("$2a$05$/OK.fbVrR/bpIqNJ5ianF.nqd1wy.pTMdcvrRWxyiGL2eMz.2a85.", [0xFF, 0xFF, 0xA3]),
            ("$2y$05$/OK.fbVrR/bpIqNJ5ianF.Sa7shbm4.OzKpvFnX1pQLmQW96oUlCq", [0xA3]),
        ] as [(String, [UInt8])])
    func bcrypt(_ text: String, _ password: [UInt8]) throws {
        let hash = try #require(ForeignPasswordHash(text))
        #expect(try hash.verify(password))
        #expect(try !hash.verify([0x41] + password.dropFirst()))
        #expect(try !hash.verify([]))
    }

    /// passlib's own test, and Python's hashlib for the others.
    @Test(arguments: [
        (
            "$pbkdf2-sha256$1212$4vjV83LKPjQzk31VI4E0Vw$hsYF68OiOUPdDZ1Fg.fJPeq1h/gXXY7acBp9/6c.tmQ", "password"
        ),
        ("pbkdf2_sha256$1000$seasalt$JgZryXe2Ga8ysg6XbzkLpTdyPQrHqsinbL9BnnhgX4A=", "lètmein"),
        (
            "$pbkdf2-sha512$i=2000,l=64$AAECAwQFBgcICQoLDA0ODw$"
                + "/79PWTBBKZlEqB7gm343w+nuu0OlB2+8QuQeBvrv1K1ZILWti8n9JMAMiGE9iLU+X/2n6XstsPhr2NrzjFAUlA",
            "correct horse"
        ),
        (
            "$pbkdf2-sha256$i=2000$AAECAwQFBgcICQoLDA0ODw$"
                + "g23pczKX3v535mMMYN4b8rWIeFGTb1TJLUgLxOfxHFs/9Gspe3tOhSP9waU7CiLx7n2DyQD/ZRV8WdhTK5Fo7g",
            "correct horse"
        ),
    ])
    func pbkdf2(_ text: String, _ password: String) throws {
        let hash = try #require(ForeignPasswordHash(text))
        #expect(try hash.verify(Array(password.utf8)))
        #expect(try !hash.verify(Array((password + "x").utf8)))
    }

    @Test func pbkdf2AsRFC7914() throws {
        let hash = try #require(
            Hex.decode(
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
            ))
        let text = Base64URL.encode(hash).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        let vector = try #require(ForeignPasswordHash("$pbkdf2-sha256$i=1$c2FsdA$" + String(text)))
        #expect(try vector.verify(Array("passwd".utf8)))
        #expect(try !vector.verify(Array("passwd\0".utf8)))
    }

    @Test(arguments: [
        "", "$", "password", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe",
        "$2x$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e",
        "$2a$17$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2a$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2a$+5$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe$",
        "$pbkdf2-sha256$i=0$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$pbkdf2-sha256$i=$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$pbkdf2-sha256$i=9000000$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$pbkdf2-sha256$i=10$c2FsdA$AAAAAAAAAAAA",
        "$pbkdf2-sha256$i=10$$AAAAAAAAAAAAAAAAAAAAAA", "$pbkdf2-sha1$i=10$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$pbkdf2-sha256$i=10,x=3$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$pbkdf2-sha256$i=10$c2F=dA$AAAAAAAAAAAAAAAAAAAAAA",
        "pbkdf2_sha256$10$$AAAAAAAAAAAAAAAAAAAAAA==", "pbkdf2_sha256$-1$s$AAAAAAAAAAAAAAAAAAAAAA==",
        "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$scrypt$ln=4,r=1,p=1$c2FsdHNhbHQ$AAAA",
    ])
    func whatIsNone_isNone(_ text: String) { #expect(ForeignPasswordHash(text) == nil) }

    @Test func aHashThatTakesSeconds_isRefusedOnlyBeyondTheBound() {
        #expect(ForeignPasswordHash("$2a$16$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW") != nil)
        #expect(ForeignPasswordHash("$pbkdf2-sha256$i=8000000$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA") != nil)
    }
}
