internal import Synchronization

/// Records that a request's task was cancelled, because its answer took too long and the client has received "try again". A
/// change that commits afterwards would surprise the client: its old password would be wrong and its sessions ended.
final class RequestCancellation: Sendable {
    private let isGivenUp = Atomic<Bool>(false)

    /// The error that refuses all further writes; nil while the request is active. May be read on any thread. Transactions read
    /// it too, because a change may have waited long for its transaction.
    var refusal: ServiceError? { isGivenUp.load(ordering: .relaxed) ? .overloaded : nil }

    /// Runs `body` with the cancellation state of the current task.
    static func watched<Value: Sendable>(
        _ body: (RequestCancellation) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let abandonment = RequestCancellation()
        let outcome = await withTaskCancellationHandler { () async -> Result<Value, ServiceError> in
            do throws(ServiceError) { return .success(try await body(abandonment)) } catch { return .failure(error) }
        } onCancel: {
            abandonment.isGivenUp.store(true, ordering: .relaxed)
        }
        return try outcome.get()
    }
}
