#pragma once
/* config/common-passwords.txt, as it was when the program was built: those of eight characters and more among the 30 000 passwords that
   were used most in what has leaked, lower-case, a line each, sorted by their bytes. The counting is zxcvbn's (MIT licence). */
#include <stddef.h>

const unsigned char *CCommonPasswords_list(void);
size_t CCommonPasswords_length(void);
