internal import Foundation

#if canImport(UIKit)
    internal import UIKit
#endif

/// Asks the system not to suspend the process while a request is under way. Elsewhere than on iOS, iPadOS, tvOS, watchOS and
/// visionOS it does nothing, because those alone suspend processes.
final class BackgroundTime: Sendable {
    #if canImport(UIKit)
        private let activity = DispatchGroup()
        private let isEnded = LockedState(false)

        /// Begins. `onExpiry` is called when the system suspends the process soon, or refuses at once.
        init(onExpiry: @escaping @Sendable () -> Void) {
            activity.enter()
            ProcessInfo.processInfo.performExpiringActivity(withReason: "renewing the session") {
                [activity] isExpired in
                // The activity lasts as long as this call, which is made on a thread of its own.
                if isExpired { onExpiry() } else { activity.wait() }
            }
        }

        /// Ends. It can be called several times.
        func end() {
            let isFirst = isEnded.withLock { isEnded in
                defer { isEnded = true }
                return !isEnded
            }
            if isFirst { activity.leave() }
        }
    #else
        init(onExpiry: @escaping @Sendable () -> Void) {}
        func end() {}
    #endif
}
