internal import Console
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// What happens at present.
extension Endpoints {
    /// `GET /console/now?live=1`: figures of this node, and the newest events of all.
    func showConsoleNow(_ call: Call) async throws -> Response {
        try await console(call) { stay in
            let overview = try await services.administration.now(limit: ConsoleView.newestMax)
            return view(stay)
                .now(
                    metrics.history.last(60), running: metrics.history.running, overview.trail,
                    attention(overview.deliveries), signingKeys: services.administration.signingKeys().count,
                    isLive: stay.call.isOfLivePage
                ).response()
        }
    }

    /// What needs attention, as far as `GET /metrics` and `sojourn doctor` know it of a running server. It commits nothing itself,
    /// because an open page asks every few seconds.
    private func attention(_ deliveries: DeliveriesOverview) -> ConsoleView.Attention {
        var attention = ConsoleView.Attention(
            deliveries)
        let seconds = context.clock.now.secondsSinceEpoch
        attention.canCommit = metrics.history.canCommit
        attention.keyOverdueSince = context.signingKeys.overdueSince(at: context.clock.now)
        attention.isClockInDoubt =
            context.clockGuard.map { $0.reading.earliest < $0.reading.now } ?? false
        attention.scarceMebibytes = machine.freeMebibytes().flatMap {
            $0 < MachineState.scarceMebibytes ? $0 : nil
        }
        attention.clockLead = machine.clockLead()
        attention.endingCertificates = machine.certificates().filter {
            $0.notAfter - seconds <= MachineState.certificateDays * 86_400
        }.map { ($0.listener, $0.notAfter) }
        attention.geoDatabaseDays = machine.geoDatabaseBuiltAt().flatMap { builtAt in
            let days = (seconds - builtAt) / 86_400
            return days > MachineState.geoDatabaseDays ? days : nil
        }
        return attention
    }
}

extension Call {
    /// Whether the page of the answer loads itself again and again. Such a request does not count as use, because it would keep an
    /// abandoned browser signed in.
    var isOfLivePage: Bool {
        request.target.path == PagePath.consoleNow.text
            && AuthorizationParameters((try? request.queryItems()) ?? [])["live"] == "1"
    }
}
