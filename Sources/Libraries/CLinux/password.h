#pragma once
/* libcrypt, which every Debian has next to the C library: the hashes of /etc/shadow, including bcrypt. */
#include <crypt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Hashes a phrase with a setting, both ended with a NUL, into CRYPT_OUTPUT_SIZE bytes. Returns 1 on success, 0 for an
   invalid setting, -1 without memory. It exists because Swift does not import struct crypt_data, which has 32 KiB. */
static inline int CLinux_crypt(const char *phrase, const char *setting, char *output) {
    struct crypt_data *data = calloc(1, sizeof *data);
    if (data == NULL) return -1;
    errno = 0;
    const char *hash = crypt_rn(phrase, setting, data, sizeof *data);
    int result = hash != NULL ? 1 : errno == ENOMEM ? -1 : 0;
    if (result == 1) memcpy(output, data->output, CRYPT_OUTPUT_SIZE);
    explicit_bzero(data, sizeof *data);
    free(data);
    return result;
}
