// The part of BackgroundTasks that the recipe of the manual uses.
import Foundation

open class BGTask: @unchecked Sendable {
    open var expirationHandler: (() -> Void)?
    open func setTaskCompleted(success: Bool) {}
}

open class BGTaskRequest {
    /// The identifier.
    public let identifier: String
    open var earliestBeginDate: Date?
    init(_ identifier: String) { self.identifier = identifier }
}

open class BGAppRefreshTaskRequest: BGTaskRequest {
    /// A request.
    public init(identifier: String) { super.init(identifier) }
}

open class BGTaskScheduler: @unchecked Sendable {
    open class var shared: BGTaskScheduler { BGTaskScheduler() }
    @discardableResult
    open func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping @Sendable (BGTask) -> Void
    ) -> Bool { true }
    open func submit(_ request: BGTaskRequest) throws {}
}
