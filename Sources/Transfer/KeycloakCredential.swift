internal import FoundationEssentials

/// A password in the form of a Keycloak export, among the `credentials` of a user: two texts of JSON.
struct KeycloakCredential: Decodable {
    private let secretData: String
    private let credentialData: String

    private struct Secret: Decodable {
        let value: String
        let salt: String
    }

    private struct Parameters: Decodable {
        let hashIterations: Int
        let algorithm: String
    }

    /// The hash as a PHC string.
    func passwordHash() throws(LineProblem) -> String {
        guard let secret = try? JSONDecoder().decode(Secret.self, from: Data(secretData.utf8)),
            let parameters = try? JSONDecoder().decode(Parameters.self, from: Data(credentialData.utf8))
        else { throw LineProblem("'keycloak_credential' has no secretData and credentialData of a password") }
        guard ["pbkdf2-sha256", "pbkdf2-sha512"].contains(parameters.algorithm) else {
            throw LineProblem(
                "'\(parameters.algorithm)' in 'keycloak_credential' cannot be verified here: leave the password out, and let "
                    + "the user reset it")
        }
        func base64(_ text: String) -> String { text.filter { $0 != "=" } }
        return "$\(parameters.algorithm)$i=\(parameters.hashIterations)$\(base64(secret.salt))$\(base64(secret.value))"
    }
}
