// Stands in for `UIKit` and the part of `Foundation` that only its platforms have.
@_exported import Foundation

extension ProcessInfo {
    public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (_ expired: Bool) -> Void
    ) {}
}
