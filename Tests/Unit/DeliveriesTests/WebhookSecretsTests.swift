import Testing

@testable import Deliveries

/// The secrets of webhooks, and the signatures that they make.
@Suite struct WebhookSecretsTests {
    private static let (first, second) = (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    )

    @Test(arguments: [
        ("\(first)\n", 1), ("\(first)\n\(second)\n", 2), ("\(first),\(second)", 2), ("\(first) \(second) \(first)", 0),
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 0), ("whsec_", 0), ("whsec_c2hvcnQ=", 0), ("whsec_ä", 0), ("", 0),
        ("\(first)\nwhsec_c2hvcnQ=", 0),
    ])
    func secrets_areOneOrTwo(_ text: String, _ count: Int) {
        #expect((WebhookSecrets.parse(text)?.count ?? 0) == count)
    }

    @Test func theSignatureIsThatOfTheExampleOfStandardWebhooks_andOneForEachSecret() throws {
        let secrets = try #require(WebhookSecrets.parse(Self.first + "," + Self.second))
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let sign = { WebhookSecrets.signature("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body, secrets: $0) }
        let example = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(sign([secrets[0]]) == example)
        #expect(sign(secrets) == example + " " + sign([secrets[1]]) && sign([secrets[1]]) != example)
    }
}
