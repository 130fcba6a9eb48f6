#pragma once
/* config/common-passwords.txt at build time: of the 30 000 most frequent passwords in leaks, those of at least eight
   characters, lower-case, one per line, sorted by their bytes. The counts are zxcvbn's (MIT licence). */
#include <stddef.h>

const unsigned char *CCommonPasswords_list(void);
size_t CCommonPasswords_length(void);
