internal import HTTP
internal import HTTPClient
internal import JSON
public import Sessions
public import Telemetry

/// Tells clients that the logins which they have requested of users have a result (OpenID Connect CIBA section 10.2), each until
/// the client takes it, `BackchannelPing.triesMax` times at most. The row of the login says when the next try is due, so that any
/// node sends it, and the one that takes it alone.
///
/// What a client does not take is no loss: it can ask for the result at any time.
public struct BackchannelNotices: Sendable {
    private static let pageMax = 200

    private let context: ServiceContext
    private let receiver: Receiver
    private let logger: Logger
    private let metrics: NoticeMetrics

    /// Notices that are sent by `run` alone.
    public init(
        context: ServiceContext, logger: Logger, metrics: NoticeMetrics, deadline: Duration = BackchannelPing.deadline
    ) {
        (self.context, self.logger, self.metrics) = (context, logger, metrics)
        var options = HTTPClient.Options(width: 8, waitingMax: Self.pageMax)
        options.deadline = deadline
        receiver = Receiver(client: HTTPClient(options))
    }

    /// Sends notices until the task is cancelled.
    @concurrent public func run() async {
        while !Task.isCancelled {
            await step()
            try? await Task.sleep(for: Delivery.pause)
        }
    }

    /// Sends the notices that are due: those of one client one after the other, because its receiver may be slow, and until one
    /// fails.
    func step() async {
        do throws(StoreError) {
            let due = Dictionary(grouping: try await context.duePings(limit: Self.pageMax), by: \.clientID)
            await withDiscardingTaskGroup { group in
                for (id, notices) in due {
                    group.addTask {
                        for notice in notices where !Task.isCancelled {
                            guard await send(notice.id, of: id) else { return }
                        }
                    }
                }
            }
        } catch {
            logger.warning("pings wait for the database", ["cause": .string("\(error)")])
        }
    }

    /// Sends one notice; false if its receiver did not take it.
    private func send(_ id: Identifier<Session>, of clientID: String) async -> Bool {
        do throws(StoreError) {
            guard let notice = try await context.takePing(id) else { return true }
            guard let cause = await problem(of: notice) else {
                metrics.delivered.increment()
                try await context.endPing(id)
                return true
            }
            let isLast = notice.tries >= BackchannelPing.triesMax
            (isLast ? metrics.lost : metrics.failed).increment()
            logger.warning(
                isLast
                    ? "the client did not accept a ping, which is given up"
                    : "the client did not accept a ping, which is tried again",
                ["client": .string(clientID), "cause": .string(cause), "tries": .int(notice.tries)])
            return false
        } catch {
            logger.warning("pings wait for the database", ["cause": .string("\(error)")])
            return false
        }
    }

    /// Why the receiver did not take the notice; nil if it did.
    private func problem(of notice: BackchannelPing) async -> String? {
        guard let url = OutboundURL(notice.endpoint, plainLoopback: true) else { return "the URL is not allowed" }
        var body = JSONObject()
        body.add("auth_req_id", notice.authRequestID)
        do throws(DeliveryProblem) {
            try await receiver.send(
                OutboundRequest(
                    .post, url,
                    fields: ["Content-Type": "application/json", "Authorization": "Bearer \(notice.token)"],
                    body: body.encoded()))
            return nil
        } catch { return error.cause }
    }
}

/// The counters of the notices to all clients.
public struct NoticeMetrics: Sendable {
    let delivered: Counter
    let failed: Counter
    let lost: Counter

    /// The counters, in `registry`.
    public init(in registry: MetricsRegistry) {
        let outcomes = registry.counters(
            "sojourn_login_pings_total",
            help: "Pings about requested logins that a client took, did not take yet, or never will take.",
            labels: [MetricLabel("outcome", values: ["delivered", "failed", "lost"])])
        (delivered, failed, lost) = (outcomes["delivered"], outcomes["failed"], outcomes["lost"])
    }
}
