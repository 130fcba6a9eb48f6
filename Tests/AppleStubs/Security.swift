// Stands in for `Security` and the part of `CoreFoundation` and `Foundation` that Linux does not have, so that the compiler
// checks the Keychain's code here. It declares what that code uses, and does nothing.
@_exported import Foundation

public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public let kSecClass: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrAccessGroup: CFString = ""
public let kSecAttrGeneric: CFString = ""
public let kSecAttrSynchronizable: CFString = ""
public let kSecAttrAccessible: CFString = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = ""
public let kSecAttrAccessControl: CFString = ""
public let kSecUseAuthenticationContext: CFString = ""
public let kSecUseDataProtectionKeychain: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitOne: CFString = ""
public let kSecReturnAttributes: CFString = ""
public let kSecReturnData: CFString = ""
public let kSecValueData: CFString = ""

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }

public final class SecAccessControl {}
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
}
public final class CFError {}
public final class CFAllocator {}
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: Any, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { nil }

public final class CFNotificationCenter {}
public struct CFNotificationName: Sendable { public init(_ rawValue: CFString) {} }
public enum CFNotificationSuspensionBehavior: Int, Sendable { case deliverImmediately = 4 }
public typealias CFNotificationCallback = (
    CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?, CFDictionary?
) -> Void
public func CFNotificationCenterGetDarwinNotifyCenter() -> CFNotificationCenter? { nil }
public func CFNotificationCenterAddObserver(
    _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?, _ callBack: CFNotificationCallback?,
    _ name: CFString?, _ object: UnsafeRawPointer?, _ suspensionBehavior: CFNotificationSuspensionBehavior
) {}
public func CFNotificationCenterRemoveObserver(
    _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?, _ name: CFNotificationName?,
    _ object: UnsafeRawPointer?
) {}
public func CFNotificationCenterPostNotification(
    _ center: CFNotificationCenter?, _ name: CFNotificationName?, _ object: UnsafeRawPointer?,
    _ userInfo: CFDictionary?, _ deliverImmediately: Bool
) {}

extension NotificationCenter {
    public final class Notifications: AsyncSequence {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { nil }
        }
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
        Notifications()
    }
}
