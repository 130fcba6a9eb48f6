#pragma once
/* libcurl, loaded at the server's first request of its own, because a server without identity providers and webhooks does
   not need it and the libraries that it loads. Its header declares the functions, so that the compiler checks calls as if
   they were linked. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

#define CCURL_FUNCTIONS(F)                                                                                              \
    F(curl_easy_cleanup) F(curl_easy_getinfo) F(curl_easy_init) F(curl_easy_perform) F(curl_easy_reset)                 \
    F(curl_easy_setopt) F(curl_free) F(curl_global_init) F(curl_slist_append) F(curl_slist_free_all) F(curl_url)        \
    F(curl_url_cleanup) F(curl_url_get) F(curl_url_set)

#define CCURL_MEMBER(name) __typeof__(name) *name;
/* Sendable, because pointers to functions are valid on every thread. Swift cannot infer that for variadic functions. */
struct __attribute__((swift_attr("@Sendable"))) CCurl_library {
    CCURL_FUNCTIONS(CCURL_MEMBER)
};
#undef CCURL_MEMBER

/* Finds every function and prepares the library for all threads. Returns NULL on success, otherwise the reason of the
   failure. The library is never unloaded. */
static inline const char *CCurl_load(struct CCurl_library *library) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return dlerror();
#define CCURL_FIND(name)                                                                                                \
    library->name = (__typeof__(name) *)dlsym(handle, #name);                                                           \
    if (library->name == NULL) return dlerror();
    CCURL_FUNCTIONS(CCURL_FIND)
#undef CCURL_FIND
    return library->curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL : "it could not be prepared";
}

/* Wrappers for Swift, which cannot call the variadic curl_easy_setopt and curl_easy_getinfo. They decide nothing. */

static inline CURLcode CCurl_set_number(struct CCurl_library curl, CURL *handle, CURLoption option, long value) {
    return (curl.curl_easy_setopt)(handle, option, value);
}

/* The library copies the text, except for CURLOPT_POSTFIELDS, which must outlive the transfer. */
static inline CURLcode CCurl_set_text(struct CCurl_library curl, CURL *handle, CURLoption option, const char *value) {
    return (curl.curl_easy_setopt)(handle, option, value);
}

static inline CURLcode CCurl_set_pointer(struct CCurl_library curl, CURL *handle, CURLoption option, void *value) {
    return (curl.curl_easy_setopt)(handle, option, value);
}

typedef size_t (*CCurl_collect)(char *bytes, size_t size, size_t count, void *collector);

/* Sets the functions that get field lines and content; both get the same `collector`. */
static inline CURLcode CCurl_set_collector(
    struct CCurl_library curl, CURL *handle, CCurl_collect line, CCurl_collect content, void *collector) {
    CURLcode code = (curl.curl_easy_setopt)(handle, CURLOPT_HEADERFUNCTION, line);
    if (code == CURLE_OK) code = (curl.curl_easy_setopt)(handle, CURLOPT_HEADERDATA, collector);
    if (code == CURLE_OK) code = (curl.curl_easy_setopt)(handle, CURLOPT_WRITEFUNCTION, content);
    if (code == CURLE_OK) code = (curl.curl_easy_setopt)(handle, CURLOPT_WRITEDATA, collector);
    return code;
}

/* Sets the function that opens a socket for each address to which the library is about to connect. */
static inline CURLcode CCurl_set_opener(
    struct CCurl_library curl, CURL *handle, curl_opensocket_callback open, void *opener) {
    CURLcode code = (curl.curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, open);
    if (code == CURLE_OK) code = (curl.curl_easy_setopt)(handle, CURLOPT_OPENSOCKETDATA, opener);
    return code;
}

/* Sets the function that gives the content of an upload. */
static inline CURLcode CCurl_set_reader(
    struct CCurl_library curl, CURL *handle, CCurl_collect read, void *reader) {
    CURLcode code = (curl.curl_easy_setopt)(handle, CURLOPT_READFUNCTION, read);
    return code == CURLE_OK ? (curl.curl_easy_setopt)(handle, CURLOPT_READDATA, reader) : code;
}

/* Sets the function that sees each command before it is sent. */
static inline CURLcode CCurl_set_observer(
    struct CCurl_library curl, CURL *handle, curl_debug_callback observe, void *observer) {
    CURLcode code = (curl.curl_easy_setopt)(handle, CURLOPT_DEBUGFUNCTION, observe);
    if (code == CURLE_OK) code = (curl.curl_easy_setopt)(handle, CURLOPT_DEBUGDATA, observer);
    return code == CURLE_OK ? (curl.curl_easy_setopt)(handle, CURLOPT_VERBOSE, 1L) : code;
}

static inline CURLcode CCurl_status(struct CCurl_library curl, CURL *handle, long *status) {
    return (curl.curl_easy_getinfo)(handle, CURLINFO_RESPONSE_CODE, status);
}
