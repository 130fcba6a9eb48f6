// Stands in for the part of Flutter's engine for Apple platforms that the bridge of the manual uses.
import Foundation

public protocol FlutterBinaryMessenger {}

public struct FlutterMethodCall {
    public var method: String
    public var arguments: Any?
}

public typealias FlutterResult = (Any?) -> Void

public final class FlutterMethodChannel {
    public init(name: String, binaryMessenger: any FlutterBinaryMessenger) {}

    public func setMethodCallHandler(_ handler: ((FlutterMethodCall, @escaping FlutterResult) -> Void)?) {}

    public func invokeMethod(_ method: String, arguments: Any?) {}
}
