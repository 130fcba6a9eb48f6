/* In C, for the same reason as the document of COpenAPI. */
#include "CCommonPasswords.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char list[] = {
#embed "../../../config/common-passwords.txt"
};

const unsigned char *CCommonPasswords_list(void) { return list; }
size_t CCommonPasswords_length(void) { return sizeof list; }
