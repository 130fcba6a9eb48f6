/* In C, because Swift takes a minute to compile an array of so many bytes, and C takes none. */
#include "CCommonPasswords.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char list[] = {
#embed "../../../config/common-passwords.txt"
};

const unsigned char *CCommonPasswords_list(void) { return list; }
size_t CCommonPasswords_length(void) { return sizeof list; }
