internal import CCurl

extension EasyHandle {
    /// Hands a mail to the relay.
    func perform(
        _ message: SMTPMessage, within limit: Duration, _ options: SMTPClient.Options
    ) throws(OutboundError) -> SMTPReport {
        unsafe curl.curl_easy_reset(handle)
        try refuseSurprises(protocols: CURLPROTO_SMTP | CURLPROTO_SMTPS)
        try set(CURLOPT_URL, options.relay.text(helo: options.helo))
        try set(CURLOPT_TIMEOUT_MS, limit.timeout)
        try set(CURLOPT_CONNECTTIMEOUT_MS, min(limit, options.connectDeadline).timeout)
        // The time for one reply is two minutes otherwise; a relay may think for longer about a content (RFC 5321 section 4.5.3.2.6).
        try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, limit.timeout / 1000))
        try set(CURLOPT_USE_SSL, Int((options.demandsTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue))
        try trust(options.authorities)
        if let credentials = options.credentials {
            try set(CURLOPT_USERNAME, credentials.user)
            try set(CURLOPT_PASSWORD, credentials.password)
            try set(CURLOPT_SASL_IR, 1)
            if let mechanism = options.mechanism { try set(CURLOPT_LOGIN_OPTIONS, "AUTH=\(mechanism)") }
        }
        try set(CURLOPT_MAIL_FROM, message.sender)
        let recipients = unsafe curl.curl_slist_append(nil, message.recipient)
        defer { unsafe curl.curl_slist_free_all(recipients) }
        try check(unsafe CCurl_set_pointer(curl, handle, CURLOPT_MAIL_RCPT, recipients))
        try set(CURLOPT_UPLOAD, 1)
        try set(CURLOPT_INFILESIZE, message.content.count)

        let conversation = SMTPConversation(message, options)
        let pointer = unsafe Unmanaged.passUnretained(conversation).toOpaque()
        try check(
            unsafe CCurl_set_collector(
                curl, handle, SMTPConversation.collectLine, SMTPConversation.collectLine, pointer))
        try check(unsafe CCurl_set_reader(curl, handle, SMTPConversation.giveContent, pointer))
        try check(unsafe CCurl_set_observer(curl, handle, SMTPConversation.observe, pointer))
        return withExtendedLifetime(conversation) {
            conversation.report(unsafe curl.curl_easy_perform(handle))
        }
    }
}
