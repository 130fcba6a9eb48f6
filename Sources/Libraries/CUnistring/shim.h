#pragma once
/* libunistring: the properties of Unicode that the standard library of Swift does not have. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>

/* `toLowerCase` of the Unicode Standard (section 3.13, rule R2), then form C. The forms are constants that Swift does not import.
   Returns memory for `free`, and NULL when there is none. */
static inline uint32_t *CUnistring_lowercased(const uint32_t *text, size_t count, size_t *result_count) {
    return u32_tolower(text, count, NULL, UNINORM_NFC, NULL, result_count);
}

/* Form C of a text, as above. */
static inline uint32_t *CUnistring_composed(const uint32_t *text, size_t count, size_t *result_count) {
    return u32_normalize(UNINORM_NFC, text, count, NULL, result_count);
}

/* Whether form KC of a code point is another text (RFC 8264 section 9.17, HasCompat). */
static inline bool CUnistring_has_compatibility_mapping(uint32_t scalar) {
    uint32_t buffer[UC_DECOMPOSITION_MAX_LENGTH];
    size_t count = UC_DECOMPOSITION_MAX_LENGTH;
    uint32_t *result = u32_normalize(UNINORM_NFKC, &scalar, 1, buffer, &count);
    bool differs = result == NULL || count != 1 || result[0] != scalar;
    if (result != buffer) free(result);
    return differs;
}

/* The code point to which a wide or narrow one is mapped (RFC 8264 section 5.2.1); any other one is returned as it is. */
static inline uint32_t CUnistring_width_mapped(uint32_t scalar) {
    ucs4_t buffer[UC_DECOMPOSITION_MAX_LENGTH];
    int tag;
    int count = uc_decomposition(scalar, &tag, buffer);
    return count == 1 && (tag == UC_DECOMP_WIDE || tag == UC_DECOMP_NARROW) ? buffer[0] : scalar;
}

/* Whether a code point is of the script with that name. */
static inline bool CUnistring_is_of_script(uint32_t scalar, const char *name) {
    const uc_script_t *script = uc_script(scalar);
    return script != NULL && strcmp(script->name, name) == 0;
}
