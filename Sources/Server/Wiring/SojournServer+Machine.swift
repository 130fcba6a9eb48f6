internal import Configuration
internal import Endpoints

extension SojournServer {
    /// What the console says about this machine, read anew for each page.
    func machineState(
        _ reloaders: [CertificateReloader], _ geoDatabase: GeoDatabaseFile?, _ clocks: ClockComparison?
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
        return state
    }
}
