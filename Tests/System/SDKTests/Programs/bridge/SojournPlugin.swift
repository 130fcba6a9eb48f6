import Flutter
import Foundation
import SojournClient

/// Flutter's end on Apple platforms: made in `application(_:didFinishLaunchingWithOptions:)`.
@MainActor
final class SojournPlugin {
    private let channel: FlutterMethodChannel
    private let bridge: SojournBridge

    init(_ sojourn: Sojourn, messenger: any FlutterBinaryMessenger, openPage: @escaping (URL) -> Void) {
        let channel = FlutterMethodChannel(name: "sojourn", binaryMessenger: messenger)
        let bridge = SojournBridge(sojourn, openPage: openPage) { channel.invokeMethod("state", arguments: $0) }
        self.channel = channel
        self.bridge = bridge
        channel.setMethodCallHandler { call, result in
            let words = call.arguments as? [String: Any] ?? [:]
            Task { result(await bridge.call(call.method, words)) }
        }
    }
}
