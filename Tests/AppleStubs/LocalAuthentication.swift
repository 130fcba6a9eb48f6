// Stands in for `LocalAuthentication`, so that the compiler checks the gate for Apple platforms here. It declares what that code
// uses, and does nothing. A context is not `Sendable`, as in the oldest of the SDKs.
@_exported import Foundation

public enum LAPolicy: Int, Sendable { case deviceOwnerAuthenticationWithBiometrics = 1, deviceOwnerAuthentication = 2 }

public class LAContext: NSObject {
    public var localizedFallbackTitle: String?
    public var interactionNotAllowed = false
    public func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool { false }
    public func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {}
    public func invalidate() {}
}
