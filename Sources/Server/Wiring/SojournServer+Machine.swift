internal import Configuration
internal import Endpoints
internal import Deliveries
internal import Sessions

extension SojournServer {
    /// What the console says about this machine, read anew for each page.
    func machineState(
        _ application: Application, _ reloaders: [CertificateReloader], _ geoDatabase: GeoDatabaseFile?,
        _ clocks: ClockComparison?
    ) -> MachineState {
        var state = MachineState()
        state.certificates = {
            reloaders.map { MachineState.Certificate(listener: $0.files.listener, notAfter: $0.notAfter) }
        }
        state.geoDatabaseBuiltAt = { geoDatabase?.builtAt }
        if configuration.database.isFile {
            state.freeMebibytes = { [folder = configuration.database.folder] in DiskRoom.freeMebibytes(in: folder) }
        }
        state.clockLead = { clocks?.excessiveLead.map { $0 / .seconds(1) } }
        state.isClockOutvoted = { clocks?.isOutvoted ?? false }
        let clock = application.context.clock
        state.testWebhook = { [webhooks = configuration.webhooks, environment] name in
            guard let webhook = webhooks.first(where: { $0.name == name }),
                let target = try? webhook.target(environment)
            else { return nil }
            return WebhookTest(
                await WebhookProbe.send(to: target, clock: clock, random: environment.random))
        }
        return state
    }
}

extension WebhookTest {
    fileprivate init(_ probe: WebhookProbe) {
        self.init(
            id: probe.id, isTaken: probe.outcome.isTaken, milliseconds: Int(probe.duration / .milliseconds(1)))
        switch probe.outcome {
        case .answered(let status, let content): (self.status, self.content) = (status, content)
        case .failed(let word): failure = word
        }
    }
}
