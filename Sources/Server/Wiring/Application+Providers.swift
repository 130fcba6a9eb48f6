internal import Configuration
internal import Federation
internal import Sessions
internal import Telemetry

extension Application {
    /// The identity providers of the configuration, with the client secret of each that has rechecks or redirects.
    static func makeProviders(
        _ configuration: ServerConfiguration, _ environment: Environment
    ) throws(StartError) -> [IdentityProvider] {
        var providers = configuration.identityProviders
        for index in providers.indices where providers[index].recheck != nil || providers[index].redirect != nil {
            let secret = try clientSecret(of: providers[index], environment)
            providers[index].recheck?.clientSecret = secret
            providers[index].redirect?.clientSecret = secret
        }
        return providers
    }

    private static func clientSecret(
        of provider: IdentityProvider, _ environment: Environment
    ) throws(StartError) -> String? {
        if let secret = environment.clientSecretVariables[provider.secretVariable] { return secret }
        guard let path = provider.recheck?.clientSecretFile ?? provider.redirect?.clientSecretFile else { return nil }
        let place = "identity_providers: client_secret_file \(path)"
        return try secretLine(path, of: place) { .clientSecret($0) }
    }

    /// The one line of a file with a secret.
    static func secretLine(
        _ path: String, of place: String, failure: (String) -> StartError
    ) throws(StartError) -> String {
        let text: String
        do throws(PrivateFile.Failure) { text = try PrivateFile.text(path) } catch {
            throw failure("\(place): \(error.description)")
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, let secret = lines.first else {
            throw failure("\(place) must hold one line: the secret")
        }
        return String(secret)
    }

    /// The rechecks of all providers that have them.
    func rechecks(_ logger: Logger) -> [Rechecks] {
        guard let identityProviders else { return [] }
        return Rechecks.all(
            providers, of: identityProviders, checks: ProviderCheckService(context), clock: context.clock,
            metrics: metrics, logger: logger)
    }
}
