#if canImport(BackgroundTasks)
    import BackgroundTasks
    import Foundation
    import SojournClient

    /// Renews a few times a week without the user, so that the two weeks never run out on a phone that is in use.
    final class BackgroundRefresh: Sendable {
        static let identifier = "example.shop.renew"
        private let sojourn: Sojourn

        init(_ sojourn: Sojourn) { self.sojourn = sojourn }

        /// To be called before the app has finished launching. The identifier stands in `Info.plist` under
        /// `BGTaskSchedulerPermittedIdentifiers`.
        func register() {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: nil) { [self] task in
                schedule()
                let renewal = Task {
                    let isRenewed = (try? await sojourn.accessToken(.fresh)) != nil
                    task.setTaskCompleted(success: isRenewed)
                }
                // The renewal itself goes on or is dropped by the SDK; only the waiting ends.
                task.expirationHandler = { renewal.cancel() }
            }
        }

        /// To be called when the app goes to the background.
        func schedule() {
            let request = BGAppRefreshTaskRequest(identifier: Self.identifier)
            request.earliestBeginDate = Date(timeIntervalSinceNow: 2 * 86_400)
            try? BGTaskScheduler.shared.submit(request)
        }
    }
#endif
