internal import Synchronization

/// Whether nobody waits any more for what a task does: its answer took too long, and whoever asked was told to try again. They must
/// not find then that it was done after all, the old password wrong and their sessions ended.
final class RequestCancellation: Sendable {
    private let isGivenUp = Atomic<Bool>(false)

    /// Why nothing is to be written any more; nil: somebody waits. To be asked on any thread, in the transaction as well, for
    /// which a change may have waited long.
    var refusal: ServiceError? { isGivenUp.load(ordering: .relaxed) ? .overloaded : nil }

    /// Runs `body`, which can ask for how it stands.
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
