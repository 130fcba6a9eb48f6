internal import CCurl
internal import HTTP

/// One easy handle of libcurl: one request at a time, on one thread at a time.
@safe final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    let curl: CCurl_library

    init?() {
        guard let curl = Library.shared.functions, let handle = curl.curl_easy_init() else { return nil }
        self.curl = curl
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe curl.curl_easy_cleanup(handle) }

    /// Sends `request` and reads its response.
    func perform(
        _ request: OutboundRequest, within limit: Duration, _ options: HTTPClient.Options
    ) throws(OutboundError) -> OutboundResponse {
        // A reset drops the settings and keeps the connections.
        unsafe curl.curl_easy_reset(handle)
        try refuseSurprises(protocols: CURLPROTO_HTTP | CURLPROTO_HTTPS)
        try set(CURLOPT_URL, request.url.description)
        try set(CURLOPT_USERAGENT, options.userAgent)
        try set(CURLOPT_TIMEOUT_MS, limit.timeout)
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(limit, options.connectDeadline).timeout)
        try trust(request.authorities)
        try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        if request.method == .head { try set(CURLOPT_NOBODY, 1) }

        let contentMax = request.contentMax ?? options.contentMax
        // libcurl checks the announced length; the response collector counts the bytes that arrive.
        try set(CURLOPT_MAXFILESIZE, max(1, contentMax))
        let collector = ResponseCollector(contentMax: contentMax, fieldsMax: options.fieldsMax)
        let lines = unsafe lines(request.fields)
        defer { unsafe curl.curl_slist_free_all(lines) }
        try check(unsafe CCurl_set_pointer(curl, handle, CURLOPT_HTTPHEADER, lines))
        let opener = SocketOpener(options.destinations)
        if options.destinations != .anywhere {
            let pointer = unsafe Unmanaged.passUnretained(opener).toOpaque()
            try check(unsafe CCurl_set_opener(curl, handle, SocketOpener.open, pointer))
        }
        let collectorPointer = unsafe Unmanaged.passUnretained(collector).toOpaque()
        try check(
            unsafe CCurl_set_collector(
                curl, handle, ResponseCollector.collectLine, ResponseCollector.collectContent, collectorPointer))
        let code = withExtendedLifetime((collector, opener)) { transfer(request.body) }
        if opener.hasRefused, code == CURLE_COULDNT_CONNECT { throw .forbidden }
        return try collector.answer(code, status: status)
    }

    /// Switches off everything that libcurl would do by itself.
    func refuseSurprises(protocols: Int32) throws(OutboundError) {
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_PROTOCOLS, protocols)
        try set(CURLOPT_REDIR_PROTOCOLS, 0)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try set(CURLOPT_MAXCONNECTS, 2)
        try set(CURLOPT_MAXAGE_CONN, 60)
    }

    /// Verifies the other side by the certificates of the file `authorities`; nil: by the system's.
    func trust(_ authorities: String?) throws(OutboundError) {
        guard let authorities else { return }
        try set(CURLOPT_CAINFO, authorities)
        try check(unsafe CCurl_set_text(curl, handle, CURLOPT_CAPATH, nil))
    }

    private func transfer(_ body: [UInt8]) -> CURLcode {
        unsafe body.withUnsafeBytes { body in
            if unsafe !body.isEmpty {
                let start = unsafe UnsafeMutableRawPointer(mutating: body.baseAddress)
                guard unsafe CCurl_set_number(curl, handle, CURLOPT_POSTFIELDSIZE, body.count) == CURLE_OK,
                    unsafe CCurl_set_pointer(curl, handle, CURLOPT_POSTFIELDS, start) == CURLE_OK
                else { return CURLE_FAILED_INIT }
            }
            return unsafe curl.curl_easy_perform(handle)
        }
    }

    private var status: Int {
        var status = 0
        return unsafe CCurl_status(curl, handle, &status) == CURLE_OK ? status : 0
    }

    /// Returns the field lines in libcurl's form. A name with a colon and no value removes a field that libcurl would
    /// add.
    private func lines(_ fields: Fields) -> UnsafeMutablePointer<curl_slist>? {
        var lines = unsafe curl.curl_slist_append(nil, "Expect:")
        if !fields.contains("content-type") { unsafe lines = unsafe curl.curl_slist_append(lines, "Content-Type:") }
        // libcurl omits a field without a value, unless it ends in a semicolon.
        for (name, value) in fields {
            unsafe lines = unsafe curl.curl_slist_append(lines, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        return unsafe lines
    }

    func set(_ option: CURLoption, _ value: Int) throws(OutboundError) {
        try check(unsafe CCurl_set_number(curl, handle, option, value))
    }

    func set(_ option: CURLoption, _ value: Int32) throws(OutboundError) { try set(option, Int(value)) }

    func set(_ option: CURLoption, _ value: String) throws(OutboundError) {
        try check(unsafe CCurl_set_text(curl, handle, option, value))
    }

    /// Throws `failed` if libcurl refuses a setting, because the setting would not hold.
    func check(_ code: CURLcode) throws(OutboundError) { if code != CURLE_OK { throw .failed } }
}

extension Duration {
    /// The duration in milliseconds, at least 1, because 0 means no limit to libcurl.
    var timeout: Int {
        let (seconds, attoseconds) = min(max(self, .milliseconds(1)), .seconds(3600)).components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
