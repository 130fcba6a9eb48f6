import Foundation
import SojournClient

/// The settings of the app and of its extensions, in a file that all of them compile.
func sharedConfiguration(server: URL, isExtension: Bool) -> SojournConfiguration {
    var configuration = SojournConfiguration(server: server)
    configuration.clientID = "shop"
    configuration.keychainAccessGroup = "ABCDE12345.example.shop"
    configuration.deviceName = "Anna's phone"
    // A widget that only reads leaves renewals to the app. One that calls APIs on its own may renew: both are safe.
    configuration.mayRenew = !isExtension
    return configuration
}
