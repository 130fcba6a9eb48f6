#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// What Swift cannot say: curl_easy_setopt and curl_easy_getinfo are variadic. Nothing here decides anything.

static inline CURLcode CCurl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

/// The library copies the text, but for CURLOPT_POSTFIELDS, which must outlive the transfer.
static inline CURLcode CCurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*CCurl_take)(char *bytes, size_t size, size_t count, void *taker);

/// Both the field lines and the content go to functions with the same `taker`.
static inline CURLcode CCurl_set_takers(CURL *handle, CCurl_take line, CCurl_take content, void *taker) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, line);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, taker);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, content);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, taker);
    return code;
}

static inline CURLcode CCurl_status(CURL *handle, long *status) {
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}

/// Prepares the library for all threads. Zero on success; safe to call once only before 7.84.
static inline CURLcode CCurl_prepare(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
