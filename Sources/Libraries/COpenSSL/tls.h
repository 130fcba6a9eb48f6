#pragma once
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

// The parts of libssl that Swift cannot use: macros, and the methods of a BIO. They decide only what a BIO has to decide.

/// The post-handshake messages (key updates, refused renegotiations) that may come between two pieces of application
/// data. An honest client sends none or one; each costs a key derivation or an alert.
#define COpenSSL_POST_HANDSHAKE_MAX 32

/// The state of a session's BIO.
struct COpenSSL_Stream {
    int descriptor;
    /// 1 if the last read emptied the socket. The kernel will report new bytes, so another read would find none.
    int is_drained;
    /// 1 if the other side sends no more.
    int has_ended;
    /// The post-handshake messages since the last application data.
    int post_handshake_count;
};

static inline int COpenSSL_stream_read(BIO *bio, char *buffer, int count) {
    struct COpenSSL_Stream *stream = (struct COpenSSL_Stream *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (stream->post_handshake_count > COpenSSL_POST_HANDSHAKE_MAX) return -1;
    if (stream->is_drained) {
        BIO_set_retry_read(bio);
        return -1;
    }
    while (1) {
        ssize_t result = recv(stream->descriptor, buffer, (size_t)count, 0);
        if (result > 0) {
            stream->is_drained = result < count;
            return (int)result;
        }
        if (result == 0) {
            stream->has_ended = 1;
            return 0;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN) {
            stream->is_drained = 1;
            BIO_set_retry_read(bio);
        }
        return -1;
    }
}

static inline int COpenSSL_stream_write(BIO *bio, const char *buffer, int count) {
    struct COpenSSL_Stream *stream = (struct COpenSSL_Stream *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    while (1) {
        // OpenSSL's own socket BIO would raise SIGPIPE.
        ssize_t result = send(stream->descriptor, buffer, (size_t)count, MSG_NOSIGNAL);
        if (result >= 0) return (int)result;
        if (errno == EINTR) continue;
        if (errno == EAGAIN) BIO_set_retry_write(bio);
        return -1;
    }
}

static inline long COpenSSL_stream_control(BIO *bio, int command, long number, void *pointer) {
    struct COpenSSL_Stream *stream = (struct COpenSSL_Stream *)BIO_get_data(bio);
    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return stream->has_ended;
    return 0;
}

/// Creates the methods of the BIO. They are created once and kept.
static inline BIO_METHOD *COpenSSL_stream_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream socket");
    if (method == NULL) return NULL;
    BIO_meth_set_read(method, COpenSSL_stream_read);
    BIO_meth_set_write(method, COpenSSL_stream_write);
    BIO_meth_set_ctrl(method, COpenSSL_stream_control);
    return method;
}

/// Creates a server session on a stream, which must outlive it. Returns NULL if memory is exhausted.
static inline SSL *COpenSSL_session(SSL_CTX *context, const BIO_METHOD *method, struct COpenSSL_Stream *stream) {
    SSL *session = SSL_new(context);
    BIO *bio = BIO_new(method);
    if (session == NULL || bio == NULL) {
        SSL_free(session);
        BIO_free(bio);
        return NULL;
    }
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    SSL_set_bio(session, bio, bio);
    SSL_set_accept_state(session);
    return session;
}

/// Counts the messages with which a client could flood the server; see COpenSSL_POST_HANDSHAKE_MAX.
static inline void COpenSSL_watch_message(
    int is_written, int version, int type, const void *bytes, size_t count, SSL *session, void *argument) {
    (void)version;
    (void)argument;
    int is_key_update = !is_written && type == SSL3_RT_HANDSHAKE && count > 0
        && *(const unsigned char *)bytes == SSL3_MT_KEY_UPDATE;
    int is_alert = is_written && type == SSL3_RT_ALERT;
    // The state of the handshake cannot be used here, because libssl counts it as unfinished during a key update.
    if (is_key_update || is_alert)
        ((struct COpenSSL_Stream *)BIO_get_data(SSL_get_rbio(session)))->post_handshake_count++;
}

/// Applies the settings of every server context that libssl has as macros. Returns 1 on success.
static inline int COpenSSL_prepare(SSL_CTX *context) {
    SSL_CTX_clear_options(context, SSL_CTX_get_options(context));
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE
            | SSL_OP_PRIORITIZE_CHACHA | SSL_OP_ENABLE_MIDDLEBOX_COMPAT | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
            | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_msg_callback(context, COpenSSL_watch_message);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 && SSL_CTX_set_max_proto_version(context, 0) == 1;
}

/// Sets the groups of the key exchange, in order of preference. Returns 1 on success.
static inline int COpenSSL_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}

/// Adds an intermediate certificate and takes over its reference. Returns 1 on success.
static inline int COpenSSL_add_intermediate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

/// Disables resumption by tickets.
static inline void COpenSSL_forbid_tickets(SSL_CTX *context) { SSL_CTX_set_options(context, SSL_OP_NO_TICKET); }

/// Sets the callback for every ticket that is issued or presented. COpenSSL_owner returns `owner` to the callback.
static inline void COpenSSL_set_tickets(
    SSL_CTX *context, void *owner,
    int (*callback)(SSL *, unsigned char *, unsigned char *, EVP_CIPHER_CTX *, EVP_MAC_CTX *, int)) {
    SSL_CTX_set_app_data(context, owner);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, callback);
}

/// Returns the owner that COpenSSL_set_tickets stored.
static inline void *COpenSSL_owner(SSL *session) { return SSL_CTX_get_app_data(SSL_get_SSL_CTX(session)); }

/// Sets the key of a MAC context for the HMAC of a ticket. Returns 1 on success.
static inline int COpenSSL_key_ticket_mac(EVP_MAC_CTX *context, unsigned char *key, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, count),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(context, parameters);
}

/// A password callback that returns no password, so that OpenSSL never asks on a terminal.
static inline int COpenSSL_no_password(char *buffer, int count, int is_written, void *argument) {
    (void)buffer;
    (void)count;
    (void)is_written;
    (void)argument;
    return -1;
}

/// Returns the reason of the oldest error of this thread, or NULL without an error, and empties the queue.
static inline const char *COpenSSL_take_error(void) {
    unsigned long code = ERR_get_error();
    ERR_clear_error();
    return code == 0 ? NULL : ERR_reason_error_string(code);
}

/// Returns 1 if the last error of this thread is that there is nothing in PEM.
static inline int COpenSSL_found_no_PEM(void) {
    unsigned long code = ERR_peek_last_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

/// Converts a time to seconds since 1970; returns -1 if it is invalid.
static inline long long COpenSSL_seconds(const ASN1_TIME *time) {
    struct tm parts;
    return ASN1_TIME_to_tm(time, &parts) == 1 ? (long long)timegm(&parts) : -1;
}

/// Writes the subject in the form of RFC 2253.
static inline void COpenSSL_write_subject(X509 *certificate, BIO *out) {
    X509_NAME_print_ex(out, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

/// Writes the alternative names, one per line.
static inline void COpenSSL_write_names(X509 *certificate, BIO *out) {
    GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        GENERAL_NAME_print(out, sk_GENERAL_NAME_value(names, i));
        BIO_write(out, "\n", 1);
    }
    GENERAL_NAMES_free(names);
}

/// Returns the contents of a memory BIO, which are valid as long as the BIO.
static inline long COpenSSL_contents(BIO *bio, char **start) { return BIO_get_mem_data(bio, start); }
