import TLS
import TLSFixture
import Testing

/// What PEM files can hold, and what is wrong with it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSCredentialsTests {
    private let files = Certificates.shared
    private var now: Int64 { files.now }

    private func error(_ pem: TLSCredentials.PEM, now: Int64? = nil) -> TLSError? {
        do throws(TLSError) {
            _ = try TLSCredentials(pem, now: now ?? self.now)
            return nil
        } catch { return error }
    }

    @Test func aCertificateIsSummarised() throws {
        let certificate = try TLSCredentials(files.pem("p256"), now: now).certificate
        #expect(certificate.subject == "CN=p256")
        #expect(certificate.names == ["localhost", "login.example", "127.0.0.1"])
        #expect(certificate.notAfter - certificate.notBefore == 90 * 86_400)
        #expect(certificate.sha256.count == 32)
        #expect(certificate.daysLeft(at: certificate.notAfter) == 0)
        #expect(certificate.daysLeft(at: certificate.notAfter - 86_400) == 1)
        #expect(certificate.daysLeft(at: certificate.notAfter - 86_399) == 0)
        #expect(certificate.daysLeft(at: certificate.notAfter + 1) == -1)
    }

    @Test func aCertificateIsGoodFromItsFirstSecondToItsLast() throws {
        let pem = files.pem("p256")
        let certificate = try TLSCredentials(pem, now: now).certificate
        #expect(error(pem, now: certificate.notBefore - 1) == .notYetValid(notBefore: certificate.notBefore))
        #expect(error(pem, now: certificate.notBefore) == nil)
        #expect(error(pem, now: certificate.notAfter) == nil)
        #expect(error(pem, now: certificate.notAfter + 1) == .expired(notAfter: certificate.notAfter))
    }

    @Test func whatIsNoPEMIsRefused() {
        var pem = files.pem("p256")
        pem.certificate = files.bytes("not.pem")
        #expect(error(pem) == .notPEM(.certificate))
        pem.certificate = pem.key
        #expect(error(pem) == .notPEM(.certificate))
        pem = files.pem("p256")
        pem.key = pem.certificate
        #expect(error(pem) == .notPEM(.key))
        pem.key = []
        #expect(error(pem) == .notPEM(.key))
        pem = files.pem("p256")
        pem.clientAuthority = files.bytes("not.pem")
        #expect(error(pem) == .notPEM(.clientAuthority))
    }

    @Test func brokenPEMIsRefused() throws {
        var pem = files.pem("p256")
        pem.certificate[100] = pem.certificate[100] == 0x41 ? 0x42 : 0x41
        pem.certificate.removeLast(60)
        #expect(try #require(error(pem)).file == .certificate)
        pem = files.pem("p256")
        pem.key.removeSubrange(60..<70)
        #expect(try #require(error(pem)).file == .key)
    }

    @Test func aKeyOfAnotherCertificateIsRefused() {
        var pem = files.pem("p256")
        pem.key = files.pem("next").key
        #expect(error(pem) == .keyDoesNotMatch)
        pem.key = files.pem("rsa").key
        #expect(error(pem) == .keyDoesNotMatch)
    }

    @Test func anEncryptedKeyIsRefusedWithoutAPrompt() {
        var pem = files.pem("p256")
        pem.key = files.bytes("encrypted.key")
        #expect(error(pem) == .encryptedKey)
    }

    @Test func aWeakKeyIsRefused() {
        #expect(error(files.pem("weak")) == .weakKey("RSA, 1024 bits"))
    }

    @Test func everyErrorIsASentence() {
        for error in [
            .unreadable(.key, "No such file or directory"), .notPEM(.key), .notPEM(.certificate), .encryptedKey,
            .keyDoesNotMatch, .expired(notAfter: 0), .notYetValid(notBefore: 0), .weakKey("RSA, 1024 bits"),
            .unusable(.certificate, "bad"), .libraryRefuses("X25519"),
        ] as [TLSError] {
            #expect(error.description.count > 15)
            #expect(!error.description.contains("\n"))
        }
        #expect("\(TLSError.expired(notAfter: 1_800_000_000))" == "expired at 2027-01-15T08:00:00Z; renew it")
    }
}
