import Sockets
import Testing

/// Which addresses lead to the public internet.
struct PublicAddressTests {
    @Test(
        "loopback, private, shared, link-local, multicast and unspecified addresses are not public, nor forms of others",
        arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.0.1", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.192",
            "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
            "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "168.63.129.16",
            "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::7f00:1",
            "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:db8::1",
            "2002:7f00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "febf::1",
            "fec0::1", "ff02::1", "ffff::1",
        ])
    func special(_ host: String) throws {
        #expect(try !#require(SocketAddress(host: host, port: 443)).isPublic)
    }

    @Test(
        "the neighbours of special ranges are public",
        arguments: [
            "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.15", "168.63.129.17",
            "2000::1", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "3ffe::1",
        ])
    func neighbours(_ host: String) throws {
        #expect(try #require(SocketAddress(host: host, port: 443)).isPublic)
    }

    @Test("a Unix socket is not public") func unix() { #expect(!SocketAddress.unix(path: "/run/a").isPublic) }

    @Test("the machine knows its own addresses, without ports") func own() throws {
        let own = SocketAddress.ofThisMachine
        #expect(own.contains(try #require(SocketAddress(host: "127.0.0.1", port: 0))))
        #expect(own.allSatisfy { $0.port == 0 })
        #expect(SocketAddress.ipv4(bytes: [192, 0, 2, 1], port: 9).withoutPort.port == 0)
    }
}
