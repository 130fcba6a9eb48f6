// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shop",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [.package(path: "../sojourn")],
    targets: [
        .executableTarget(name: "shop", dependencies: [.product(name: "SojournClient", package: "sojourn")])
    ])
