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
        let bytes: [UInt8]
        do throws(PrivateFile.ReadFailure<Never>) { bytes = try PrivateFile.read(path, limit: 4096) { _ in } } catch {
            switch error {
            case .system(let failure): throw .clientSecret("\(place): \(failure.description)")
            }
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard lines.count == 1, let secret = lines.first else {
            throw .clientSecret("\(place) must hold one line: the secret")
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
