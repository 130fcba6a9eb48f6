internal import Endpoints
internal import Glibc
internal import HTTPServer
internal import Locks
internal import Sessions
internal import TLS
internal import Telemetry

/// Keeps the certificate of one listener up to date while the server runs. New files make a new context for new connections;
/// existing connections keep theirs. Unusable files are logged, and the old certificate remains in use.
///
/// The reloader compares the contents of the files and not their times. So it notices a certificate that is replaced by a
/// link (as Kubernetes does), a copy or a move, and does not load a file again of which only the time changed.
final class CertificateReloader: Sendable {
    /// The time between two reads of the files, which are small.
    static let period = Duration.seconds(5)
    /// The days before the end of the certificate in which the log warns, and the time between two warnings.
    static let warningDays = MachineState.certificateDays
    static let warningInterval = Duration.seconds(86_400)

    private struct State {
        var loaded: TLSCredentials.PEM
        /// The unusable files of the last read.
        var refused: Refusal?
        var warnedAt: Instant?
        var rotatedAt: Instant
    }

    private struct Refusal: Equatable {
        var pem: TLSCredentials.PEM?
        var problem: CertificateProblem
        var isLogged = false
    }

    /// The current context, which the listener gives to new connections.
    let holder: TLSContextHolder
    let files: CertificateFiles
    private let ticketKeys = TicketKeys()
    private let clock: WallClock
    private let logger: Logger
    private let state: Locked<State>

    /// Loads the files for the first time. Every problem of the files prevents the start.
    init(_ files: CertificateFiles, clock: WallClock, logger: Logger) throws(CertificateProblem) {
        self.files = files
        self.clock = clock
        self.logger = logger
        let pem = try files.read()
        let context = try Self.context(files, pem, ticketKeys, clock)
        holder = TLSContextHolder(context)
        state = Locked(State(loaded: pem, rotatedAt: clock.now))
        log(context)
        warnIfDue()
    }

    /// The end of the certificate, in seconds since 1970.
    var notAfter: Int64 { holder.current.certificate.notAfter }

    /// Reads the files regularly until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.period)
            if Task.isCancelled { return }
            tick()
        }
    }

    /// Reads the files once, warns, and rotates the ticket keys when they are due.
    func tick() {
        look()
        warnIfDue()
        let isDue = state.withLock { state in
            guard clock.now >= state.rotatedAt + .seconds(TicketKeys.lifetime) else { return false }
            state.rotatedAt = clock.now
            return true
        }
        if isDue { ticketKeys.rotate() }
    }

    /// Loads the files, even if they have not changed, and logs the result: for SIGHUP.
    func reload() {
        do throws(CertificateProblem) {
            try use(files.read())
        } catch { refuse(error) }
    }

    // MARK: Loading

    private func look() {
        let pem: TLSCredentials.PEM
        do throws(CertificateProblem) {
            pem = try files.read()
        } catch {
            refuseTwice(nil, error)
            return
        }
        if pem == state.withLock({ $0.loaded }) {
            state.withLock { $0.refused = nil }
            return
        }
        do throws(CertificateProblem) {
            try use(pem)
        } catch { refuseTwice(pem, error) }
    }

    private func use(_ pem: TLSCredentials.PEM) throws(CertificateProblem) {
        let context = try Self.context(files, pem, ticketKeys, clock)
        holder.replace(with: context)
        state.withLock { state in
            state.loaded = pem
            state.refused = nil
            state.warnedAt = nil
        }
        log(context)
        warnIfDue()
    }

    /// Logs a problem once, and only if the next read finds it again. Certificate and key are two files, and the reloader may
    /// read them while only one of them is new.
    private func refuseTwice(_ pem: TLSCredentials.PEM?, _ problem: CertificateProblem) {
        let isDue = state.withLock { state in
            let new = Refusal(pem: pem, problem: problem)
            guard var old = state.refused, old.pem == new.pem, old.problem == new.problem else {
                state.refused = new
                return false
            }
            defer { state.refused = old }
            if old.isLogged { return false }
            old.isLogged = true
            return true
        }
        if isDue { refuse(problem) }
    }

    private func refuse(_ problem: CertificateProblem) {
        logger.error(
            "the new certificate cannot be used, the old one stays",
            ["listener": .string(files.listener), "cause": .string(problem.description)])
    }

    private static func context(
        _ files: CertificateFiles, _ pem: TLSCredentials.PEM, _ keys: TicketKeys, _ clock: WallClock
    ) throws(CertificateProblem) -> TLSContext {
        let credentials = try files.credentials(pem, now: clock.now.secondsSinceEpoch)
        do throws(TLSError) {
            return try TLSContext(credentials, ticketKeys: keys)
        } catch { throw CertificateProblem(files, error) }
    }

    // MARK: Logging

    private func log(_ context: TLSContext) {
        let certificate = context.certificate
        logger.notice(
            "certificate loaded",
            [
                "listener": .string(files.listener), "subject": .string(certificate.subject),
                "names": .string(certificate.names.joined(separator: " ")),
                "not_after": .string(certificate.notAfterText),
            ])
    }

    private func warnIfDue() {
        let certificate = holder.current.certificate
        let now = clock.now
        let days = certificate.daysLeft(at: now.secondsSinceEpoch)
        guard days <= Self.warningDays else { return }
        let isDue = state.withLock { state in
            if let warnedAt = state.warnedAt, now < warnedAt + Self.warningInterval { return false }
            state.warnedAt = now
            return true
        }
        guard isDue else { return }
        logger.warning(
            days < 0 ? "the certificate has expired: renew it now" : "the certificate expires soon: renew it",
            [
                "listener": .string(files.listener), "file": .string(files.path(of: .certificate)),
                "days_left": .int(Int(days)), "not_after": .string(certificate.notAfterText),
            ])
    }
}

extension Telemetry.MetricsRegistry {
    /// Shows the end of each listener's certificate, and the handshakes by outcome.
    func showCertificates(_ reloaders: [CertificateReloader], _ engine: HTTPServer) {
        if reloaders.isEmpty { return }
        showTLS(engine) { reloaders.map { ($0.files.listener, Double($0.notAfter)) } }
    }

    /// Shows the handshakes of an engine, and the end of each listener's certificate, as `readExpiries` returns it.
    func showTLS(
        _ engine: HTTPServer, expiries readExpiries: @escaping @Sendable () -> [(labelValue: String, value: Double)]
    ) {
        gauges(
            "sojourn_tls_certificate_expiry_seconds", help: "When the certificate ends, in seconds since 1970.",
            label: "listener", reading: readExpiries)
        counters(
            "sojourn_tls_handshakes_total", help: "Handshakes, by outcome.", label: "outcome"
        ) { [weak engine] in
            guard let statistics = engine?.statistics else { return [] }
            return [
                ("full", statistics.handshakes - statistics.resumedHandshakes),
                ("resumed", statistics.resumedHandshakes), ("failed", statistics.handshakeFailures),
            ]
        }
    }
}
