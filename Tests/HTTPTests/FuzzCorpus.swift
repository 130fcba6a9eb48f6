/// Inputs that the fuzzer came upon on its way through the code, the shortest for each piece of it. Each scalar is one byte.
enum FuzzCorpus {
    /// For the parser.
    static let requests: [String] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    ]

    /// For forms, paths, forwarding fields and the PROXY protocol.
    static let values: [String] = [
        "a=b&c=%00", "for=\"[::1]:80\";proto=https, for=_x", "PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\n",
        "PROXY UNKNOWN\r\n", "\r\n\r\n\0\r\nQUIT\n\u{21}\u{11}\0\u{0C}abcdefghijkl",
    ]
}
