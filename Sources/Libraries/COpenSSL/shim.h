#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

// Wrappers for Swift, which cannot build OSSL_PARAM lists, because they point at C strings that must outlive the call.

/// Selects HMAC-SHA-256 for a MAC context, with any key. Returns 1 on success.
static inline int COpenSSL_HMAC_choose_SHA256(EVP_MAC_CTX *context) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(context, parameters);
}

/// HKDF-SHA-256, extract and expand (RFC 5869). Returns 1 on success.
static inline int COpenSSL_HKDF_SHA256(
    EVP_KDF_CTX *context, const unsigned char *key, size_t key_count, const unsigned char *salt, size_t salt_count,
    const unsigned char *info, size_t info_count, unsigned char *out, size_t count) {
    OSSL_PARAM parameters[5];
    int n = 0;
    parameters[n++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
    parameters[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count);
    if (salt_count > 0)
        parameters[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
    if (info_count > 0)
        parameters[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
    parameters[n++] = OSSL_PARAM_construct_end();
    return EVP_KDF_derive(context, out, count, parameters);
}

/// The one-step key derivation with SHA-256 (NIST SP 800-56C), which RFC 7518 section 4.6.2 calls Concat KDF. Returns 1 on success.
static inline int COpenSSL_SSKDF_SHA256(
    EVP_KDF_CTX *context, const unsigned char *secret, size_t secret_count, const unsigned char *info,
    size_t info_count, unsigned char *out, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_derive(context, out, count, parameters);
}

/// Creates a public key on the curve from an uncompressed point; returns NULL if the point is not on the curve.
static inline EVP_PKEY *COpenSSL_EC_public_key(const char *curve, const unsigned char *point, size_t count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1)
        (void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
    EVP_PKEY_CTX_free(context);
    return key;
}

/// Creates a public RSA key from its big-endian numbers; returns NULL if libcrypto finds it weak (a small factor, an even
/// number).
static inline EVP_PKEY *COpenSSL_RSA_public_key(
    const unsigned char *n, size_t n_count, const unsigned char *e, size_t e_count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL), *check = NULL;
    BIGNUM *modulus = BN_bin2bn(n, (int)n_count, NULL), *exponent = BN_bin2bn(e, (int)e_count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (builder != NULL && modulus != NULL && exponent != NULL &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    if (context != NULL && parameters != NULL && EVP_PKEY_fromdata_init(context) == 1)
        (void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
    if (key != NULL) {
        check = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
        if (check == NULL || EVP_PKEY_public_check(check) != 1) {
            EVP_PKEY_free(key);
            key = NULL;
        }
    }
    EVP_PKEY_CTX_free(check);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(modulus);
    BN_free(exponent);
    EVP_PKEY_CTX_free(context);
    return key;
}

/// Generates a P-256 key. It exists because EVP_PKEY_Q_keygen is variadic.
static inline EVP_PKEY *COpenSSL_P256_generate(void) { return EVP_EC_gen("P-256"); }

/// Generates an RSA key of 2048 bits. It exists because EVP_PKEY_Q_keygen is variadic.
static inline EVP_PKEY *COpenSSL_RSA_generate(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048); }

/// Generates an Ed25519 key. It exists because EVP_PKEY_Q_keygen is variadic.
static inline EVP_PKEY *COpenSSL_Ed25519_generate(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
